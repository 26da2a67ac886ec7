// What follows from a network's declaration: its weights, its random inputs and its graph.

package model

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
)

// declaration is what a network takes when it is built, in this order, and the names of the layers
// that it then has.
type declaration struct {
	weights nn.Params
	random  []nn.RandomInput
	layers  []string
}

// mustDeclare returns what a network, with its defaults, takes; without a generator the weights have no numbers. It
// panics where building a graph does.
func mustDeclare(a Architecture, rng *rand.Rand) (d declaration) {
	a = defaults.Fill(a)
	d.weights, d.random = nn.Declare(a.Inputs(), rng, func(b *nn.Builder, x *Node) {
		tr := a.Build(b, x)
		if err := checkTrace(a, tr, 1); err != nil {
			panic(err)
		}
		for _, l := range tr.Layers {
			d.layers = append(d.layers, l.Name)
		}
	})
	return d
}

// checkTrace returns an error for a network that does not return what it says, for n records.
func checkTrace(a Architecture, tr Trace, n int) error {
	has := func(x *Node, width int) bool {
		d := x.Shape().Dimensions
		return len(d) == 2 && (d[0] == width || width == 0) && d[1] == n
	}
	for _, h := range a.Returns() {
		if o := tr.Outputs[h.Name]; o == nil || !has(o, h.Width) {
			return fmt.Errorf("%s returns no %q of width %d: its shape is %s, want [%d %d]", a.Name(), h.Name, h.Width, shapeText(o), h.Width, n)
		}
	}
	if tr.Embedding == nil || !has(tr.Embedding, 0) {
		return fmt.Errorf("%s returns no embedding [width, %d]: its shape is %s; the field Embedding of its Trace is what representation metrics read, "+
			"for a classifier what goes into the last layer", a.Name(), n, shapeText(tr.Embedding))
	}
	for _, l := range tr.Layers {
		if l.Value == nil || !has(l.Value, 0) {
			return fmt.Errorf("%s returns no layer %q [width, %d]: its shape is %s", a.Name(), l.Name, n, shapeText(l.Value))
		}
	}
	return nil
}

// shapeText returns the shape of a node, "nil" for none.
func shapeText(x *Node) string {
	if x == nil {
		return "nil"
	}
	return fmt.Sprint(x.Shape().Dimensions)
}

// declare is mustDeclare with an error for a network that cannot be built: settings that Check
// refuses, a weight that would be too large or is taken twice, sizes that do not fit.
func declare(a Architecture, rng *rand.Rand) (d declaration, err error) {
	if err := defaults.Fill(a).Check(); err != nil {
		return d, err
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *nn.TooLarge:
			err = fmt.Errorf("%s is too large: %w", a.Name(), v)
		case error:
			err = fmt.Errorf("model %s: %w", a.Name(), v)
		default:
			err = fmt.Errorf("model %s: %v", a.Name(), v)
		}
	}()
	return mustDeclare(a, rng), nil
}

// forward builds the network that the declaration is of.
func (d declaration) forward(a Architecture, t *nn.Tape, p []*Node, x *Node, draws []*Node) (tr Trace) {
	a = defaults.Fill(a)
	nn.Build(t, d.weights, p, d.random, draws, x, func(b *nn.Builder) { tr = a.Build(b, x) })
	return tr
}

// Pretrained is a network that begins with weights which somebody trained.
type Pretrained interface {
	Architecture
	// Load returns the weights that a training begins with: those that were drawn, with the trained
	// ones in the place of some or all of them. notes say what a user should know of the file. An
	// error names file and tensor. What was drawn may be changed.
	Load(drawn nn.Params) (weights nn.Params, notes []string, err error)
}

// InitialWeights returns the weights that a training begins with, in the order in which they are
// taken: drawn, and for a Pretrained network loaded. Its settings must have passed Check, and
// CheckPretrained. Without a generator the weights have no numbers.
func InitialWeights(a Architecture, rng *rand.Rand) nn.Params {
	drawn := mustDeclare(a, rng).weights
	p, is := a.(Pretrained)
	if !is || rng == nil {
		return drawn
	}
	w, _, err := load(p, drawn)
	if err != nil {
		panic(err)
	}
	return w
}

// CheckPretrained returns the notes of a Pretrained network's weights, and an error where they cannot be
// loaded or do not fit it. Of any other network there is nothing to say.
func CheckPretrained(a Architecture) (notes []string, err error) {
	p, is := a.(Pretrained)
	if !is {
		return nil, nil
	}
	d, err := declare(a, rand.New(rand.NewPCG(0, 0)))
	if err != nil {
		return nil, err
	}
	_, notes, err = load(p, d.weights)
	return notes, err
}

// load returns the weights of a Pretrained network, which must be finite and have its names and shapes; Load may use the
// drawn ones for them. A panic of its author's code is an error.
func load(p Pretrained, drawn nn.Params) (w nn.Params, notes []string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("method Load panicked: %v", v)
		}
		if err != nil {
			w, notes, err = nil, nil, fmt.Errorf("the weights that %s begins with: %w", p.Name(), err)
		}
	}()
	if w, notes, err = p.Load(drawn); err == nil {
		err = cmp.Or(nn.SameShape(w, mustDeclare(p, nil).weights), w.Check())
	}
	return w, notes, err
}

// RandomInputs lists the random numbers that the training of a network needs, in the order in
// which they are taken.
func RandomInputs(a Architecture) []nn.RandomInput { return mustDeclare(a, nil).random }

// WeightShapes returns the names and shapes of a network's weights, without numbers. A network that
// cannot be built is an error.
func WeightShapes(a Architecture) (nn.Params, error) {
	d, err := declare(a, nil)
	return d.weights, err
}

// Forward builds the graph of a network on x [Inputs, n] with its weights p. In training draws
// holds one node per random input, [Units, n]; in inference it is nil.
func Forward(a Architecture, t *nn.Tape, p []*Node, x *Node, draws []*Node) Trace {
	return mustDeclare(a, nil).forward(a, t, p, x, draws)
}
