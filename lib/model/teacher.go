// A network with a teacher inside, for distillation where the teacher's outputs cannot be
// computed before.

package model

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
)

// TeacherPrefix begins the names of a teacher's weights and outputs.
const TeacherPrefix = "teacher-"

// WithTeacher is a network, the student, beside another one with the same architecture, the
// teacher, on the same records. It has the student's outputs and, under TeacherPrefix and their
// names, the teacher's. The teacher has dropout off; a training freezes its weights by a
// nn.Group with TeacherPrefix and the rate 0. Its weights are those of Join.
//
// A network whose normalisation uses the batch cannot be a teacher here: its running means would
// change.
type WithTeacher struct {
	Student Architecture
}

var _ Architecture = WithTeacher{}

// Join returns the weights of the student and the teacher together.
func (WithTeacher) Join(student, teacher nn.Params) nn.Params {
	out := student.Clone()
	for _, v := range teacher.Clone() {
		v.Name = TeacherPrefix + v.Name
		out = append(out, v)
	}
	return out
}

// OfStudent returns the student's weights of those of both.
func (WithTeacher) OfStudent(both nn.Params) nn.Params { return both[:len(both)/2] }

// Name implements Architecture.
func (m WithTeacher) Name() string { return m.Student.Name() + "-with-teacher" }

// Inputs implements Architecture.
func (m WithTeacher) Inputs() int { return m.Student.Inputs() }

// Returns implements Architecture.
func (m WithTeacher) Returns() []Output { return returnsTwice(m.Student, TeacherPrefix) }

// Check implements Architecture.
func (m WithTeacher) Check() error {
	return checkTwice(m.Student, "a teacher inside would change with it")
}

// MaxBatch implements MaxBatch.
func (m WithTeacher) MaxBatch() int { return halfBatch(m.Student) }

// Build implements Architecture.
func (m WithTeacher) Build(b *nn.Builder, x *Node) Trace {
	out := m.Student.Build(b, x)
	teacher := b.Sub(TeacherPrefix).WithoutRandomInputs()
	teacher.Tape = &nn.Tape{} // dropped: nothing is learned of the teacher
	for name, value := range m.Student.Build(teacher, x).Outputs {
		out.Outputs[TeacherPrefix+name] = b.Op(value, nil, func(*Node) []*Node { return nil }) // no gradient on purpose
	}
	return out
}
