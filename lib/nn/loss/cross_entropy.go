// The cross-entropy of logits against target probabilities, minus their entropy.

package loss

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Probabilities is the name of the input of losses that compare a classifier's output with
// a distribution over the classes. A label is a one-hot distribution.
const Probabilities = "probabilities"

// CrossEntropy is the cross-entropy of a classifier's logits z against target probabilities
// p, minus the entropy of p,
//
//	KL(p || softmax(z)) = -sum_c p_c log softmax(z)_c + sum_c p_c log p_c
//
// For a label y it is -log softmax(z)_y.
type CrossEntropy struct{}

var _ Loss = CrossEntropy{}

// Name implements Loss.
func (CrossEntropy) Name() string { return "cross-entropy" }

// About implements Loss.
func (CrossEntropy) About() string {
	return "a classifier against labels or target probabilities"
}

// Inputs implements Loss.
func (l CrossEntropy) Inputs(outputs map[string]int) (map[string]int, error) {
	return probabilityInputs(l, outputs)
}

// Check implements Loss.
func (CrossEntropy) Check(in map[string]array.Matrix[float32]) error {
	return checkDistributions(in[Probabilities])
}

// Graph implements Loss.
func (CrossEntropy) Graph(g Batch) Value { return distill(g, 1) }

// Labels returns class numbers as one-hot rows. A number outside the classes gives a row of
// zeros, for which Check returns an error with the record's number.
func Labels(y []int, classes int) array.Matrix[float32] {
	m := array.New[float32](len(y), classes)
	for i, c := range y {
		if c >= 0 && c < classes {
			m.Row(i)[c] = 1
		}
	}
	return m
}

func probabilityInputs(l Loss, outputs map[string]int) (map[string]int, error) {
	classes, err := OutputWidth(l, outputs, nn.Logits)
	return map[string]int{Probabilities: classes}, err
}

func distill(g Batch, temperature float64) Value {
	losses, adjoint := nn.Distill(g.Outputs[nn.Logits], g.Inputs[Probabilities], temperature)
	return Value{losses, map[string]*Node{nn.Logits: adjoint}}
}

// checkDistributions returns an error if the target of a record is not a distribution over
// the classes. The gradient of the loss, softmax minus target, is correct only if the
// target adds up to 1.
func checkDistributions(p array.Matrix[float32]) error {
	for i := range p.Rows {
		var total float64
		for c, v := range p.Row(i) {
			if v < 0 {
				return fmt.Errorf("record %d has probability %v of class %d", i, v, c)
			}
			total += float64(v)
		}
		if math.Abs(total-1) > 1e-3 {
			return fmt.Errorf("the probabilities of record %d add up to %v, not 1", i, total)
		}
	}
	return nil
}
