// How far the activations of a text's tokens are from a teacher's, or from a direction.

package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// TokenActivations is the name of an output with the activations of one layer, D numbers each, of
// the P tokens of a record that count: row d P + p is channel d of token p. TeacherActivations is
// the same of a teacher inside the network.
const (
	TokenActivations   = "token-activations"
	TeacherActivations = "teacher-token-activations"
)

// ActivationDistance is the squared distance of the activations h_p of a record's tokens from
// what Target says, D numbers for the whole record, or with Teacher from the teacher's activations
// c_p of the same tokens (the two parts of RMU, Li et al. 2024, equations 1 and 2):
//
//	sum_p w_p ||h_p - c_p||^2 / D
//
// The weights w_p are the input NextWeights.
type ActivationDistance struct {
	Width   int  `json:"width"` // D; it must be given, as the output's width is D P
	Teacher bool `json:"teacher,omitempty"`
}

var _ Loss = ActivationDistance{}

// Name implements Loss.
func (ActivationDistance) Name() string { return "activation-distance" }

// About implements Loss.
func (ActivationDistance) About() string {
	return "the activations of a text's tokens against a direction, or against a teacher's"
}

// Inputs implements Loss.
func (l ActivationDistance) Inputs(outputs map[string]int) (map[string]int, error) {
	positions, err := positionsOf(l, l.Width, outputs, TokenActivations)
	if err != nil {
		return nil, err
	}
	if l.Teacher {
		_, err := OutputWidth(l, outputs, TeacherActivations)
		return map[string]int{NextWeights: positions}, err
	}
	return map[string]int{NextWeights: positions, Target: l.Width}, nil
}

// Check implements Loss.
func (l ActivationDistance) Check(in map[string]array.Matrix[float32]) error {
	return checkWeights("token", in[NextWeights])
}

// Graph implements Loss.
func (l ActivationDistance) Graph(g Batch) Value {
	h, weights := g.Outputs[TokenActivations], g.Inputs[NextWeights]
	positions, n := weights.Shape().Dimensions[0], weights.Shape().Dimensions[1]
	view := func(x *Node) *Node { return Reshape(x, l.Width, positions, n) }
	to := func() *Node {
		if l.Teacher {
			return view(g.Outputs[TeacherActivations])
		}
		return BroadcastToDims(Reshape(g.Inputs[Target], l.Width, 1, n), l.Width, positions, n)
	}()
	apart := Sub(view(h), to)
	each := Mul(DivScalar(ReduceSum(Square(apart), 0), float64(l.Width)), weights)
	pull := MulScalar(Mul(apart, BroadcastToDims(Reshape(weights, 1, positions, n), l.Width, positions, n)), 2/float64(l.Width))
	byHere := Reshape(pull, l.Width*positions, n)
	v := Value{ReduceAndKeep(each, ReduceSum, 0), map[string]*Node{TokenActivations: byHere}}
	if l.Teacher {
		v.Adjoints[TeacherActivations] = Neg(byHere)
	}
	return v
}
