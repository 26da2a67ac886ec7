package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Mistake counts a classifier's wrong answers: 1 where another logit is larger than that of
// the record's label, else 0. Its mean is the share of wrong answers, which has no
// gradient: it is for who watches.
type Mistake struct{}

var _ Loss = Mistake{}

// Name implements Loss.
func (Mistake) Name() string { return "mistake" }

// About implements Loss.
func (Mistake) About() string { return "whether a classifier is wrong, without a gradient" }

// Inputs implements Loss.
func (l Mistake) Inputs(outputs map[string]int) (map[string]int, error) {
	return probabilities(l, outputs)
}

// Check implements Loss.
func (Mistake) Check(in map[string]array.Matrix[float32]) error {
	return distributions(in[Probabilities])
}

// Graph implements Loss.
func (Mistake) Graph(g Given) Value {
	z := g.Outputs[nn.Logits]
	own := ReduceAndKeep(Mul(z, g.Inputs[Probabilities]), ReduceSum, 0)
	wrong := ConvertDType(LessThan(own, ReduceAndKeep(z, ReduceMax, 0)), z.DType())
	return Value{wrong, map[string]*Node{nn.Logits: ZerosLike(z)}}
}
