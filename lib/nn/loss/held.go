package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// Held is the value of another loss without its gradient: it counts, and moves nothing.
type Held struct {
	Of Loss `json:"of"`
}

var _ Loss = Held{}

// Name implements Loss.
func (l Held) Name() string { return "held-" + l.Of.Name() }

// About implements Loss.
func (l Held) About() string { return l.Of.About() + ", without its gradient" }

// Inputs implements Loss.
func (l Held) Inputs(outputs map[string]int) (map[string]int, error) { return l.Of.Inputs(outputs) }

// Check implements Loss.
func (l Held) Check(in map[string]array.Matrix[float32]) error { return l.Of.Check(in) }

// Graph implements Loss.
func (l Held) Graph(g Given) Value {
	return Value{l.Of.Graph(g).Losses, map[string]*Node{}}
}
