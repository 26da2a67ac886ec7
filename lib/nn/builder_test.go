// Tests of builder.go and builder_layers.go.

package nn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// chain is a network: relu(W1 x + b1) with dropout, W2 h + b2 in a part of its own, and twice the
// last layer.
func chain(b *Builder, x *Node) *Node {
	h := b.ReLUDropout("drop", b.Initial(HeNormal).Dense("first", x, 4), 0.5)
	h = b.Sub("part.").Dense("inner", h, 3)
	h = b.Dense("last", h, 3)
	return b.Reuse().Dense("last", h, 3)
}

func declareChain() (Params, []RandomInput) {
	return Declare(2, generator(1), func(b *Builder, x *Node) { chain(b, x) })
}

func TestADeclarationListsWhatIsTaken(t *testing.T) {
	p, random := declareChain()
	var got []string
	for _, v := range p {
		got = append(got, fmt.Sprintf("%s %v", v.Name, v.Shape))
	}
	want := []string{"first.weight [4 2]", "first.bias [4]", "part.inner.weight [3 4]", "part.inner.bias [3]", "last.weight [3 3]", "last.bias [3]"}
	if !slices.Equal(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
	if !slices.Equal(random, []RandomInput{{Name: "drop", Units: 4, Rate: 0.5}}) {
		t.Errorf("random inputs %v", random)
	}
	by := generator(1) // the weights are those that the layers draw one after the other
	byHand := slices.Concat(HeNormal.DenseInit(by, "first", 2, 4), PyTorch.DenseInit(by, "part.inner", 4, 3), PyTorch.DenseInit(by, "last", 3, 3))
	if p.Hash() != byHand.Hash() {
		t.Error("the initial weights are others than those of the layers in their order")
	}
	shapes, _ := Declare(2, nil, func(b *Builder, x *Node) { chain(b, x) })
	if err := SameShape(shapes, p); err != nil || shapes[0].Data != nil || shapes.Size() != p.Size() {
		t.Errorf("without a generator: %v, %d values of %d", err, len(shapes[0].Data), shapes.Size())
	}
}

// A network that is built computes its formula with the weights of each name.
func TestABuiltNetworkIsItsFormula(t *testing.T) {
	p, random := declareChain()
	in := []*tensors.Tensor{tensors.FromFlatDataAndDimensions([]float32{0.3, -1, 2, 0.5, 1, -2}, 2, 3)}
	in = append(in, tensors.FromFlatDataAndDimensions([]float32{2, 0, 2, 2, 2, 0, 0, 2, 0, 2, 2, 2}, 4, 3))
	for _, v := range p {
		in = append(in, tensors.FromFlatDataAndDimensions(v.Data, v.Shape...))
	}
	for _, training := range []bool{true, false} {
		out := execute(t, func(in []*Node) []*Node {
			x, w, draws := in[0], in[2:], in[1:2]
			if !training {
				draws = nil
			}
			var got *Node
			Build(&Tape{}, p, w, random, draws, x, func(b *Builder) { got = chain(b, x) })
			tape, mask := &Tape{}, in[1]
			if !training {
				mask = nil
			}
			h := ReLUDropout(tape, Dense(tape, x, w[0], w[1]), mask, 0.5)
			h = Dense(tape, Dense(tape, h, w[2], w[3]), w[4], w[5])
			return []*Node{got, Dense(tape, h, w[4], w[5])}
		}, in...)
		if !slices.Equal(out[0], out[1]) || slices.ContainsFunc(out[0], math.IsNaN) {
			t.Errorf("training %v: %v, by hand %v", training, out[0], out[1])
		}
	}
}

// A wrong pairing of a declaration and its use is an error that names the weight or the random
// input.
func TestAWrongPairingIsRefusedByName(t *testing.T) {
	mask := func(b *Builder, name string) { b.Dropout(name, 4, 0.5) }
	for want, use := range map[string]func(b *Builder, x *Node){
		"no layer takes the weight last.weight": func(b *Builder, x *Node) {
			mask(b, "drop")
			b.Sub("part.").Dense("inner", b.Dense("first", x, 4), 3)
		},
		"no layer takes the random input drop":                                    func(b *Builder, x *Node) { chain(b.WithoutRandomInputs(), x) },
		"there is no weight second.weight":                                        func(b *Builder, x *Node) { b.Dense("second", x, 4) },
		"the weight first.weight has the shape [4 2], its layer needs [5 2]":      func(b *Builder, x *Node) { b.Dense("first", x, 5) },
		"the weight first.weight is taken twice; a layer that shares it":          func(b *Builder, x *Node) { b.Dense("first", b.Dense("first", x, 4), 4) },
		"there is no random input other of 4 numbers":                             func(b *Builder, x *Node) { mask(b, "other") },
		"there is no random input drop of 5 numbers":                              func(b *Builder, x *Node) { b.Dropout("drop", 5, 0.5) },
		"the random input drop is taken twice":                                    func(b *Builder, x *Node) { mask(b, "drop"); mask(b, "drop") },
		"a network of 6 weights and 1 random inputs is built with 5 and 1":        nil,
		"the weight part.inner.weight has the shape [3 4], its layer needs [3 2]": func(b *Builder, x *Node) { b.Sub("part.").Dense("inner", x, 3) },
		"the weight last.weight has the shape [3 3], its layer needs [3 2]":       func(b *Builder, x *Node) { b.Reuse().Dense("last", x, 3) },
	} {
		p, random := declareChain()
		if err := built(p, random, use); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, declared := range map[string]func(b *Builder, x *Node){
		"the weight a.weight is taken twice":  func(b *Builder, x *Node) { b.Dense("a", x, 2); b.Dense("a", x, 2) },
		"the random input a is taken twice":   func(b *Builder, x *Node) { mask(b, "a"); mask(b, "a") },
		"there is no weight a.weight":         func(b *Builder, x *Node) { b.Reuse().Dense("a", x, 2) },
		"a.weight would have the shape [1073": func(b *Builder, x *Node) { b.Dense("a", x, 1<<30) },
	} {
		err := recovered(func() { Declare(2, nil, declared) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("declared: %v, want %q", err, want)
		}
	}
}

// built builds the weights of chain with use, nil for chain with a weight less.
func built(p Params, random []RandomInput, use func(b *Builder, x *Node)) error {
	return recovered(func() {
		Declare(2, nil, func(b *Builder, x *Node) {
			var w []*Node
			for _, v := range p {
				w = append(w, b.Sub("given ").Weight(v.Name, nil, v.Shape...))
			}
			draws := []*Node{b.Dropout("given", 4, 0.5)}
			if use == nil {
				w, use = w[1:], func(b *Builder, x *Node) { chain(b, x) }
			}
			Build(&Tape{}, p, w, random, draws, x, func(b *Builder) { use(b, x) })
		})
	})
}

func recovered(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	f()
	return nil
}

// A second use of weights draws anew under names of its own.
func TestASecondUseOfWeightsDrawsAnew(t *testing.T) {
	p, random := Declare(2, nil, func(b *Builder, x *Node) {
		for _, b := range []*Builder{b, b.Reuse().RandomPrefix("again-")} {
			b.Sub("part.").ReLUDropout("drop", b.Dense("first", x, 4), 0.5)
		}
	})
	if want := []RandomInput{{Name: "part.drop", Units: 4, Rate: 0.5}, {Name: "again-part.drop", Units: 4, Rate: 0.5}}; len(p) != 2 || !slices.Equal(random, want) {
		t.Errorf("%d weights, random inputs %v", len(p), random)
	}
}
