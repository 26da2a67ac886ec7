// An epoch as one loop: shared records, and for each model its own order and dropout.

package stacked_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/stacked"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// dropout draws the numbers of nn.RandomInput.Fill for a dropout, [units, n], in the graph.
func dropout(d nn.RandomInput, key *Node, n int) *Node {
	g, quads := key.Graph(), (n+3)/4
	c := func(v uint64) *Node { return Const(g, v) }
	iota := func(axis int, dims ...int) *Node { return Iota(g, shapes.Make(dtypes.Uint64, dims...), axis) }
	const golden = uint64(0x9E3779B97F4A7C15)
	z := Add(key, BitwiseShiftLeft(Mul(iota(0, d.Units, quads), c(golden)), c(20)))
	z = Add(Add(z, iota(1, d.Units, quads)), c(golden))
	z = Mul(BitwiseXor(z, BitwiseShiftRightLogical(z, c(30))), c(0xBF58476D1CE4E5B9))
	z = Mul(BitwiseXor(z, BitwiseShiftRightLogical(z, c(27))), c(0x94D049BB133111EB))
	z = BitwiseXor(z, BitwiseShiftRightLogical(z, c(31)))
	z = BroadcastToDims(Reshape(z, d.Units, quads, 1), d.Units, quads, 4)
	z = BitwiseAnd(BitwiseShiftRightLogical(z, Mul(iota(2, d.Units, quads, 4), c(16))), c(0xFFFF))
	z = Slice(Reshape(z, d.Units, quads*4), AxisRange(), AxisRange(0, n))
	keep := GreaterOrEqual(z, c(uint64(math.Round(d.Rate*65536))))
	return MulScalar(ConvertDType(keep, dtypes.Float32), 1/(1-d.Rate))
}

// epoch builds an epoch as one loop. in are the summed loss, the state, then the records [N,
// features], their classes [N, classes], the order [steps, batch], the keys of the dropouts
// [steps, dropouts] and the optimiser's parameters [steps, n]. It returns the summed loss and
// the state.
func (n network) epoch(in []*Node, states int) []*Node {
	g := in[0].Graph()
	order := in[1+states+2].Shape().Dimensions
	all := append([]*Node{Const(g, int32(0))}, in...)
	params := func(g *Graph) (out []*Node) {
		for i, v := range all {
			out = append(out, Parameter(g, fmt.Sprint("p", i), v.Shape()))
		}
		return out
	}
	cond := NewClosure(g, func(g *Graph) []*Node {
		return []*Node{LessThan(params(g)[0], Const(g, int32(order[0])))}
	})
	body := NewClosure(g, func(g *Graph) []*Node {
		p := params(g)
		i, sum, state, data := p[0], p[1], p[2:2+states], p[2+states:]
		row := func(x *Node) *Node {
			width := x.Shape().Dimensions[1]
			return Reshape(DynamicSlice(x, []*Node{i, Const(g, int32(0))}, []int{1, width}), width)
		}
		records := Reshape(row(data[2]), order[1], 1)
		step := []*Node{Transpose(Gather(data[0], records), 0, 1)}
		keys := row(data[3])
		for k, d := range model.RandomInputs(n.arch) {
			step = append(step, dropout(d, Reshape(Slice(keys, AxisElem(k))), order[1]))
		}
		step = append(step, Transpose(Gather(data[1], records), 0, 1), row(data[4]))
		total, next := n.step(state, step)
		return slices.Concat([]*Node{AddScalar(i, 1), Add(sum, total)}, next, data)
	})
	return While(cond, body, all...)[1 : 2+states]
}

// epochData are the inputs of an epoch besides the state.
func (n network) epochData(records, steps, batch, models int) []input {
	rng := rand.New(rand.NewPCG(5, 7))
	each := func(draw func(m int) any) (out []any) {
		for m := range models {
			out = append(out, draw(m))
		}
		return out
	}
	features, classes, draws := n.arch.Inputs(), model.OutputWidths(n.arch)[nn.Logits], model.RandomInputs(n.arch)
	labels := make([]float32, records*classes)
	for i := range records {
		labels[i*classes+rng.IntN(classes)] = 1
	}
	var rules []float32
	for s := range steps {
		rules = append(rules, optimizer.StepParams(s+1, 1)...)
	}
	return []input{
		newInput("records", []any{normals(rng, records*features, 1)}, records, features),
		newInput("classes", []any{labels}, records, classes),
		newInput("order", each(func(int) any {
			v := make([]int32, steps*batch)
			for i := range v {
				v[i] = int32(rng.IntN(records))
			}
			return v
		}), steps, batch),
		newInput("keys", each(func(m int) any {
			v := make([]uint64, steps*len(draws))
			for i := range v {
				v[i] = engine.Root(uint64(m)).Counter(engine.StreamDropout, uint64(i))
			}
			return v
		}), steps, len(draws)),
		newInput("rules", []any{rules}, steps, len(rules)/steps),
	}
}

func mlp() network {
	return newNetwork(tabular.MLP{Features: 7, Outputs: 3, Hidden: 6}, loss.CrossEntropy{})
}

func TestAnEpochAsOneLoopIsThatOfOneModel(t *testing.T) {
	stacked.ForEachBackend(t, func(t *testing.T, b compute.Backend) {
		if !b.Capabilities().Functions || !b.Capabilities().Operations[compute.OpTypeDynamicSlice] {
			t.Skip("the backend has no loops or no DynamicSlice")
		}
		n := mlp()
		state := n.state()
		in := slices.Concat([]input{newInput("loss", []any{[]float32{0}})}, state, n.epochData(40, 5, 10, models))
		off, err := difference(b, in, 1, 0, func(in []*Node) []*Node { return n.epoch(in, len(state)) })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("largest difference %.1g", off)
		if off > 2e-5 {
			t.Errorf("a result differs by %.2g", off)
		}
	})
}

// The dropout in the graph is the one of the project's other engines.
func TestDropoutInTheGraphIsThatOfFill(t *testing.T) {
	stacked.ForEachBackend(t, func(t *testing.T, b compute.Backend) {
		d, key := nn.RandomInput{Units: 5, Rate: 0.3}, uint64(0xABCDEF0123456789)
		exec, err := NewExec(b, func(key *Node) *Node { return dropout(d, key, 10) })
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Call(tensors.FromScalar(key))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float32, 50)
		d.Fill(want, key, 0, 10)
		if got := tensors.MustCopyFlatData[float32](out[0]); !slices.Equal(got, want) {
			t.Errorf("the graph has %v, want %v", got, want)
		}
	})
}
