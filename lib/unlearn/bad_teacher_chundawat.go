// Bad Teacher as published.

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/train"
)

// BadTeacherChundawat distils two teachers, as published by Chundawat et al. (2023, "Can
// Bad Teaching Induce Forgetting?", section 4): the original on retained records and an
// untrained model on the records to forget,
//
//	minimise the mean over both of KL(teacher of x || student)
//
// for one epoch of Adam at 1e-4 in batches of 256, over Df and a random 30 % of Dr,
// shuffled together; T = 1, teachers with dropout off. It uses no labels.
//
// Differences from the published program: (1) its loss is also divided by the number of
// classes, which does not matter to Adam. (2) With a temperature T other than 1 the
// divergence is multiplied by T^2, as in the other distillation methods here. (3) Its
// random teacher has no seed; here it has that of BadTeacher. (4) With augmentation, the
// teachers' outputs are those on unchanged records. (5) The random teacher of a network that begins with
// published weights (model.Pretrained) has these too.
type BadTeacherChundawat struct {
	Epochs      int     `json:"epochs,omitempty" default:"1"`
	LR          float64 `json:"lr,omitempty" default:"1e-4"`
	Share       float64 `json:"share,omitempty" default:"0.3"` // of the retain set
	Temperature float64 `json:"temperature,omitempty" default:"1"`
	Batch       int     `json:"batch,omitempty" default:"256"` // a request's own batch size has priority
	TeacherSeed int     `json:"teacher_seed,omitempty" default:"101"`
}

// Info implements Method.
func (BadTeacherChundawat) Info() Info {
	return Info{
		Name: "bad-teacher-chundawat", Sees: Sees{Original: true, Forget: true, Retain: true},
		Does: "learns the outputs of an untrained model on the forget set and the original's on a part of the retain set",
		From: "Chundawat et al. 2023, as published",
	}
}

// Unlearn implements Method.
func (m BadTeacherChundawat) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if !(m.Share > 0 && m.Share <= 1) {
		return nil, fmt.Errorf("a share of %v of the retain set; it must be above 0 and at most 1", m.Share)
	}
	bad := model.InitialWeights(r.Runner.Arch, engine.Root(m.TeacherSeed).Stream(engine.StreamInit))
	forget, err := r.Runner.Predict(bad, r.Forget.X)
	if err != nil {
		return nil, fmt.Errorf("the untrained teacher: %w", err)
	}
	kept := r.sampleRetained(m.Share)
	retain, err := r.Runner.Predict(r.Original, kept.X)
	if err != nil {
		return nil, fmt.Errorf("the trained teacher: %w", err)
	}
	z := array.Matrix[float32]{
		Rows: forget.Logits().Rows + retain.Logits().Rows, Cols: forget.Logits().Cols,
		Data: slices.Concat(forget.Logits().Data, retain.Logits().Data),
	}
	o := train.Objective{r.term("forget and retain", concatData(r.Forget, kept), false, train.Distillation(z, m.Temperature, 1))}
	r.Batch = cmp.Or(r.Batch, m.Batch)
	return r.minimise(ctx, o, m.Epochs, m.LR, nil)
}

// sampleRetained returns a random share of the retained records, rounded down, at least
// one, in their original order.
func (r Request) sampleRetained(share float64) Data {
	n := r.Retain.X.Rows
	rows := r.Seed.Stream(engine.StreamShare).Perm(n)[:max(1, int(share*float64(n)))]
	slices.Sort(rows)
	d := Data{X: r.Retain.X.Gather(rows)}
	for _, i := range rows {
		d.Y, d.IDs = append(d.Y, r.Retain.Y[i]), append(d.IDs, r.Retain.IDs[i])
	}
	return d
}
