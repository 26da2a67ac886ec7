// Distillation from a teacher: a classifier learns from outputs that are computed before, a
// language model from a teacher inside its network.

package unlearn

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// maskedModel is a network with a head for masked language modelling.
type maskedModel interface {
	model.Architecture
	Loss() loss.MaskedLanguage
}

// suits returns an error if the method cannot work on the request's model.
func (r Request) suits(m Info) error {
	if m.NextToken {
		_, err := r.nextToken()
		return err
	}
	_, err := r.Runner.Classes()
	if err == nil || m.General || m.Distils && isLanguageModel(r.Runner.Arch) {
		return nil
	}
	return fmt.Errorf("needs a classifier and its labels: %w", err)
}

func isLanguageModel(a model.Architecture) bool {
	_, masked := a.(maskedModel)
	_, next := a.(text.NextTokenModel)
	return masked || next
}

// withTeacher returns the request with the teacher inside the network of a language model: the
// scores of all tokens at all positions are too many to keep, and hidden tokens are others in every
// epoch. Of a classifier it is r.
func (r Request) withTeacher(teacher nn.Params) (Request, error) {
	if !isLanguageModel(r.student()) {
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

// student returns the network of the request without the teacher that withTeacher has put beside it,
// on single records.
func (r Request) student() model.Architecture {
	own := r.Runner.Arch
	if both, is := own.(model.WithTeacher); is {
		own = both.Student
	}
	if pairs, is := own.(model.Paired); is {
		return pairs.Of
	}
	return own
}

// hasTeacher reports whether a teacher is inside the network.
func (r Request) hasTeacher() bool {
	_, is := r.Runner.Arch.(model.WithTeacher)
	return is
}

// distillTarget returns the distillation loss from the outputs of the teacher p on records d. It
// is asked of the request that withTeacher returned for p.
func (r Request) distillTarget(p nn.Params, d Data, temperature, weight float64) (train.Target, error) {
	if !r.hasTeacher() {
		out, err := r.Runner.Predict(p, d.X)
		if err != nil {
			return train.Target{}, fmt.Errorf("the teacher: %w", err)
		}
		return train.Distillation(out.Logits(), temperature, weight), nil
	}
	switch m := r.student().(type) {
	case text.NextTokenModel:
		in, err := m.NextInputs(d.X)
		l := loss.NextDistillation{Vocabulary: m.Loss().Vocabulary, Temperature: temperature}
		return train.Target{Loss: l, Inputs: in, Weight: weight}, err
	case maskedModel:
		l := loss.MaskedDistillation{Vocabulary: m.Loss().Vocabulary, Temperature: temperature}
		return train.Target{Loss: l, Weight: weight}, nil
	}
	return train.Target{}, fmt.Errorf("%s with a teacher inside is no language model", r.student().Name())
}

// ownTarget returns the loss of a classifier with the records' own labels, and of a language model
// with the tokens that are hidden or follow.
func (r Request) ownTarget(d Data, weight float64) (train.Target, error) {
	switch m := r.student().(type) {
	case text.NextTokenModel:
		in, err := m.NextInputs(d.X)
		return train.Target{Loss: m.Loss(), Inputs: in, Weight: weight}, err
	case maskedModel:
		return train.Target{Loss: m.Loss(), Weight: weight}, nil
	}
	return r.labelTarget(d, weight), nil
}

// freezeTeacher adds to a configuration that the weights of a teacher inside the network stay.
func (r Request) freezeTeacher(c train.Config) train.Config {
	if r.hasTeacher() {
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
