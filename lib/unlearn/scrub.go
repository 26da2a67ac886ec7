package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/train"
)

// SCRUB makes a student, a copy of the original, agree with the frozen original on the
// retain set and disagree with it on the forget set (RULER section 4.2, after Kurmanji et
// al. 2023):
//
//	minimise alpha KL_T(teacher || student on Dr) - (1 - alpha) KL_T(teacher || student on Df)
//
// for 10 epochs of Adam at 5e-4 with alpha = 0.6 and T = 2. KL_T is the batch mean of T^2
// KL between outputs softened by T; the teacher has dropout off.
//
// Differences from Kurmanji et al.: (1) both parts are one joint step, where SCRUB
// alternates max-steps and min-steps; (2) there is no cross-entropy on the retain set; (3)
// there is no rewinding. All three are the RULER program's; for the published method see
// SCRUBKurmanji.
type SCRUB struct {
	Epochs      int      `json:"epochs,omitempty" default:"10"`
	LR          float64  `json:"lr,omitempty" default:"5e-4"`
	Alpha       *float64 `json:"alpha,omitempty" default:"0.6"`
	Temperature float64  `json:"temperature,omitempty" default:"2"`
	// Batched takes a mini-batch of the forget set with each of the retain set, starting over when
	// it runs out. The whole forget set is too much where it has thousands of records.
	Batched bool `json:"batched,omitempty"`
	// WeightDecay makes the optimiser AdamW with this decay, as in RULER's experiment on texts; 0:
	// Adam.
	WeightDecay float64 `json:"weight_decay,omitempty"`
}

// Info implements Method.
func (SCRUB) Info() Info {
	return Info{
		Name: "scrub", Sees: Sees{Original: true, Forget: true, Retain: true}, Distils: true,
		Does: "keeps the original's outputs on the retain set and moves away from them on the forget set, in one joint step",
		From: "RULER's simplification of Kurmanji et al. 2023",
	}
}

// Unlearn implements Method.
func (m SCRUB) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	teacher := r.Original
	r, err := r.withTeacher(teacher)
	if err != nil {
		return nil, err
	}
	keep, err := r.distillTarget(teacher, r.Retain, m.Temperature, *m.Alpha)
	if err != nil {
		return nil, err
	}
	leave, err := r.distillTarget(teacher, r.Forget, m.Temperature, *m.Alpha-1)
	if err != nil {
		return nil, err
	}
	o := train.Objective{
		r.term("retain", r.Retain, false, keep),
		r.term("forget", r.Forget, !m.Batched, leave),
	}
	return r.minimiseBy(ctx, adam(m.LR, m.WeightDecay), o, m.Epochs)
}
