package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// MaxLogit is the binary cross-entropy against "no" of the largest of the logits z, as for
// several critics that each predict whether a record was trained on:
//
//	max over c of log(1 + exp(z_c))
//
// With Probability it is the largest probability, max over c of 1/(1 + exp(-z_c)).
type MaxLogit struct {
	Probability bool `json:"probability,omitempty"`
}

var _ Loss = MaxLogit{}

// Name implements Loss.
func (MaxLogit) Name() string { return "surest" }

// About implements Loss.
func (MaxLogit) About() string { return "the largest logit of several yes-or-no questions, against no" }

// Inputs implements Loss.
func (l MaxLogit) Inputs(outputs map[string]int) (map[string]int, error) {
	_, err := OutputWidth(l, outputs, nn.Logits)
	return map[string]int{}, err
}

// Check implements Loss.
func (MaxLogit) Check(map[string]array.Matrix[float32]) error { return nil }

// Graph implements Loss; GoMLX differentiates the maximum.
func (l MaxLogit) Graph(g Batch) Value {
	z := ReduceAndKeep(g.Outputs[nn.Logits], ReduceMax, 0)
	if l.Probability {
		return Value{Losses: Sigmoid(z)}
	}
	return Value{Losses: Add(MaxScalar(z, 0), Log1P(Exp(Neg(Abs(z)))))}
}
