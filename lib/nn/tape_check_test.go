package nn

import (
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// recordedCase is a graph over x [3, 4], the weights w [3, 3] and v [3], and state s [3].
type recordedCase struct {
	name  string
	words string // of the error; "": none
	build func(t *Tape, x, w, v, s *Node) *Node
}

func recordedCases() []recordedCase {
	column := func(v *Node) *Node { return BroadcastToDims(Reshape(v, 3, 1), 3, 4) }
	return []recordedCase{
		{"recorded", "", func(t *Tape, x, w, v, s *Node) *Node { return GELU(t, Dense(t, x, w, v)) }},
		{"of records alone", "", func(t *Tape, x, w, v, s *Node) *Node { return Dense(t, Tanh(NewImage(t, x, 3, 1, 1).X), w, v) }},
		{"state", "", func(t *Tape, x, w, v, s *Node) *Node { return Dense(t, Mul(x, column(s)), w, v) }},
		{"stopped by StopGradient", "", func(t *Tape, x, w, v, s *Node) *Node {
			return Dense(t, MulScalar(StopGradient(Dense(t, x, w, v)), 2), w, v)
		}},
		{"stopped by an operation without inputs", "", func(t *Tape, x, w, v, s *Node) *Node {
			h := t.Op(Tanh(Dense(t, x, w, v)), nil, func(*Node) []*Node { return nil })
			return Dense(t, MulScalar(h, 2), w, v)
		}},
		{"an operation", "the gradient of v, w is lost at the operation Tanh of shape [3 4]", func(t *Tape, x, w, v, s *Node) *Node {
			return Dense(t, Tanh(Dense(t, x, w, v)), w, v)
		}},
		{"the first of several operations", "at the operation Tanh", func(t *Tape, x, w, v, s *Node) *Node {
			return Dense(t, Exp(Neg(Tanh(Dense(t, x, w, v)))), w, v)
		}},
		{"a weight alone", "the gradient of w is lost at the operation DotGeneral", func(t *Tape, x, w, v, s *Node) *Node {
			return t.Block([]*Node{Dot(w, x).Product()}, func(in []*Node) *Node { return Sqrt(in[0]) })
		}},
		{"one path of two", "the gradient of v, w is lost at the operation Add", func(t *Tape, x, w, v, s *Node) *Node {
			h := Dense(t, x, w, v)
			return Dense(t, Add(h, GELU(t, h)), w, v)
		}},
		{"one input of two", "the gradient of v is lost at the operation Reshape", func(t *Tape, x, w, v, s *Node) *Node {
			return Residual(t, Dense(t, x, w, v), Mul(column(v), x))
		}},
		{"a Block on its inputs", "", func(t *Tape, x, w, v, s *Node) *Node {
			h := Dense(t, x, w, v)
			return t.Block([]*Node{h, v}, func(in []*Node) *Node { return Mul(GELU(t, in[0]), Add(column(in[1]), Mul(x, column(s)))) })
		}},
		{"a Block that captures a weight", "the gradient of v is lost in a Block whose result has the shape [3 4]",
			func(t *Tape, x, w, v, s *Node) *Node {
				return t.Block([]*Node{Dense(t, x, w, v)}, func(in []*Node) *Node { return Mul(in[0], column(v)) })
			}},
		{"a Block that captures a result", "the gradient of v, w is lost in a Block", func(t *Tape, x, w, v, s *Node) *Node {
			h := Dense(t, x, w, v)
			return t.Block([]*Node{x}, func(in []*Node) *Node { return Mul(in[0], h) })
		}},
		{"a Block that captures a result and stops it", "", func(t *Tape, x, w, v, s *Node) *Node {
			h := Dense(t, x, w, v)
			return t.Block([]*Node{h}, func(in []*Node) *Node { return Mul(in[0], StopGradient(Tanh(h))) })
		}},
	}
}

func TestAGradientThatIsLostIsRefused(t *testing.T) {
	weights := Params{{Name: "w", Shape: []int{3, 3}}, {Name: "v", Shape: []int{3}}, {Name: "s", Shape: []int{3}, State: true}}
	rng := generator(41)
	in := []*tensors.Tensor{normal(rng, 3, 4), normal(rng, 3, 3), normal(rng, 3), normal(rng, 3)}
	for _, c := range recordedCases() {
		execute(t, func(in []*Node) []*Node {
			tape := &Tape{}
			y := c.build(tape, in[0], in[1], in[2], in[3])
			err := tape.CheckRecorded([]*Node{y}, in[1:], weights, nil)
			if c.words == "" && err != nil || c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
				t.Errorf("%s: %v, want %q", c.name, err, c.words)
			}
			if err := tape.CheckRecorded([]*Node{y}, in[1:], weights, []bool{true, true, true}); err != nil {
				t.Errorf("%s, with frozen weights: %v", c.name, err)
			}
			return []*Node{y}
		}, in...)
	}
}

// The activations of a builder have the gradients of GoMLX's.
func TestActivationsOfABuilder(t *testing.T) {
	rng := generator(42)
	in := []*tensors.Tensor{normal(rng, 5, 9), normal(rng, 5, 9)}
	layers := map[string][2]func(b *Builder, x *Node) *Node{
		"tanh":    {(*Builder).Tanh, func(b *Builder, x *Node) *Node { return Tanh(x) }},
		"sigmoid": {(*Builder).Sigmoid, func(b *Builder, x *Node) *Node { return Sigmoid(x) }},
		"silu":    {(*Builder).SiLU, func(b *Builder, x *Node) *Node { return Mul(x, Sigmoid(x)) }},
		"gelu": {(*Builder).GELU, func(b *Builder, x *Node) *Node {
			return Mul(x, MulScalar(AddScalar(Erf(MulScalar(x, 0.70710678118)), 1), 0.5))
		}},
		"leaky ReLU": {func(b *Builder, x *Node) *Node { return b.LeakyReLU(x, 0.1) }, func(b *Builder, x *Node) *Node { return Max(x, MulScalar(x, 0.1)) }},
		"sum":        {func(b *Builder, x *Node) *Node { return b.Add(b.Tanh(x), x) }, func(b *Builder, x *Node) *Node { return Add(Tanh(x), x) }},
	}
	for name, f := range layers {
		out := execute(t, func(in []*Node) []*Node {
			b := &Builder{Tape: &Tape{}}
			y, plain := f[0](b, in[0]), f[1](b, in[0])
			return []*Node{y, plain, b.Backward(Adjoints{y: in[1]}, in[:1])[0], Gradient(ReduceAllSum(Mul(plain, in[1])), in[0])[0]}
		}, in...)
		checkClose(t, name, out[0], out[1], 1e-6)
		checkClose(t, "gradient of "+name, out[2], out[3], 2e-6)
	}
}
