// The distance of a language model from a teacher at the masked positions of a record.

package loss

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// TeacherLogits is the name of the teacher's MaskedLogits: an output of the network that is
// trained, which has its teacher inside (see model.WithTeacher). The teacher sees the record with
// the same tokens hidden, other ones in every epoch, so that its scores cannot be inputs.
const TeacherLogits = "teacher-masked-logits"

// MaskedDistillation is Distillation at the masked positions of a language model, with the
// teacher's scores t_p and the student's z_p at position p,
//
//	T^2 sum_p w_p KL(softmax(t_p / T) || softmax(z_p / T))
//
// The weights w_p are the input MaskedWeights; MaskedTokens is read by no part of it.
type MaskedDistillation struct {
	Vocabulary  int     `json:"vocabulary"`            // number of tokens
	Temperature float64 `json:"temperature,omitempty"` // 0: 1
}

var _ Loss = MaskedDistillation{}

// Name implements Loss.
func (MaskedDistillation) Name() string { return "masked-distillation" }

// About implements Loss.
func (MaskedDistillation) About() string {
	return "a language model against a teacher's probabilities of the tokens that were masked"
}

// Inputs implements Loss.
func (l MaskedDistillation) Inputs(outputs map[string]int) (map[string]int, error) {
	if _, err := OutputWidth(l, outputs, TeacherLogits); err != nil {
		return nil, err
	}
	return maskedInputs(l, l.Vocabulary, outputs)
}

// Check implements Loss.
func (l MaskedDistillation) Check(in map[string]array.Matrix[float32]) error {
	if !(l.Temperature >= 0) || math.IsInf(l.Temperature, 0) {
		return fmt.Errorf("the temperature is %v", l.Temperature)
	}
	return checkMasked(l, l.Vocabulary, in)
}

// Graph implements Loss.
func (l MaskedDistillation) Graph(g Batch) Value {
	d := tokenDistillation{l.Vocabulary, l.Temperature}
	losses, student, teacher := d.graph(g.Outputs[MaskedLogits], g.Outputs[TeacherLogits], g.Inputs[MaskedWeights])
	return Value{losses, map[string]*Node{MaskedLogits: student, TeacherLogits: teacher}}
}

// tokenDistillation is the divergence of a student's probabilities of tokens from a teacher's.
type tokenDistillation struct {
	vocabulary  int
	temperature float64 // 0: 1
}

// graph returns the divergence of each record, [1, n], and its derivatives by the scores of the
// student and of the teacher, [vocabulary P, n], for weights [P, n].
func (l tokenDistillation) graph(student, teacher, weights *Node) (losses, byStudent, byTeacher *Node) {
	temperature := l.temperature
	if temperature == 0 {
		temperature = 1
	}
	positions, n := weights.Shape().Dimensions[0], weights.Shape().Dimensions[1]
	every := func(x *Node) *Node { return BroadcastToDims(x, l.vocabulary, positions*n) }
	logProbabilities := func(scores *Node) *Node {
		z := DivScalar(Reshape(scores, l.vocabulary, positions*n), temperature)
		z = Sub(z, StopGradient(every(ReduceAndKeep(z, ReduceMax, 0))))
		return Sub(z, every(Log(ReduceAndKeep(Exp(z), ReduceSum, 0))))
	}
	logP, logQ := logProbabilities(teacher), logProbabilities(student)
	p, apart := Exp(logP), Sub(logP, logQ)
	distance := ReduceAndKeep(Mul(p, apart), ReduceSum, 0)
	w := MulScalar(Reshape(weights, 1, positions*n), temperature)
	back := func(d *Node) *Node { return Reshape(Mul(d, every(w)), l.vocabulary*positions, n) }
	losses = ReduceAndKeep(Reshape(MulScalar(Mul(distance, w), temperature), positions, n), ReduceSum, 0)
	return losses, back(Sub(Exp(logQ), p)), back(Mul(p, Sub(apart, every(distance))))
}
