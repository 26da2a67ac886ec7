// SCRUB with rewinding, as published.

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// SCRUBKurmanji is SCRUB with rewinding as published by Kurmanji et al. (2023, "Towards
// Unbounded Machine Unlearning", section 3; SCRUB+R). The original is the frozen teacher,
// with dropout off, of a copy of itself. Each of 10 epochs is
//
//	in the first 3: ascend KL_T(teacher || student) on Df, in batches
//	in all:         descend CE(Dr) + alpha KL_T(teacher || student) on Dr
//
// one pass after the other with one Adam at 5e-4, divided by 10 after epochs 5, 8 and 9;
// alpha = 0.5, T = 2, batches of 32. The result is rewound: of the weights after every
// epoch it takes those whose accuracy on Df is nearest to that of the last weights on
// held-out records, with classes weighted as in the forget set; of equal ones the latest.
// These are the settings of the published program for small data, from which RULER's
// simplification, SCRUB, has its rate, T and epochs.
//
// Differences from the published program: (1) there, batches of the forget set have 64
// records and those of the retain set 32; here both have the same size, a request's own
// where it has one. (2) Its Adam has a weight decay of 0.1, as in the training of its
// originals; here there is none. (3) Its settings for large data are others: gradient
// descent, T = 4, a weight of 0.001 on the divergence. (4) It measures the held-out error
// on images of the forget set's classes; here every class is weighted by its share of the
// forget set, which is the same for a single class. (5) The weights after every epoch are
// needed at the end, so that a stopped run starts over.
type SCRUBKurmanji struct {
	Epochs      int      `json:"epochs,omitempty" default:"10"`
	Ascents     int      `json:"ascents,omitempty" default:"3"` // epochs that begin with an ascent
	LR          float64  `json:"lr,omitempty" default:"5e-4"`
	Alpha       *float64 `json:"alpha,omitempty" default:"0.5"` // of the divergence on Dr; new(0.0): none
	Temperature float64  `json:"temperature,omitempty" default:"2"`
	Batch       int      `json:"batch,omitempty" default:"32"` // a request's own batch size has priority
	KeepLast    bool     `json:"keep_last,omitempty"`          // without rewinding
}

// Info implements Method.
func (SCRUBKurmanji) Info() Info {
	return Info{
		Name: "scrub-kurmanji", Sees: Sees{Original: true, Forget: true, Retain: true, HeldOut: true},
		Does: "moves away from the original's outputs on the forget set and back to them on the retain set, pass by pass, and rewinds to the epoch " +
			"whose accuracy on the forget set is nearest to that on held-out records",
		From: "Kurmanji et al. 2023, as published",
	}
}

// Unlearn implements Method.
func (m SCRUBKurmanji) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	keep, err := r.distillTarget(r.Original, r.Retain, m.Temperature, *m.Alpha)
	if err != nil {
		return nil, err
	}
	leave, err := r.distillTarget(r.Original, r.Forget, m.Temperature, -1)
	if err != nil {
		return nil, err
	}
	up := train.Objective{r.term("forget", r.Forget, false, leave)}
	down := train.Objective{r.term("retain", r.Retain, false, r.labelTarget(r.Retain, 1), keep)}

	c := train.Config{Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Seed}
	c.Epochs = r.stepScale.epochs(m.Epochs, c, down)
	stretched := func(epochs int) int { return int(math.Round(float64(epochs) * float64(c.Epochs) / float64(m.Epochs))) }
	c.Schedule = train.Steps(stretched(5), stretched(8), stretched(9))
	plan := train.Plan{Passes: func(epoch int) ([]train.Objective, error) {
		if epoch < stretched(m.Ascents) {
			return []train.Objective{up, down}, nil
		}
		return []train.Objective{down}, nil
	}}

	var after []nn.Params
	p, history, err := train.FitPlan(ctx, r.Runner, r.Original, plan, c, r.collectEpochs(&after))
	if err != nil || m.KeepLast {
		return &Outcome{Params: p, History: history}, err
	}
	k, err := r.rewindEpoch(after)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: after[k], History: history, Note: fmt.Sprintf("rewound to epoch %d of %d", k+1, len(after))}, nil
}

// collectEpochs returns the request's hooks, from the start, extended to collect the
// weights after every epoch.
func (r Request) collectEpochs(after *[]nn.Params) train.Hooks {
	h := train.Hooks{Progress: r.Hooks.Progress, SaveEvery: 1}
	h.Save = func(s *train.State) error {
		if s.Done > len(*after) {
			*after = append(*after, s.Params.Clone())
		}
		if r.Hooks.Save == nil {
			return nil
		}
		return r.Hooks.Save(s)
	}
	return h
}

// rewindEpoch returns the epoch, from 0, after which the accuracy on the forget set is
// nearest to the last model's expected accuracy from held-out records; of equal ones the
// latest.
func (r Request) rewindEpoch(after []nn.Params) (int, error) {
	last, err := r.measureAccuracies(after[len(after)-1])
	if err != nil {
		return 0, err
	}
	best, nearest := len(after)-1, math.Abs(last.forget-last.expected)
	for k := best - 1; k >= 0; k-- {
		forget, _, err := r.accuracy(after[k], r.Forget)
		if err != nil {
			return 0, err
		}
		if d := math.Abs(forget - last.expected); d < nearest {
			best, nearest = k, d
		}
	}
	return best, nil
}
