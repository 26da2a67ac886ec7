package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// NoGradient is the value of another loss without its gradient: it is part of the
// objective's value but does not change weights.
type NoGradient struct {
	Of Loss `json:"of"`
}

var _ Loss = NoGradient{}

// Name implements Loss.
func (l NoGradient) Name() string { return "held-" + l.Of.Name() }

// About implements Loss.
func (l NoGradient) About() string { return l.Of.About() + ", without its gradient" }

// Inputs implements Loss.
func (l NoGradient) Inputs(outputs map[string]int) (map[string]int, error) {
	return l.Of.Inputs(outputs)
}

// Check implements Loss.
func (l NoGradient) Check(in map[string]array.Matrix[float32]) error { return l.Of.Check(in) }

// Graph implements Loss.
func (l NoGradient) Graph(g Batch) Value {
	return Value{l.Of.Graph(g).Losses, map[string]*Node{}}
}
