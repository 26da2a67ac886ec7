// The interface of optimisers, their state, learning rates by group, and checks of a step.

package nn

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// Optimizer updates weights by a gradient. Its JSON has its name and fields, so that it can
// be part of a store key.
type Optimizer interface {
	json.Marshaler
	// Name is a short name, such as "adam".
	Name() string
	// WithDefaults returns the optimiser with every zero replaced by its default.
	WithDefaults() Optimizer
	// Check returns an error for an invalid setting.
	Check() error
	// Slots returns the names of the tensors that it keeps per weight, such as "m" and
	// "v".
	Slots() []string
	// Step makes one step by a gradient with one float64 slice per tensor; nil means
	// zeros. The rate of tensor i is the optimiser's times rates[i]; nil rates are 1. A
	// tensor of rate 0 is frozen with its slots. State (Param.State) is never updated. A
	// gradient that is not finite, or a state of another optimiser, is an error, and then
	// nothing changes.
	Step(p Params, grads [][]float64, s *OptimizerState, rates []float64) error
}

// Float32Optimizer is an optimiser that also takes a gradient in float32, that of a single
// execution. StepFloat32 gives the same bits as Step.
type Float32Optimizer interface {
	Optimizer
	StepFloat32(p Params, grads [][]float32, s *OptimizerState, rates []float64) error
}

// GraphOptimizer is an optimiser whose step can be part of a graph, so that weights and
// slots stay on the device. The result is that of Step, up to rounding. It checks nothing;
// the caller checks that the gradient is finite.
type GraphOptimizer interface {
	Optimizer
	// StepParams returns the parameters of step t = 1, 2, ... for a tensor whose rate is
	// factor times the optimiser's. Their number is always the same.
	StepParams(t int, factor float64) []float32
	// GraphStep returns a tensor and its slots after a step with the parameters rule.
	GraphStep(w, grad *Node, slots, rule []*Node) (updated *Node, newSlots []*Node)
}

// kernelOptimizer is an optimiser with a kernel; stepByKernel is its Step and StepFloat32. Its
// GraphStep is no replacement on the host: as a graph of its own a step takes several times as
// long, and that of Adam rounds otherwise.
type kernelOptimizer interface {
	Float32Optimizer
	GraphOptimizer
	// kernel returns the step of a tensor with the parameters of StepParams.
	kernel(params []float32) kernels.Rule
	// decays reports whether a weight without gradient and momentum changes.
	decays() bool
}

// OptimizerState is the state of an optimiser: its slots, which are tensors per weight, and
// the number of steps.
type OptimizerState struct {
	Optimizer string   // the optimiser's name
	Names     []string // of the slots
	Slots     []Params // each with the shapes of the weights
	T         int      // number of steps

	moved []bool // tensors of which a slot may have a number other than 0; nil: unknown
}

// NewOptimizerState returns the state of o before the first step on p.
func NewOptimizerState(o Optimizer, p Params) *OptimizerState {
	s := &OptimizerState{Optimizer: o.Name(), Names: o.Slots()}
	for range s.Names {
		zero := p.Clone()
		for i := range zero {
			clear(zero[i].Data)
		}
		s.Slots = append(s.Slots, zero)
	}
	return s
}

// Clone returns a deep copy.
func (s *OptimizerState) Clone() *OptimizerState { return s.CloneIn(nil) }

// CloneIn returns a deep copy in the memory of spare, a state that is no longer needed, or
// in new memory if spare is nil.
func (s *OptimizerState) CloneIn(spare *OptimizerState) *OptimizerState {
	out := &OptimizerState{Optimizer: s.Optimizer, Names: s.Names, T: s.T, moved: slices.Clone(s.moved)}
	for k, slot := range s.Slots {
		var memory Params
		if spare != nil && k < len(spare.Slots) {
			memory = spare.Slots[k]
		}
		out.Slots = append(out.Slots, slot.CloneIn(memory))
	}
	return out
}

// Check returns an error if the state is not one of the optimiser o on weights like.
func (s *OptimizerState) Check(o Optimizer, like Params) error {
	if err := s.checkOptimizer(o); err != nil {
		return err
	}
	for k, slot := range s.Slots {
		if err := SameShape(slot, like); err != nil {
			return fmt.Errorf("slot %s: of another model: %w", s.Names[k], err)
		}
		if err := slot.Check(); err != nil {
			return fmt.Errorf("slot %s: %w", s.Names[k], err)
		}
	}
	return nil
}

func (s *OptimizerState) checkOptimizer(o Optimizer) error {
	if s.Optimizer != o.Name() || !slices.Equal(s.Names, o.Slots()) || len(s.Slots) != len(s.Names) {
		return fmt.Errorf("%s: the state is of %s with %d of the slots %v", o.Name(), s.Optimizer, len(s.Slots), s.Names)
	}
	return nil
}

// Group gives the tensors whose names begin with Prefix their own learning rate.
type Group struct {
	Prefix string  `json:"prefix"` // of the tensors' names
	Rate   float64 `json:"rate"`   // factor of the optimiser's rate; 0 freezes them
}

// Rates returns the factor of the learning rate for every tensor: that of the first group
// whose prefix its name has, otherwise 1. A group without tensors is an error.
func Rates(p Params, groups []Group) ([]float64, error) {
	rates, used := make([]float64, len(p)), make([]bool, len(groups))
	for i, v := range p {
		rates[i] = 1
		k := slices.IndexFunc(groups, func(g Group) bool { return strings.HasPrefix(v.Name, g.Prefix) })
		if k >= 0 {
			rates[i], used[k] = groups[k].Rate, true
		}
	}
	for k, g := range groups {
		if !used[k] {
			return nil, fmt.Errorf("no tensor of the model has the prefix %q of a group", g.Prefix)
		}
		if !(g.Rate >= 0) || math.IsInf(g.Rate, 1) {
			return nil, fmt.Errorf("the rate of the group %q is %v", g.Prefix, g.Rate)
		}
	}
	return rates, nil
}

// namedJSON returns the JSON of an optimiser: its name with its fields.
func namedJSON(o Optimizer, fields any) ([]byte, error) {
	return json.Marshal(map[string]any{o.Name(): fields})
}

// SlotsChanged must be called after a write to the slots by anything but Step.
func (s *OptimizerState) SlotsChanged() { s.moved = nil }

// findMoved finds the tensors, of n, that have a slot with a number other than 0.
func (s *OptimizerState) findMoved(n int) {
	if s.moved != nil {
		return
	}
	s.moved = make([]bool, n)
	for _, slot := range s.Slots {
		for i := range slot {
			s.moved[i] = s.moved[i] || slices.ContainsFunc(slot[i].Data, func(v float32) bool { return v != 0 })
		}
	}
}

// beginStep checks the arguments of a step, counts the step and returns the tensors that it
// changes. A tensor without gradient, momentum and decay does not change and is skipped.
func beginStep[T float32 | float64](o Optimizer, decays bool, p Params, grads [][]T, s *OptimizerState, rates []float64) (moves []int, err error) {
	if err := s.checkOptimizer(o); err != nil {
		return nil, err
	}
	if rates != nil && len(rates) != len(p) || len(grads) != len(p) {
		return nil, fmt.Errorf("%s: %d rates and %d gradients for %d tensors", o.Name(), len(rates), len(grads), len(p))
	}
	if err := CheckGradient(p, grads); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name(), err)
	}
	if err := checkFinite(o.Name(), p, grads, s.T+1); err != nil {
		return nil, err
	}
	s.T++
	s.findMoved(len(p))
	for i := range p {
		switch {
		case p[i].State, rateFactor(rates, i) == 0, grads[i] == nil && !s.moved[i] && !decays:
			continue
		case grads[i] == nil:
			grads[i] = make([]T, len(p[i].Data))
		}
		s.moved[i] = true
		moves = append(moves, i)
	}
	return moves, nil
}

// stepByKernel makes a step of an optimiser by its kernel.
func stepByKernel[T float32 | float64](o kernelOptimizer, p Params, grads [][]T, s *OptimizerState, rates []float64) error {
	moves, err := beginStep(o, o.decays(), p, grads, s, rates)
	if err != nil {
		return err
	}
	for _, i := range moves {
		rule := o.kernel(o.StepParams(s.T, rateFactor(rates, i)))
		array.Split(len(grads[i]), func(from, to int) {
			slots := make([][]float32, len(s.Slots))
			for j, slot := range s.Slots {
				slots[j] = slot[i].Data[from:to]
			}
			kernels.Step(rule, p[i].Data[from:to], slots, grads[i][from:to])
		})
	}
	return nil
}

// rateFactor returns the factor of tensor i's rate, 1 without rates.
func rateFactor(rates []float64, i int) float64 {
	if rates == nil {
		return 1
	}
	return rates[i]
}

// CheckGradient returns an error for a gradient of other sizes than the weights: it has one slice per tensor, as
// long as the tensor, or nil where it is 0 or the tensor is state.
func CheckGradient[T float32 | float64](p Params, grads [][]T) error {
	if len(grads) != len(p) {
		return fmt.Errorf("the gradient has %d tensors, the weights %d", len(grads), len(p))
	}
	for i, g := range grads {
		if g != nil && len(g) != len(p[i].Data) {
			return fmt.Errorf("the gradient of %s (tensor %d) has %d numbers, the weight %d", p[i].Name, i, len(g), len(p[i].Data))
		}
	}
	return nil
}

// checkFinite returns an error with the first element of a gradient that is not finite.
func checkFinite[T float32 | float64](method string, p Params, grads [][]T, step int) error {
	for i, g := range grads {
		if j := firstNotFinite(g); j >= 0 {
			return NotFinitef(p[i].Name, "%s: the gradient of %s is %v at element %d in step %d", method, p[i].Name, g[j], j, step)
		}
	}
	return nil
}

// firstNotFinite returns the index of the first number that is NaN or infinite, or -1.
func firstNotFinite[T float32 | float64](x []T) int {
	var bad atomic.Bool
	array.Split(len(x), func(from, to int) {
		if !kernels.Finite(x[from:to]) {
			bad.Store(true)
		}
	})
	if !bad.Load() {
		return -1
	}
	return slices.IndexFunc(x, func(v T) bool { return v-v != 0 })
}
