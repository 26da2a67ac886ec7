// Transforms of a gradient before the optimiser sees it, on the host and in a graph, and their order.

package train

import (
	"fmt"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/nn"
)

// GradientTransform changes the gradient of a step before the optimiser sees it. One with a
// method Check(nn.Params) error is checked on the model's weights before it runs.
type GradientTransform interface {
	// Transform changes s.Grads in place, and s.Loss if it adds a term to the objective.
	Transform(s *GradientStep) error
}

// GradientStep is the gradient of a step, with what a transform may depend on.
type GradientStep struct {
	Params nn.Params   // the weights where the gradient is; they are only read
	Grads  [][]float64 // one slice per tensor, nil for a tensor that is state
	Loss   float64     // the objective's value
	Epoch  int         // 0, 1, ..., Epochs - 1
	Epochs int
	Step   int         // number of updates so far, of all players
	Seed   engine.Root // of the random numbers

	records float64 // the expected number of records of a private step
}

// Rand returns random numbers for a tensor. They are the same in a resumed fit.
func (s *GradientStep) Rand(tensor int) *rand.Rand {
	return s.Seed.Stream(engine.StreamGradientNoise, uint64(s.Step), uint64(tensor))
}

// Chain are transforms that run one after another, as in optax.chain: each gets the gradient
// that the one before left. Their order matters. A Decay before a Mask leaves closed weights
// alone, after it the decay moves them; a ClipNorm bounds what is before it only.
//
// The way of a training's gradient is always
//
//  1. the gradient of the objective; of a player's in a Game, by its own weights, the others
//     are 0. If the plan is Private, the gradients of the records are clipped here and added
//     up: a transform, which gets the sum, would come too late. A GradientCombiner makes one
//     gradient of those of several terms, so it is no transform either.
//  2. the noise and the divisor of Private
//  3. Plan.Transforms, in the order of the list
//  4. Config.Clip, as ClipNorm
//  5. the optimiser
//  6. what a StepTransform of 3 does after the step, in the same order
//
// On a device the same chain is part of the graph if all transforms are GraphTransforms.
// Otherwise the training runs step by step on the host.
type Chain []GradientTransform

// Apply runs the transforms on a step, after their checks. A transform that panics, or that leaves a gradient of
// other sizes than the weights, is an error that names it.
func (c Chain) Apply(s *GradientStep) error {
	if err := c.check(s.Params); err != nil {
		return err
	}
	if err := nn.CheckGradient(s.Params, s.Grads); err != nil {
		return fmt.Errorf("train: before the transforms: %w", err)
	}
	for i, t := range c {
		if err := panics.Catch(inChain(i, t), func() error { return t.Transform(s) }); err != nil {
			return err
		}
		if err := nn.CheckGradient(s.Params, s.Grads); err != nil {
			return fmt.Errorf("train: %s returns another gradient than it got: %w", inChain(i, t), err)
		}
	}
	return nil
}

// inChain names a transform of a chain.
func inChain(i int, t GradientTransform) string { return fmt.Sprintf("transform %d (%T)", i, t) }

// check returns an error if a transform does not fit a model or has a setting that is invalid.
func (c Chain) check(p nn.Params) error {
	for i, t := range c {
		if t == nil {
			return fmt.Errorf("train: transform %d of %d is nil", i, len(c))
		}
		if t, ok := t.(interface{ Check(p nn.Params) error }); ok {
			if err := t.Check(p); err != nil {
				return fmt.Errorf("train: %w", err)
			}
		}
	}
	return nil
}

// inFloat32 returns what Apply does to the float32 gradient of a single execution, where the
// optimiser's bits are the same; otherwise nil. A second transform would get a gradient that is
// rounded already.
func (c Chain) inFloat32() func(grads [][]float32) {
	if len(c) == 0 {
		return func([][]float32) {}
	}
	if t, ok := c[0].(ClipNorm); ok && len(c) == 1 {
		return t.inFloat32
	}
	return nil
}

// StepTransform is a GradientTransform that also changes what the optimiser makes.
type StepTransform interface {
	GradientTransform
	// BeforeStep is called before the optimiser's step on weights p. after is called when
	// it is made, and may change the weights and the optimiser's slots.
	BeforeStep(p nn.Params, s *nn.OptimizerState) (after func())
}

// GraphTransform is a GradientTransform that can be part of a step's graph on a device.
type GraphTransform interface {
	GradientTransform
	// Graph returns its form in a graph, for a model with weights like.
	Graph(like nn.Params) GraphForm
}

// GraphForm is the form of a transform in a graph. Trainings with the same Key share a
// compiled graph and may run side by side; what differs between them comes in arrays.
type GraphForm struct {
	Key       string // everything that the functions with nodes depend on
	Transform func(s *GraphStep)
	// AfterStep is what a StepTransform does, to a tensor or a slot of it; nil: nothing.
	AfterStep func(s *GraphStep, tensor int, before, after *graph.Node) *graph.Node
	// Fixed are arrays in the form of the weights that never change; nil: none.
	Fixed [][]float32
	// Arrays has the shapes of arrays of which every step has its own, by name. Fill writes
	// those of a step; s has neither weights nor a gradient.
	Arrays map[string][]int
	Fill   func(s *GradientStep, arrays map[string][]float32)
}

// GraphStep is a GradientStep in a graph, with the arrays of the transform's GraphForm.
type GraphStep struct {
	Weights, Grads []*graph.Node // a tensor that is state has no gradient: nil
	Loss           *graph.Node
	Fixed          []*graph.Node
	Arrays         map[string]*graph.Node
}

// Change replaces the gradient of every tensor that has one.
func (s *GraphStep) Change(f func(tensor int, grad *graph.Node) *graph.Node) {
	for i, g := range s.Grads {
		if g != nil {
			s.Grads[i] = f(i, g)
		}
	}
}
