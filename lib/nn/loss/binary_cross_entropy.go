// The binary cross-entropy of logits against probabilities, one yes-or-no question per output.

package loss

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// BinaryCrossEntropy is the loss of logits z against probabilities p of independent yes/no
// questions, one per output; a label is 1 or 0:
//
//	sum_c log(1 + exp(z_c)) - p_c z_c
//
// With one output it is torch.nn.BCEWithLogitsLoss. The logarithm is computed as
// max(z, 0) + log(1 + exp(-|z|)), which does not overflow.
type BinaryCrossEntropy struct{}

var _ Loss = BinaryCrossEntropy{}

// Name implements Loss.
func (BinaryCrossEntropy) Name() string { return "binary-cross-entropy" }

// About implements Loss.
func (BinaryCrossEntropy) About() string { return "yes-or-no answers, a logit each" }

// Inputs implements Loss.
func (l BinaryCrossEntropy) Inputs(outputs map[string]int) (map[string]int, error) {
	return probabilityInputs(l, outputs)
}

// Check implements Loss.
func (BinaryCrossEntropy) Check(in map[string]array.Matrix[float32]) error {
	p := in[Probabilities]
	for i := range p.Rows {
		for c, v := range p.Row(i) {
			if v < 0 || v > 1 {
				return fmt.Errorf("record %[1]d has probability %[3]v for question %[2]d", i, c, v)
			}
		}
	}
	return nil
}

// Graph implements Loss.
func (BinaryCrossEntropy) Graph(g Batch) Value {
	z, p := g.Outputs[nn.Logits], g.Inputs[Probabilities]
	softplus := Add(MaxScalar(z, 0), Log1P(Exp(Neg(Abs(z)))))
	return Value{
		Losses:   ReduceAndKeep(Sub(softplus, Mul(p, z)), ReduceSum, 0),
		Adjoints: map[string]*Node{nn.Logits: Sub(Sigmoid(z), p)},
	}
}
