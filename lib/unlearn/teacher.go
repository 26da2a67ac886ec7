// Distillation from a teacher: a classifier learns from outputs that are computed before, a
// language model from a teacher inside its network.

package unlearn

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// languageModel is a network with a head for masked language modelling.
type languageModel interface {
	model.Architecture
	Loss() loss.MaskedLanguage
}

// suits returns an error if the method cannot work on the request's model.
func (r Request) suits(m Info) error {
	_, err := r.Runner.Classes()
	if err == nil || m.General {
		return nil
	}
	if _, is := r.Runner.Arch.(languageModel); is && m.Distils {
		return nil
	}
	return fmt.Errorf("needs a classifier and its labels: %w", err)
}

// withTeacher returns the request with the teacher inside the network of a language model, whose
// hidden tokens are others in every epoch. Of a classifier it is r.
func (r Request) withTeacher(teacher nn.Params) (Request, error) {
	if _, is := r.Runner.Arch.(languageModel); !is {
		return r, nil
	}
	both := model.WithTeacher{Student: r.Runner.Arch}
	runner, err := model.NewRunner(r.Runner.Engine, both)
	if err != nil {
		return r, fmt.Errorf("the teacher: %w", err)
	}
	r.Runner, r.Original = runner, both.Join(r.Original, teacher)
	return r, nil
}

// studentModel returns the language model whose teacher withTeacher has put beside it.
func (r Request) studentModel() (languageModel, bool) {
	both, is := r.Runner.Arch.(model.WithTeacher)
	if !is {
		return nil, false
	}
	student, is := both.Student.(languageModel)
	return student, is
}

// distillTarget returns the distillation loss from the outputs of the teacher p on records d. It
// is asked of the request that withTeacher returned for p.
func (r Request) distillTarget(p nn.Params, d Data, temperature, weight float64) (train.Target, error) {
	if m, is := r.studentModel(); is {
		l := loss.MaskedDistillation{Vocabulary: m.Loss().Vocabulary, Temperature: temperature}
		return train.Target{Loss: l, Weight: weight}, nil
	}
	out, err := r.Runner.Predict(p, d.X)
	if err != nil {
		return train.Target{}, fmt.Errorf("the teacher: %w", err)
	}
	return train.Distillation(out.Logits(), temperature, weight), nil
}

// ownTarget returns the loss of a classifier with the records' own labels, and of a language model
// with the hidden tokens.
func (r Request) ownTarget(d Data, weight float64) train.Target {
	if m, is := r.studentModel(); is {
		return train.Target{Loss: m.Loss(), Weight: weight}
	}
	return r.labelTarget(d, weight)
}

// freezeTeacher adds to a configuration that the weights of a teacher inside the network stay.
func (r Request) freezeTeacher(c train.Config) train.Config {
	if _, is := r.studentModel(); is {
		c.Groups = append(c.Groups, nn.Group{Prefix: model.TeacherPrefix, Rate: 0})
	}
	return c
}

// studentsOwn returns the weights without those of a teacher inside the network.
func (r Request) studentsOwn(p nn.Params) nn.Params {
	if both, is := r.Runner.Arch.(model.WithTeacher); is {
		return both.OfStudent(p)
	}
	return p
}
