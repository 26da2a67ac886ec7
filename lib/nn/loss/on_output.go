// A wrapper that puts a classifier's loss on another output than the logits.

package loss

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// OnOutput is a classifier's loss on another output of the network than nn.Logits. The
// inputs keep their names.
type OnOutput struct {
	Output string `json:"output"`
	Of     Loss   `json:"of"`
}

var _ Loss = OnOutput{}

// Name implements Loss.
func (l OnOutput) Name() string { return l.Output + "-" + l.Of.Name() }

// About implements Loss.
func (l OnOutput) About() string { return l.Of.About() + ", on the output " + l.Output }

// Inputs implements Loss.
func (l OnOutput) Inputs(outputs map[string]int) (map[string]int, error) {
	w, err := OutputWidth(l, outputs, l.Output)
	if err != nil {
		return nil, err
	}
	return l.Of.Inputs(map[string]int{nn.Logits: w})
}

// Check implements Loss.
func (l OnOutput) Check(in map[string]array.Matrix[float32]) error {
	if l.Output == "" {
		return fmt.Errorf("%s: no output named", l.Of.Name())
	}
	return l.Of.Check(in)
}

// Graph implements Loss.
func (l OnOutput) Graph(g Batch) Value {
	v := Build(l.Of, Batch{Outputs: map[string]*Node{nn.Logits: g.Outputs[l.Output]}, Inputs: g.Inputs})
	adjoints := map[string]*Node{}
	if d := v.Adjoints[nn.Logits]; d != nil { // nil: NoGradient
		adjoints[l.Output] = d
	}
	return Value{v.Losses, adjoints}
}
