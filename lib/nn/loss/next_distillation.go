// The distance of a language model that predicts the next token from a teacher.

package loss

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// NextTeacherLogits is the name of the teacher's NextLogits: an output of the network that is
// trained, which has its teacher inside (see model.WithTeacher).
const NextTeacherLogits = "teacher-next-logits"

// NextDistillation is Distillation at the tokens that follow. For the student's scores z_p at the
// p-th token that counts, y_p, and the teacher's t_p with that token's score lowered by Penalty
//
//	T^2 sum_p w_p KL(softmax((t_p - Penalty [v = y_p]) / T) || softmax(z_p / T))
//
// With a Penalty it is the loss of self-distillation with adjusted scores (UNDIAL, Dong et al.
// 2025), but for the entropy of the adjusted teacher, on which no gradient depends.
type NextDistillation struct {
	Vocabulary  int     `json:"vocabulary"`            // number of tokens
	Temperature float64 `json:"temperature,omitempty"` // 0: 1
	Penalty     float64 `json:"penalty,omitempty"`     // 0: the teacher as it is
}

var _ Loss = NextDistillation{}

// Name implements Loss.
func (NextDistillation) Name() string { return "next-distillation" }

// About implements Loss.
func (NextDistillation) About() string {
	return "a language model against a teacher's probabilities of the token that follows"
}

// Inputs implements Loss.
func (l NextDistillation) Inputs(outputs map[string]int) (map[string]int, error) {
	if _, err := OutputWidth(l, outputs, NextTeacherLogits); err != nil {
		return nil, err
	}
	return nextInputs(l, l.Vocabulary, outputs)
}

// Check implements Loss.
func (l NextDistillation) Check(in map[string]array.Matrix[float32]) error {
	switch {
	case !(l.Temperature >= 0) || math.IsInf(l.Temperature, 0):
		return fmt.Errorf("the temperature is %v", l.Temperature)
	case !(l.Penalty >= 0) || math.IsInf(l.Penalty, 0):
		return fmt.Errorf("the penalty is %v", l.Penalty)
	}
	return checkNext(l, l.Vocabulary, in)
}

// Graph implements Loss.
func (l NextDistillation) Graph(g Batch) Value {
	teacher := g.Outputs[NextTeacherLogits]
	if l.Penalty != 0 {
		t := readTokens(teacher, g.Inputs[NextTokens], l.Vocabulary)
		z := Reshape(teacher, t.vocabulary, t.positions*t.n)
		teacher = t.scores(Where(t.stands(g.Inputs[NextTokens]), AddScalar(z, -l.Penalty), z))
	}
	losses, byStudent, byTeacher := tokenDistillation{l.Vocabulary, l.Temperature}.graph(g.Outputs[NextLogits], teacher, g.Inputs[NextWeights])
	return Value{losses, map[string]*Node{NextLogits: byStudent, NextTeacherLogits: byTeacher}}
}
