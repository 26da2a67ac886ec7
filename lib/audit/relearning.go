// The lens on relearning: whether a model learns the forgotten records again
// sooner than held-out ones.

package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Relearning measures how fast a model learns the forgotten records again (the relearn time of
// Golatkar, Achille and Soatto 2020, section 5, and of the anamnesis index, Chundawat et al. 2023).
// Records that were hidden and not forgotten come back sooner. The model is trained on forgotten
// and held-out records together, with the settings of the case's models, and
//
//	time(x) = epochs until the loss on x is at most the median retained record's
//	AUC = P( time(forgotten) < time(held out) ) + P( equal ) / 2
//
// The loss is interpolated linearly between epochs. A record that starts below the bar has a time
// of 0, and one that does not reach it Epochs + 1. The interval is DeLong's, over records, for this
// one training, or that of stats.ClusterAUC over groups; the floor is that of the AUC's distance from 0.5.
//
// Null: 0.5, forgotten records are learned like non-members. Above it they are learned sooner
// (memory). If most records meet the bar at once, the lens is one of losses: expect it to agree
// with Outputs. Times are tied at both ends by definition, which is no collapse: the reading is no
// evidence only where the losses at the start are tied (TiedScores).
//
// Differences from the papers:
//
//  1. they count the epochs of the whole forget set and need the oracle's count to read it; here
//     non-members are learned at the same time, so that the difficulty of records is in both, and the
//     oracle is only a control;
//  2. the bar is the model's own loss on retained records; theirs is the original's loss on the forget
//     set;
//  3. training uses these records alone, as there.
type Relearning struct {
	Epochs     int // 0: 20
	MaxHeldOut int // held-out records at most; 0: 400
}

var _ Lens = Relearning{}

// Name implements Lens.
func (Relearning) Name() string { return "relearning" }

// Info implements Lens.
func (Relearning) Info() Info {
	return Info{Measures: "signed AUC of how soon records are learned again, forgotten against held-out records", High: 1, Needs: Needs{Case: true}}
}

// Read implements Lens.
func (l Relearning) Read(e *Evidence, m *Arrays) (*Reading, error) {
	forgotten, held, rows, err := l.relearnTimes(e.Case, m.Model)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	losses, err := e.Case.Losses(m.Model)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	r, err := e.contrastAUC(l.Name(), m.Name, Scored{valuesAt(e.HeldOut, rows), held}, Scored{e.Forget, forgotten})
	if err == nil && r.NoEvidence.Call == CannotTell {
		r.NoEvidence = firstReason(TiedScores(losses.Forgotten, losses.HeldOut), e.tooFewGroups(r.Clustered))
	}
	return r, err
}

// relearnTimes returns the times of the forgotten records and of some held-out records, whose places among
// the held-out ones are chosen.
func (l Relearning) relearnTimes(c *Case, m *Model) (forgotten, held []float64, chosen []int, err error) {
	epochs, most := cmp.Or(l.Epochs, 20), cmp.Or(l.MaxHeldOut, 400)
	if epochs < 1 || most < 1 {
		return nil, nil, nil, fmt.Errorf("%d epochs, %d held-out records", epochs, most)
	}
	losses, err := c.Losses(m)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(losses.Forgotten) == 0 || len(losses.HeldOut) == 0 {
		return nil, nil, nil, errors.New("there are no forgotten or no held-out records")
	}
	bar, err := stats.Median(losses.Retained)
	if err != nil {
		return nil, nil, nil, err
	}
	seed := engine.Root(drawSeed + c.Shift)
	chosen = seed.Stream(engine.StreamRelearn).Perm(len(losses.HeldOut))
	chosen = chosen[:min(len(chosen), most)]
	slices.Sort(chosen)
	curves := [][]float64{slices.Concat(losses.Forgotten, valuesAt(losses.HeldOut, chosen))}
	members, nonmembers := c.Problem.Train.Gather(c.Forget), c.Test.Gather(rowsAt(c.EvalRows(), chosen))
	part := datasets.Part{X: stackRows(members.X, nonmembers.X), Y: slices.Concat(members.Y, nonmembers.Y)}
	for i := range part.Y {
		part.IDs = append(part.IDs, i)
	}
	if err := l.trainAndRecord(c, m, part, epochs, seed, func(of []float64) { curves = append(curves, of) }); err != nil {
		return nil, nil, nil, err
	}
	times := make([]float64, len(part.Y))
	for i := range times {
		times[i] = timeToReach(curves, i, bar)
	}
	return times[:len(c.Forget)], times[len(c.Forget):], chosen, nil
}

// trainAndRecord trains on the records and calls tell with their losses after every epoch.
func (l Relearning) trainAndRecord(c *Case, m *Model, part datasets.Part, epochs int, seed engine.Root, tell func(losses []float64)) error {
	goal := c.goal()
	judging, ok := goal.(lab.PerRecordLoss)
	if !ok {
		return fmt.Errorf("the goal %s has no loss of a single record", goal.Name())
	}
	o, err := goal.Objective(c.Problem.WithRecords(unlearn.Data{X: part.X, Y: part.Y, IDs: part.IDs}), part.IDs)
	if err != nil {
		return err
	}
	fit := train.Config{Epochs: epochs, Batch: c.Fit.Batch, Optimizer: c.Fit.Optimizer, Seed: seed}
	look := func(w nn.Params) error {
		p, err := c.Runner.Predict(w, part.X)
		if err != nil {
			return err
		}
		losses, err := judging.RecordLosses(p, part)
		tell(losses)
		return err
	}
	var last error
	_, _, err = train.Fit(context.Background(), c.Runner, m.Weights.Clone(), o, fit, train.Hooks{SaveEvery: 1, Save: func(s *train.State) error {
		last = look(s.Params[:len(m.Weights)])
		return last
	}})
	return cmp.Or(err, last)
}

// timeToReach returns when record i's loss comes down to the bar, in epochs; curves holds the
// losses by epoch.
func timeToReach(curves [][]float64, i int, bar float64) float64 {
	if curves[0][i] <= bar {
		return 0
	}
	for e := 1; e < len(curves); e++ {
		if now, before := curves[e][i], curves[e-1][i]; now <= bar {
			return float64(e) - (bar-now)/(before-now)
		}
	}
	return float64(len(curves))
}

// goal returns the goal that unlearning and lenses on single records assume the training had.
func (c *Case) goal() lab.Goal {
	switch g := c.Goal.(type) {
	case nil:
		return lab.Labels{}
	case lab.FinalGoal:
		return g.FinalGoal()
	default:
		return g
	}
}

// valuesAt returns the values of these rows.
func valuesAt[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = values[i]
	}
	return out
}
