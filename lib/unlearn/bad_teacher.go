// Bad Teacher in RULER's form.

package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/train"
)

// BadTeacher distils a randomly initialised model into the student (RULER appendix A.11,
// after Chundawat et al. 2023):
//
//	minimise alpha CE(Dr) + (1 - alpha) KL_T(random || student on Dr) + KL_T(random || student on Df)
//
// for 10 epochs of Adam at 5e-4 with alpha = 0.6 and T = 2; the teacher has dropout off.
//
// Differences: (1) Chundawat et al. use two teachers, the original on Dr and the untrained
// model on Df; RULER uses the untrained one for both and adds labels. Their method is
// BadTeacherChundawat. (2) The paper names 101 and 102 as additional teacher seeds but not
// its main one; here, as in the published program, it is 101. (3) Both losses on Dr share
// one forward pass and its dropout mask. (4) The teacher of a network that begins with published weights
// (model.Pretrained) has these too, and is untrained on the records alone.
type BadTeacher struct {
	Epochs      int      `json:"epochs,omitempty" default:"10"`
	LR          float64  `json:"lr,omitempty" default:"5e-4"`
	Alpha       *float64 `json:"alpha,omitempty" default:"0.6"`
	Temperature float64  `json:"temperature,omitempty" default:"2"`
	TeacherSeed int      `json:"teacher_seed,omitempty" default:"101"`
	// Batched takes a mini-batch of the forget set with each of the retain set, starting over when
	// it runs out. The whole forget set is too much where it has thousands of records.
	Batched bool `json:"batched,omitempty"`
	// WeightDecay makes the optimiser AdamW with this decay, as in RULER's experiment on texts; 0:
	// Adam.
	WeightDecay float64 `json:"weight_decay,omitempty"`
}

// Info implements Method.
func (BadTeacher) Info() Info {
	return Info{
		Name: "bad-teacher", Sees: Sees{Original: true, Forget: true, Retain: true}, Distils: true,
		Does: "learns the outputs of an untrained model, and the labels of the retain set",
		From: "RULER's simplification of Chundawat et al. 2023",
	}
}

// Unlearn implements Method.
func (m BadTeacher) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	teacher := model.InitialWeights(r.Runner.Arch, engine.Root(m.TeacherSeed).Stream(engine.StreamInit))
	r, err := r.withTeacher(teacher)
	if err != nil {
		return nil, err
	}
	retain, err := r.distillTarget(teacher, r.Retain, m.Temperature, 1-*m.Alpha)
	if err != nil {
		return nil, err
	}
	forget, err := r.distillTarget(teacher, r.Forget, m.Temperature, 1)
	if err != nil {
		return nil, err
	}
	own, err := r.ownTarget(r.Retain, *m.Alpha)
	if err != nil {
		return nil, err
	}
	o := train.Objective{
		r.term("retain", r.Retain, false, own, retain),
		r.term("forget", r.Forget, !m.Batched, forget),
	}
	return r.minimiseBy(ctx, adam(m.LR, m.WeightDecay), o, m.Epochs)
}
