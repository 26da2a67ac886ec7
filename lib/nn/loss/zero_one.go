package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// ZeroOne is the 0-1 loss of a classifier: 1 if another logit is larger than that of the
// record's label, else 0. Its mean is the error rate. It has no gradient; use it in a
// Watch or a Validation.
type ZeroOne struct{}

var _ Loss = ZeroOne{}

// Name implements Loss.
func (ZeroOne) Name() string { return "mistake" }

// About implements Loss.
func (ZeroOne) About() string { return "whether a classifier is wrong, without a gradient" }

// Inputs implements Loss.
func (l ZeroOne) Inputs(outputs map[string]int) (map[string]int, error) {
	return probabilityInputs(l, outputs)
}

// Check implements Loss.
func (ZeroOne) Check(in map[string]array.Matrix[float32]) error {
	return checkDistributions(in[Probabilities])
}

// Graph implements Loss.
func (ZeroOne) Graph(g Batch) Value {
	z := g.Outputs[nn.Logits]
	own := ReduceAndKeep(Mul(z, g.Inputs[Probabilities]), ReduceSum, 0)
	wrong := ConvertDType(LessThan(own, ReduceAndKeep(z, ReduceMax, 0)), z.DType())
	return Value{wrong, map[string]*Node{nn.Logits: ZerosLike(z)}}
}
