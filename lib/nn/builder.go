// The builder of a network: what is written once as a graph declares the weights and the random
// inputs, and uses them.

package nn

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine/backend"
)

// Builder builds the graph of a network. Layers take their weights, and the random numbers of
// training, by name:
//
//	h := b.ReLUDropout("dropout", b.Dense("hidden", x, 128), 0.2)
//	z := b.Dense("head", h, classes)
//
// The same code declares them and uses them, so the two cannot differ: Declare runs it on shapes
// alone and returns what it takes, in that order, with initial weights; Build runs it on given
// weights, which it finds by name. A name that is taken twice, was not declared, is of another
// shape or is left over is an error that names it.
//
// A Builder is also the tape that the layers are recorded on. Only recorded layers have gradients: the
// methods of the builder and the functions of this package that take a tape. Any other operation of
// GoMLX is wrapped in Block, with all that it is computed from as inputs:
//
//	h = b.Block([]*Node{h}, func(in []*Node) *Node { return MulScalar(Sin(in[0]), 0.5) })
//
// A training refuses a network that loses a gradient, and names the operation and the weights; see
// [Tape.CheckRecorded]. What is computed from x alone needs no Block.
type Builder struct {
	*Tape
	// Records is the number of records.
	Records int

	prefix   string      // of the names
	random   string      // before the names of random inputs
	initial  Initializer // of dense layers
	quiet    bool        // no random inputs, as in inference
	reuse    bool        // weights were taken before
	supplies *supplies
}

// supplies are the weights and random inputs that a builder and those made of it hand out.
type supplies struct {
	declared *Graph     // where a network is declared; nil: it is built
	rng      *rand.Rand // of the initial weights; nil: only shapes are wanted
	params   Params
	random   []RandomInput
	weights  map[string]*Node // by the name of the weight
	draws    map[string]*Node // by the name of the random input; nil in inference
	taken    map[string]bool
}

// Declare returns the weights and the random inputs that a network takes, in this order; x has
// the network's number of inputs. The weights are drawn from rng; without one they have no
// numbers. Declare panics as build does.
func Declare(inputs int, rng *rand.Rand, build func(b *Builder, x *Node)) (Params, []RandomInput) {
	return declare(inputs, rng, build, func(*Graph) {})
}

// declare is Declare; look is given the graph that was built for one record.
func declare(inputs int, rng *rand.Rand, build func(b *Builder, x *Node), look func(*Graph)) (Params, []RandomInput) {
	g := NewGraph(backend.Open(1), "declaration")
	defer g.Finalize()
	s := &supplies{declared: g, rng: rng, weights: map[string]*Node{}, draws: map[string]*Node{}, taken: map[string]bool{}}
	build(newBuilder(&Tape{Training: true}, s, 1), s.node("the network's input", inputs, 1))
	look(g)
	return s.params, s.random
}

// Build runs build with a builder for the weights p and the random inputs draws of a network,
// nodes of the graph of x [inputs, n], in the order of their declarations. Without draws there
// are no random inputs, as in inference.
func Build(t *Tape, weights Params, p []*Node, random []RandomInput, draws []*Node, x *Node, build func(b *Builder)) {
	if len(p) != len(weights) || draws != nil && len(draws) != len(random) {
		panic(fmt.Errorf("a network of %d weights and %d random inputs is built with %d and %d", len(weights), len(random), len(p), len(draws)))
	}
	s := &supplies{weights: map[string]*Node{}, taken: map[string]bool{}}
	for i, v := range weights {
		s.weights[v.Name] = p[i]
	}
	if draws != nil {
		s.draws = map[string]*Node{}
	}
	for i, d := range draws {
		s.draws[random[i].Name] = d
	}
	build(newBuilder(t, s, x.Shape().Dimensions[1]))
	for _, v := range weights {
		if !s.taken[v.Name] {
			panic(fmt.Errorf("no layer takes the weight %s", v.Name))
		}
	}
	for i := range draws {
		if !s.taken["random "+random[i].Name] {
			panic(fmt.Errorf("no layer takes the random input %s", random[i].Name))
		}
	}
}

func newBuilder(t *Tape, s *supplies, records int) *Builder {
	return &Builder{Tape: t, Records: records, initial: PyTorch, supplies: s}
}

// node declares an input.
func (s *supplies) node(name string, dims ...int) *Node {
	return Parameter(s.declared, name, shapes.Make(dtypes.Float32, dims...))
}

// Sub returns a builder that puts prefix before every name.
func (b *Builder) Sub(prefix string) *Builder {
	c := *b
	c.prefix += prefix
	return &c
}

// Initial returns a builder whose dense layers have other initial weights than PyTorch's.
func (b *Builder) Initial(i Initializer) *Builder {
	c := *b
	c.initial = i
	return &c
}

// WithoutRandomInputs returns a builder without random inputs, as in inference.
func (b *Builder) WithoutRandomInputs() *Builder {
	c := *b
	c.quiet = true
	return &c
}

// Reuse returns a builder for a second use of weights: it takes those that were taken before.
func (b *Builder) Reuse() *Builder {
	c := *b
	c.reuse = true
	return &c
}

// RandomPrefix returns a builder that puts prefix before every name of a random input, for a second
// use of weights that draws anew.
func (b *Builder) RandomPrefix(prefix string) *Builder {
	c := *b
	c.random += prefix
	return &c
}

// Rand is the generator of initial weights, nil where none are drawn.
func (b *Builder) Rand() *rand.Rand { return b.supplies.rng }

// Weights takes weights with these names, shapes and initial values. The values are not read unless
// there is a generator, see Rand.
func (b *Builder) Weights(p ...Param) []*Node {
	out := make([]*Node, len(p))
	for i, v := range p {
		v.Name = b.prefix + v.Name
		out[i] = b.weightNode(v)
	}
	return out
}

// weightNode returns the node of a weight, and declares it.
func (b *Builder) weightNode(v Param) *Node {
	s := b.supplies
	if s.taken[v.Name] && !b.reuse {
		panic(fmt.Errorf("the weight %s is taken twice; a layer that shares it takes it with Reuse", v.Name))
	}
	if slices.ContainsFunc(v.Shape, func(n int) bool { return n < 1 }) {
		panic(fmt.Errorf("the weight %s would have the shape %v; every size is at least 1", v.Name, v.Shape))
	}
	if s.declared != nil && !b.reuse {
		s.params = append(s.params, v)
		s.weights[v.Name] = s.node(v.Name, v.Shape...)
	}
	s.taken[v.Name] = true
	w := s.weights[v.Name]
	if w == nil {
		panic(fmt.Errorf("there is no weight %s", v.Name))
	}
	if !slices.Equal(w.Shape().Dimensions, v.Shape) {
		panic(fmt.Errorf("the weight %s has the shape %v, its layer needs %v", v.Name, w.Shape().Dimensions, v.Shape))
	}
	return w
}

// Weight takes one weight, which fill draws; nil: it begins at 0.
func (b *Builder) Weight(name string, fill func(rng *rand.Rand, data []float32), shape ...int) *Node {
	v := newParam(b.Rand(), name, shape...)
	if fill != nil && v.Data != nil {
		fill(b.Rand(), v.Data)
	}
	return b.Weights(v)[0]
}

// Random takes a random input, [Units, n]; it is nil in inference.
func (b *Builder) Random(d RandomInput) *Node {
	s := b.supplies
	d.Name = b.random + b.prefix + d.Name
	switch {
	case b.quiet || s.draws == nil:
		return nil
	case s.declared != nil && s.draws[d.Name] == nil:
		s.random = append(s.random, d)
		s.draws[d.Name] = s.node("the random input "+d.Name, d.Units, b.Records)
	case s.taken["random "+d.Name]:
		panic(fmt.Errorf("the random input %s is taken twice", d.Name))
	}
	s.taken["random "+d.Name] = true
	x := s.draws[d.Name]
	if x == nil || x.Shape().Dimensions[0] != d.Units {
		panic(fmt.Errorf("there is no random input %s of %d numbers", d.Name, d.Units))
	}
	return x
}

// Dropout takes the mask of a dropout on so many units.
func (b *Builder) Dropout(name string, units int, rate float64) *Node {
	return b.Random(RandomInput{Name: name, Units: units, Rate: rate})
}
