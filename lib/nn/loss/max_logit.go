package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// MaxLogit is the cross-entropy against no of the surest yes among logits z, each a
// question of its own, as where several critics ask whether a record was trained on:
//
//	max over c of log(1 + exp(z_c))
//
// With Probability it is the largest probability of yes, max over c of 1/(1 + exp(-z_c)).
type MaxLogit struct {
	Probability bool `json:"probability,omitempty"`
}

var _ Loss = MaxLogit{}

// Name implements Loss.
func (MaxLogit) Name() string { return "surest" }

// About implements Loss.
func (MaxLogit) About() string { return "the surest yes among several questions, against no" }

// Inputs implements Loss.
func (l MaxLogit) Inputs(outputs map[string]int) (map[string]int, error) {
	_, err := outputWidth(l, outputs, nn.Logits)
	return map[string]int{}, err
}

// Check implements Loss.
func (MaxLogit) Check(map[string]array.Matrix[float32]) error { return nil }

// Graph implements Loss; the library differentiates the maximum.
func (l MaxLogit) Graph(g Batch) Value {
	z := ReduceAndKeep(g.Outputs[nn.Logits], ReduceMax, 0)
	if l.Probability {
		return Value{Losses: Sigmoid(z)}
	}
	return Value{Losses: Add(MaxScalar(z, 0), Log1P(Exp(Neg(Abs(z)))))}
}
