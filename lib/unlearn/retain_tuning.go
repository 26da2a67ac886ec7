// Retain-only fine-tuning with early stopping.

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// RetainTuning is the retain-only fine-tuning of "Fishing for Privacy" (section 4.2,
// appendix B):
//
//	minimise L(Dr)
//
// with L the original's objective, by Adam at 1e-4 in batches of 256, for at most 50
// epochs. After every epoch it computes the loss on a sample of a tenth of the retained
// records, at most 1,000; it stops when that has not fallen for 10 epochs and returns the
// weights with the lowest loss. It never sees a record of the forget set.
//
// It is also the last stage of that paper's other methods. With their number of epochs it
// is the control that the paper lacks: how much of them is this stage.
//
// Differences: (1) as in the published program the sample is trained on too, so that it
// says little about other records; with Apart it is not trained on. (2) The program draws
// latent variables for the sample's loss and averages over batches; here nothing is drawn
// and it is the mean over records. (3) Of fewer than ten records the sample is one; the
// program's is empty.
type RetainTuning struct {
	Epochs   int     `json:"epochs,omitempty" default:"50"` // at most
	LR       float64 `json:"lr,omitempty" default:"1e-4"`
	Batch    int     `json:"batch,omitempty" default:"256"`   // a request's own batch size has priority
	Patience int     `json:"patience,omitempty" default:"10"` // epochs
	Sample   int     `json:"sample,omitempty" default:"1000"` // greatest number of records; at most a tenth of all
	Apart    bool    `json:"apart,omitempty"`
}

// Info implements Method.
func (RetainTuning) Info() Info {
	return Info{
		Name: "retain-tuning", Sees: Sees{Original: true, Retain: true}, General: true, Version: tunedVersion(false),
		Does: "goes on training on the retain set until the loss on a sample of it stops falling",
		From: "Fishing for Privacy, as coded",
	}
}

// Unlearn implements Method.
func (m RetainTuning) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	return m.tuneFrom(ctx, r, r.Original, "")
}

// tuneFrom tunes the weights start; note describes how they were made. The hooks are for
// these epochs alone: after a stop the first stage is repeated.
func (m RetainTuning) tuneFrom(ctx context.Context, r Request, start nn.Params, note string) (*Outcome, error) {
	if m.Epochs < 1 || m.Patience < 0 || m.Sample < 1 || m.Batch < 1 {
		return nil, fmt.Errorf("%d epochs in batches of %d, patience %d, a sample of %d records", m.Epochs, m.Batch, m.Patience, m.Sample)
	}
	sample, rest := r.splitRetained(sampleSize(m.Sample, r.Retain.X.Rows))
	if !m.Apart {
		rest = r.Retain
	}
	c := train.Config{Epochs: m.Epochs, Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Seed}
	out, err := r.fitValidated(ctx, start, rest, sample, c, m.Patience)
	if err != nil {
		return nil, err
	}
	out.Note = note + out.Note
	return out, nil
}

// sampleSize returns how many of n retained records choose an epoch. It is that of the programs of "Fishing for Privacy",
// min(1000, len(retain) // 10), with another greatest number, and at least one.
func sampleSize(most, n int) int { return min(most, max(1, n/10)) }

// tunedVersion returns the version of methods that end with RetainTuning. In version 1 the sample was of 1,000 retained records
// or of all.
func tunedVersion(untuned bool) int {
	if untuned {
		return 1
	}
	return 2
}

// fitValidated trains weights on one set of records and returns the epoch that is best on
// another, with nothing drawn; patience as in train.Validation.
func (r Request) fitValidated(ctx context.Context, start nn.Params, on, by Data, c train.Config, patience int) (*Outcome, error) {
	o, err := r.objective("retain", on, false, 1)
	if err != nil {
		return nil, err
	}
	v, err := r.validation(by, r.stepScale.patience(patience, c, o))
	if err != nil {
		return nil, err
	}
	c.Epochs = r.stepScale.epochs(c.Epochs, c, o)
	plan := train.Plan{Passes: singlePass(o), Validation: v}
	p, history, err := train.FitPlan(ctx, r.Runner, start, plan, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p, History: history, Note: bestEpochNote(history)}, nil
}

// validation evaluates epochs on records, unchanged.
func (r Request) validation(by Data, patience int) (*train.Validation, error) {
	r.Augment = nil
	o, err := r.objective("retain", by, false, 1)
	return &train.Validation{Objective: o, Patience: patience}, err
}

// tuneUnless is tuneFrom for a method for which this stage is optional.
func (m RetainTuning) tuneUnless(ctx context.Context, r Request, untuned bool, start nn.Params, note string) (*Outcome, error) {
	if untuned {
		return &Outcome{Params: start, Note: note}, nil
	}
	return m.tuneFrom(ctx, r, start, note+"; ")
}

// bestEpochNote names the epoch that was best in validation.
func bestEpochNote(history []train.Epoch) string {
	best := slices.MinFunc(history, func(a, b train.Epoch) int { return cmp.Compare(*a.Valid, *b.Valid) })
	return fmt.Sprintf("epoch %d of %d", best.Epoch, len(history))
}

// splitRetained draws k records of the retain set and returns them and the rest.
func (r Request) splitRetained(k int) (drawn, rest Data) {
	rows := r.Seed.Stream(engine.StreamValidation).Perm(r.Retain.X.Rows)
	slices.Sort(rows[:k])
	slices.Sort(rows[k:])
	return r.Retain.selectRows(rows[:k]), r.Retain.selectRows(rows[k:])
}

// selectRows returns the records with these indices.
func (d Data) selectRows(list []int) Data {
	out := Data{X: d.X.Gather(list), NonMembers: d.NonMembers, Synthetic: d.Synthetic}
	for _, i := range list {
		out.IDs = append(out.IDs, d.IDs[i])
		if d.Y != nil {
			out.Y = append(out.Y, d.Y[i])
		}
	}
	return out
}
