package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// againstLibrary compares a layer of images and its hand-written gradients with
// the same layer written in the library's operations on [C, H, W, n] and the
// library's gradients.
func againstLibrary(t *testing.T, layer func(t *Tape, in []*Node) *Node, plain func(in []*Node) *Node, adjoint *tensors.Tensor, in ...*tensors.Tensor) {
	t.Helper()
	got := execute64(t, func(all []*Node) []*Node {
		in, v := all[:len(all)-1], all[len(all)-1]
		tape := &Tape{}
		y := layer(tape, in)
		out := append([]*Node{y}, tape.Backward(Adjoints{y: v}, in)...)
		z := plain(in)
		return append(append(out, z), Gradient(ReduceAllSum(Mul(z, v)), in...)...)
	}, append(in, adjoint)...)
	half := len(got) / 2
	for i := range half {
		what := "output"
		if i > 0 {
			what = "gradient of input " + string(rune('0'+i-1))
		}
		checkClose(t, what, got[i], got[half+i], 1e-12)
	}
}

func TestSiLUAndItsGradientAreTheLibrarys(t *testing.T) {
	againstLibrary(t,
		func(tape *Tape, in []*Node) *Node { return NewImage(tape, in[0], 3, 4, 4).SiLU(tape).Join(tape) },
		func(in []*Node) *Node { return Div(in[0], AddScalar(Exp(Neg(in[0])), 1)) },
		doubles(2, 48, 5), doubles(1, 48, 5))
}

func TestUpsamplingAndItsGradientAreThoseOfNearestPixels(t *testing.T) {
	const c, h, w, n = 2, 3, 4, 5
	againstLibrary(t,
		func(tape *Tape, in []*Node) *Node {
			return Upsample2(tape, NewImage(tape, in[0], c, h, w)).Join(tape)
		},
		func(in []*Node) *Node {
			x := BroadcastToDims(Reshape(in[0], c, h, 1, w, 1, n), c, h, 2, w, 2, n)
			return Reshape(x, c*4*h*w, n)
		},
		doubles(2, c*4*h*w, n), doubles(1, c*h*w, n))
}

func TestConcatPutsChannelsBehindEachOther(t *testing.T) {
	const h, w, n = 3, 4, 5
	againstLibrary(t,
		func(tape *Tape, in []*Node) *Node {
			return Concat(tape, NewImage(tape, in[0], 2, h, w), NewImage(tape, in[1], 3, h, w)).Join(tape)
		},
		func(in []*Node) *Node { return Concatenate([]*Node{in[0], in[1]}, 0) },
		doubles(3, 5*h*w, n), doubles(1, 2*h*w, n), doubles(2, 3*h*w, n))
}

func TestFeaturesPickRowsAndGiveTheirGradientBack(t *testing.T) {
	againstLibrary(t,
		func(tape *Tape, in []*Node) *Node { return Features(tape, in[0], 2, 5) },
		func(in []*Node) *Node { return Slice(in[0], AxisRange(2, 5)) },
		doubles(2, 3, 4), doubles(1, 7, 4))
}

func TestARecordsNumberReachesAllPixelsOfItsChannel(t *testing.T) {
	const c, h, w, n = 3, 2, 4, 5
	againstLibrary(t,
		func(tape *Tape, in []*Node) *Node {
			return NewImage(tape, in[0], c, h, w).AddPerRecord(tape, in[1]).Join(tape)
		},
		func(in []*Node) *Node {
			e := BroadcastToDims(Reshape(in[1], c, 1, n), c, h*w, n)
			return Add(in[0], Reshape(e, c*h*w, n))
		},
		doubles(3, c*h*w, n), doubles(1, c*h*w, n), doubles(2, c, n))
}

func TestGroupNormAndItsGradientsAreTheLibrarys(t *testing.T) {
	const c, groups, h, w, n = 6, 3, 4, 3, 5
	againstLibrary(t,
		func(tape *Tape, in []*Node) *Node {
			return GroupNorm(tape, NewImage(tape, in[0], c, h, w), groups, in[1], in[2], 1e-5).Join(tape)
		},
		func(in []*Node) *Node {
			x := Reshape(in[0], groups, c/groups*h*w, n)
			a := Sub(x, ReduceAndKeep(x, ReduceMean, 1))
			a = Div(a, Sqrt(AddScalar(ReduceAndKeep(Square(a), ReduceMean, 1), 1e-5)))
			whole := func(b *Node) *Node { return BroadcastToDims(Reshape(b, c, 1, 1), c, h*w, n) }
			return Reshape(Add(Mul(Reshape(a, c, h*w, n), whole(in[1])), whole(in[2])), c*h*w, n)
		},
		doubles(4, c*h*w, n), doubles(1, c*h*w, n), doubles(2, c), doubles(3, c))
}

// The null of a normalisation: what went in has no part in mean and variance.
func TestGroupNormGivesEveryGroupMeanZeroAndVarianceOne(t *testing.T) {
	const c, groups, area, n = 8, 2, 9, 3
	one, zero := make([]float64, c), make([]float64, c)
	for i := range one {
		one[i] = 1
	}
	x := doubles(1, c*area, n)
	y := execute64(t, func(in []*Node) []*Node {
		tape := &Tape{}
		in[0] = AddScalar(MulScalar(in[0], 30), 7)
		return []*Node{GroupNorm(tape, NewImage(tape, in[0], c, 3, 3), groups, in[1], in[2], 1e-9).Flat()}
	}, x, tensors.FromFlatDataAndDimensions(one, c), tensors.FromFlatDataAndDimensions(zero, c))[0]
	per := c / groups * area
	for g := range groups {
		for r := range n {
			var s, s2 float64
			for i := range per {
				v := y[(g*per+i)*n+r]
				s, s2 = s+v, s2+v*v
			}
			if m, v := s/float64(per), s2/float64(per); math.Abs(m) > 1e-12 || math.Abs(v-1) > 1e-9 {
				t.Errorf("group %d of record %d has mean %v and variance %v", g, r, m, v)
			}
		}
	}
}
