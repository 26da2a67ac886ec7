package nn

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// exampleLayers are layers whose parameters enter every record's own gradient:
// on x [d, n], with parameters p.
var exampleLayers = map[string]struct {
	features int
	params   [][]int
	build    func(t *Tape, x *Node, p []*Node) *Node
}{
	"dense": {5, [][]int{{3, 5}, {3}}, func(t *Tape, x *Node, p []*Node) *Node { return Dense(t, x, p[0], p[1]) }},
	"convolution, wide": {2 * 12 * 12, [][]int{{3, 2, 3, 3}, {3}}, func(t *Tape, x *Node, p []*Node) *Node {
		return Conv2D{Pad: 1}.Apply(t, NewImage(t, x, 2, 12, 12), p[0], p[1]).Join(t)
	}},
	"convolution with a stride": {2 * 7 * 7, [][]int{{4, 2, 3, 3}, {4}}, func(t *Tape, x *Node, p []*Node) *Node {
		return Conv2D{Stride: 2}.Apply(t, NewImage(t, x, 2, 7, 7), p[0], p[1]).Join(t)
	}},
	"convolution of many channels": {8 * 2 * 2, [][]int{{6, 8, 1, 1}}, func(t *Tape, x *Node, p []*Node) *Node {
		return Conv2D{}.Apply(t, NewImage(t, x, 8, 2, 2), p[0], nil).Join(t)
	}},
	"channels last": {2 * 6 * 6, [][]int{{3, 2, 3, 3}, {3}}, func(t *Tape, x *Node, p []*Node) *Node {
		return Conv2D{Pad: 1}.Apply(t, NewImage(t, x, 2, 6, 6).ChannelsLast(t), p[0], p[1]).Join(t)
	}},
	"bias": {3 * 2 * 2, [][]int{{3}}, func(t *Tape, x *Node, p []*Node) *Node {
		return NewImage(t, x, 3, 2, 2).AddBias(t, p[0]).Join(t)
	}},
	"group norm": {4 * 3 * 3, [][]int{{4}, {4}}, func(t *Tape, x *Node, p []*Node) *Node {
		return GroupNorm(t, NewImage(t, x, 4, 3, 3), 2, p[0], p[1], 1e-5).Join(t)
	}},
	"layer norm": {6, [][]int{{6}, {6}}, func(t *Tape, x *Node, p []*Node) *Node {
		return LayerNorm(t, x, p[0], p[1], LayerNormEps, x.Shape().Dimensions[1])
	}},
	"tokens, attention, a dense layer": {3, [][]int{{3, 4}, {3, 4}, {1, 4}, {4, 4}, {4}, {5, 4}, {5}}, func(t *Tape, x *Node, p []*Node) *Node {
		n := x.Shape().Dimensions[1]
		h := FeatureTokens(t, x, p[0], p[1], p[2])
		h = DenseTokens(t, h, p[3], p[4], n)
		h = Attention(t, h, h, h, nil, 2, n)
		return Token(t, DenseTokens(t, h, p[5], p[6], n), 3, n)
	}},
	"patches, places, attention with projections": {2 * 4 * 4, [][]int{{4, 8}, {4}, {5, 4}, {4, 4}, {4}, {4, 4}, {4, 4}, {4}, {4, 4}, {4}},
		func(t *Tape, x *Node, p []*Node) *Node {
			n := x.Shape().Dimensions[1]
			h := DenseTokens(t, Patches(t, x, 2, 4, 4, 2), p[0], p[1], n)
			h = PlaceTokens(t, h, p[2], n)
			return Token(t, MultiHead(t, h, h, p[3:], nil, 2, n), 4, n)
		}},
	"embedding": {2, [][]int{{3, 4}}, func(t *Tape, x *Node, p []*Node) *Node {
		codes := MaxScalar(MinScalar(Round(AddScalar(Slice(x, AxisRange(0, 1)), 1)), 2), 0)
		return Embedding(t, codes, p[0])
	}},
	// Of 5 tokens some have the same number, and no table is used up to its end.
	"embeddings of tokens, positions, a row": {5, [][]int{{4, 3}, {6, 3}, {3, 3}, {3, 3}, {3}}, func(t *Tape, x *Node, p []*Node) *Node {
		n := x.Shape().Dimensions[1]
		codes := MaxScalar(MinScalar(Round(AddScalar(x, 1)), 2), 0)
		h := AddPositions(t, TokenEmbedding(t, codes, p[0]), p[1], n)
		h = AddRow(t, h, p[2], 1, n)
		h = Residual(t, h, Attention(t, h, h, h, nil, 1, n))
		return ByRecord(t, DenseTokens(t, h, p[3], p[4], n), n)
	}},
}

// ownGradients is the summed loss, a squared output with weights that differ, and its
// derivative.
func ownGradients(y *Node) (*Node, Adjoints) {
	d := y.Shape().Dimensions[0]
	w := make([]float32, d)
	for i := range w {
		w[i] = float32(i%5) - 1.5
	}
	by := Mul(y, BroadcastToDims(Const(y.Graph(), tensors.FromFlatDataAndDimensions(w, d, 1)), y.Shape().Dimensions...))
	return ReduceAllSum(Mul(y, by)), Adjoints{y: MulScalar(by, 2)}
}

// Every layer's norms and squares are those of a loop over batches of one, whose
// gradients the library derives.
func TestPerExampleRulesAreThoseOfABatchOfOneLoop(t *testing.T) {
	const n = 5
	for name, l := range exampleLayers {
		t.Run(name, func(t *testing.T) {
			rng := generator(77)
			var in []*tensors.Tensor
			for _, shape := range l.params {
				in = append(in, normal(rng, shape...))
			}
			x, weights := normal(rng, l.features, n), normal(rng, 1, n)
			k := len(in)
			got := execute(t, func(in []*Node) []*Node {
				tape := &Tape{}
				y := l.build(tape, in[k], in[:k])
				if left := tape.WithoutPerExample(in[:k]); len(left) > 0 {
					panic(fmt.Errorf("parameters %v have no rule", left))
				}
				_, v := ownGradients(y)
				return append([]*Node{tape.PerExampleNorms(v)}, tape.PerExampleSquares(v, in[k+1], in[:k])...)
			}, append(append([]*tensors.Tensor(nil), in...), x, weights)...)
			want := make([][]float64, k)
			var norms []float64
			for i := range n {
				grads := execute(t, func(in []*Node) []*Node {
					loss, _ := ownGradients(l.build(&Tape{}, in[k], in[:k]))
					return Gradient(loss, in[:k]...)
				}, append(append([]*tensors.Tensor(nil), in...), oneRecord(t, x, i))...)
				w, sum := float64(scalarAt(t, weights, i)), 0.0
				for j, g := range grads {
					if want[j] == nil {
						want[j] = make([]float64, len(g))
					}
					for e, v := range g {
						sum += v * v
						want[j][e] += w * v * v
					}
				}
				norms = append(norms, sum)
			}
			for i, v := range got[0] {
				got[0][i] = v * v
			}
			checkClose(t, "squared norms", got[0], norms, 2e-5)
			for j := range k {
				checkClose(t, fmt.Sprintf("squares of parameter %d", j), got[1+j], want[j], 2e-5)
			}
		})
	}
}

// In training batch normalisation mixes the records of a batch: it has no rule,
// and says so of its gain and offset.
func TestBatchNormUsesBatchStats(t *testing.T) {
	rng := generator(5)
	execute(t, func(in []*Node) []*Node {
		tape := &Tape{Training: true}
		y := BatchNorm2D(tape, NewImage(tape, in[4], 2, 2, 2), in[0], in[1], in[2], in[3], BatchNormEps).Join(tape)
		if left := tape.WithoutPerExample(in[:2]); len(left) != 2 || !tape.UsesBatchStats(in[0]) || !tape.UsesBatchStats(in[1]) {
			t.Errorf("without a rule are %v", left)
		}
		return []*Node{y}
	}, normal(rng, 2), normal(rng, 2), normal(rng, 2), normal(rng, 2), normal(rng, 8, 3))
}
