package nn

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// doubles is a random tensor of float64.
func doubles(seed uint64, dims ...int) *tensors.Tensor {
	rng := generator(seed)
	data := make([]float64, shapeSize(dims))
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	return tensors.FromFlatDataAndDimensions(data, dims...)
}

// execute64 runs a graph of float64 once on the engine.
func execute64(t testing.TB, f func(in []*Node) []*Node, in ...*tensors.Tensor) [][]float64 {
	t.Helper()
	e, err := openEngine()
	if err != nil {
		t.Fatal(err)
	}
	args := make([]any, len(in))
	for i := range in {
		args[i] = in[i]
	}
	out, err := CallOnceN(e.Backend(), f, args...)
	if err != nil {
		t.Fatal(err)
	}
	flat := make([][]float64, len(out))
	for i, o := range out {
		if err := tensors.ConstFlatData(o, func(data []float64) { flat[i] = append(flat[i], data...) }); err != nil {
			t.Fatal(err)
		}
	}
	return flat
}

// A convolution and its gradients written as the sums that define them.
func TestAConvolutionAndItsGradientsAreTheSumsOfTheirDefinition(t *testing.T) {
	cases := []convCase{
		{3, 13, 12, 5, 4, 3, Conv2D{Pad: 1}, true},
		{2, 24, 25, 3, 4, 5, Conv2D{Pad: 2}, true}, // a border of 2
		{1, 13, 12, 5, 4, 3, Conv2D{Pad: 1}, true}, // the input layer
		{4, 4, 5, 6, 3, 3, Conv2D{Pad: 1}, true},   // a small image
		{4, 8, 8, 6, 3, 3, Conv2D{Stride: 2, Pad: 1}, false},
		{4, 9, 7, 6, 3, 3, Conv2D{Stride: 2, Pad: 1}, true}, // odd sides
		{4, 8, 9, 3, 3, 1, Conv2D{Stride: 2}, false},        // last row unseen
		{4, 8, 9, 3, 3, 1, Conv2D{}, true},
		{2, 11, 11, 2, 3, 4, Conv2D{Stride: 3, Pad: 2}, true}, // a kernel of even size
		{2, 9, 9, 2, 3, 2, Conv2D{Stride: 4}, true},           // gaps between windows
		{2, 6, 7, 2, 3, 3, Conv2D{}, true},                    // no border
	}
	for _, c := range cases {
		for _, last := range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v, channels last %v", c, last), func(t *testing.T) { c.check(t, last) })
		}
	}
}

type convCase struct {
	c, h, w, n, out, k int
	conv               Conv2D
	bias               bool
}

// sides are those of the output.
func (c convCase) sides() (oh, ow int) {
	s := max(1, c.conv.Stride)
	return (c.h+2*c.conv.Pad-c.k)/s + 1, (c.w+2*c.conv.Pad-c.k)/s + 1
}

func (c convCase) check(t *testing.T, last bool) {
	oh, ow := c.sides()
	in := []*tensors.Tensor{doubles(1, c.c*c.h*c.w, c.n), doubles(2, c.out, c.c, c.k, c.k), doubles(3, c.out), doubles(4, c.out*oh*ow, c.n)}
	got := execute64(t, func(in []*Node) []*Node {
		tape := &Tape{}
		b := in[2]
		if !c.bias {
			b = nil
		}
		y := c.conv.Apply(tape, NewImage(tape, in[0], c.c, c.h, c.w).withLayout(tape, last), in[1], b).Join(tape)
		return append([]*Node{y}, tape.Backward(Adjoints{y: in[3]}, in[:3])...)
	}, in...)
	flat := make([][]float64, len(in))
	for i := range in {
		flat[i] = tensors.MustCopyFlatData[float64](in[i])
	}
	if !c.bias {
		clear(flat[2])
	}
	for i, want := range c.sums(flat[0], flat[1], flat[2], flat[3]) {
		checkClose(t, []string{"output", "dx", "dw", "db"}[i], got[i], want, 1e-12)
	}
}

// sums are the output and, for its adjoint v, the gradients.
func (c convCase) sums(x, kernel, bias, v []float64) [][]float64 {
	oh, ow := c.sides()
	y, dx, dw, db := make([]float64, len(v)), make([]float64, len(x)), make([]float64, len(kernel)), make([]float64, c.out)
	for at := range y {
		m, s, r, o := at%c.n, at/c.n%ow, at/c.n/ow%oh, at/c.n/ow/oh
		y[at] = bias[o]
		if c.bias {
			db[o] += v[at]
		}
		for tap := range c.c * c.k * c.k {
			j, i, a := tap%c.k, tap/c.k%c.k, tap/c.k/c.k
			row, column := r*max(1, c.conv.Stride)+i-c.conv.Pad, s*max(1, c.conv.Stride)+j-c.conv.Pad
			if row < 0 || row >= c.h || column < 0 || column >= c.w {
				continue
			}
			p, w := ((a*c.h+row)*c.w+column)*c.n+m, o*c.c*c.k*c.k+tap
			y[at] += kernel[w] * x[p]
			dx[p] += kernel[w] * v[at]
			dw[w] += v[at] * x[p]
		}
	}
	return [][]float64{y, dx, dw, db}
}

func TestPoolsAndTheirGradientsAreTheLibrarys(t *testing.T) {
	for _, c := range []struct{ h, w, size, stride int }{{6, 8, 2, 0}, {7, 9, 2, 0}, {8, 7, 3, 2}, {6, 6, 3, 3}, {5, 5, 1, 2}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			const ch, n = 3, 4
			p := Pool2D{Size: c.size, Stride: c.stride}
			s := c.stride
			if s == 0 {
				s = c.size
			}
			oh, ow := (c.h-c.size)/s+1, (c.w-c.size)/s+1
			got := execute64(t, func(in []*Node) []*Node {
				var all []*Node
				for _, mean := range []bool{false, true} {
					tape := &Tape{}
					m := NewImage(tape, in[0], ch, c.h, c.w)
					var y *Node
					x4 := Reshape(in[0], ch, c.h, c.w, n)
					x4 = TransposeAllAxes(x4, 3, 1, 2, 0)
					var plain *Node
					if mean {
						y = p.Mean(tape, m).Join(tape)
						plain = MeanPool(x4).Window(c.size).Strides(s).NoPadding().Done()
					} else {
						y = p.Max(tape, m).Join(tape)
						plain = MaxPool(x4).Window(c.size).Strides(s).NoPadding().Done()
					}
					plain = Reshape(TransposeAllAxes(plain, 3, 1, 2, 0), ch*oh*ow, n)
					all = append(all, y, tape.Backward(Adjoints{y: in[1]}, in[:1])[0], plain, Gradient(ReduceAllSum(Mul(plain, in[1])), in[0])[0])
				}
				return all
			}, doubles(1, ch*c.h*c.w, n), doubles(2, ch*oh*ow, n))
			for i, name := range []string{"max", "mean"} {
				checkClose(t, name, got[4*i], got[4*i+2], 1e-13)
				checkClose(t, name+": gradient", got[4*i+1], got[4*i+3], 1e-13)
			}
		})
	}
}

// torch 2.15.0: max_pool2d of a constant gives the whole gradient to the first
// pixel of the window.
func TestMaxPoolGivesTiesToTheFirst(t *testing.T) {
	x := tensors.FromFlatDataAndDimensions([]float64{1, 1, 0, 3, 1, 1, 3, 3}, 8, 1)
	v := tensors.FromFlatDataAndDimensions([]float64{5, 7}, 2, 1)
	got := execute64(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := Pool2D{Size: 2}.Max(tape, NewImage(tape, in[0], 1, 2, 4)).Join(tape)
		return []*Node{y, tape.Backward(Adjoints{y: in[1]}, in[:1])[0]}
	}, x, v)
	if fmt.Sprint(got) != "[[1 3] [5 0 0 7 0 0 0 0]]" {
		t.Errorf("output and gradient %v", got)
	}
}

// bnIn: x, gamma, beta, running mean, running variance, adjoint.
func bnIn(c, area, n int) []*tensors.Tensor {
	variance := make([]float64, c)
	for i := range variance {
		variance[i] = 0.5 + float64(i)
	}
	return []*tensors.Tensor{doubles(1, c*area, n), doubles(2, c), doubles(3, c), doubles(4, c), tensors.FromFlatDataAndDimensions(variance, c), doubles(5, c*area, n)}
}

// plainNorm is the formula of batch normalisation for the library to differentiate.
func plainNorm(in []*Node, c, h, w, n int, training bool) *Node {
	x := Reshape(in[0], c, h*w*n)
	column := func(b *Node) *Node { return BroadcastToShape(Reshape(b, c, 1), x.Shape()) }
	mean, variance := in[3], in[4]
	if training {
		mean = ReduceMean(x, 1)
		variance = ReduceMean(Square(Sub(x, column(mean))), 1)
	}
	y := Div(Sub(x, column(mean)), column(Sqrt(AddScalar(variance, 1e-5))))
	return Reshape(Add(Mul(y, column(in[1])), column(in[2])), c*h*w, n)
}

func TestBatchNormAndItsGradientsAreThoseOfItsFormula(t *testing.T) {
	const c, h, w, n = 3, 4, 5, 7
	for _, training := range []bool{true, false} {
		got := execute64(t, func(in []*Node) []*Node {
			tape := &Tape{Training: training}
			y := BatchNorm2D(tape, NewImage(tape, in[0], c, h, w), in[1], in[2], in[3], in[4], BatchNormEps).Join(tape)
			plain := plainNorm(in, c, h, w, n, training)
			out := append([]*Node{y}, tape.Backward(Adjoints{y: in[5]}, in[:3])...)
			return append(append(out, plain), Gradient(ReduceAllSum(Mul(plain, in[5])), in[:3]...)...)
		}, bnIn(c, h*w, n)...)
		for i, name := range []string{"output", "dx", "dgamma", "dbeta"} {
			checkClose(t, fmt.Sprintf("training %v: %s", training, name), got[i], got[4+i], 1e-12)
		}
	}
}

func TestBatchNormReportsMeanAndUnbiasedVariance(t *testing.T) {
	const c, area, n = 3, 6, 5
	in := bnIn(c, area, n)
	got := execute64(t, func(in []*Node) []*Node {
		tape := &Tape{Training: true}
		BatchNorm2D(tape, NewImage(tape, in[0], c, 2, 3), in[1], in[2], in[3], in[4], BatchNormEps)
		return []*Node{tape.Statistic(in[3]), tape.Statistic(in[4])}
	}, in...)
	x := tensors.MustCopyFlatData[float64](in[0])
	for i := range c {
		mean, square := 0.0, 0.0
		row := x[i*area*n : (i+1)*area*n]
		for _, v := range row {
			mean += v / (area * n)
		}
		for _, v := range row {
			square += (v - mean) * (v - mean)
		}
		if math.Abs(got[0][i]-mean) > 1e-14 || math.Abs(got[1][i]-square/(area*n-1)) > 1e-13 {
			t.Errorf("channel %d: mean %v and variance %v, want %v and %v", i, got[0][i], got[1][i], mean, square/(area*n-1))
		}
	}
}

func TestBatchNormInInferenceReportsNothing(t *testing.T) {
	execute64(t, func(in []*Node) []*Node {
		tape := &Tape{}
		m := BatchNorm2D(tape, NewImage(tape, in[0], 2, 2, 2), in[1], in[2], in[3], in[4], BatchNormEps)
		if tape.Statistic(in[3]) != nil || tape.Statistic(in[4]) != nil {
			t.Error("a statistic was reported")
		}
		return []*Node{m.X}
	}, bnIn(2, 4, 3)...)
}

func TestGlobalMeanIsTheMeanOfEachChannel(t *testing.T) {
	const c, h, w, n = 2, 3, 4, 5
	got := execute64(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := GlobalMean(tape, NewImage(tape, in[0], c, h, w)).Join(tape)
		plain := ReduceMean(Reshape(in[0], c, h*w, n), 1)
		return []*Node{y, plain, tape.Backward(Adjoints{y: in[1]}, in[:1])[0], Gradient(ReduceAllSum(Mul(plain, in[1])), in[0])[0]}
	}, doubles(1, c*h*w, n), doubles(2, c, n))
	checkClose(t, "output", got[0], got[1], 1e-14)
	checkClose(t, "gradient", got[2], got[3], 1e-14)
}
