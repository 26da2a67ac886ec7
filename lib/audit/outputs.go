package audit

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Outputs asks an adversary who sees losses: can the forgotten records be told
// from records that the model never met?
//
//	AUC = P( loss(forgotten) < loss(held out) ) + P( equal ) / 2
//
// over the forgotten records and the half of the test part that RULER's
// loss-threshold attack keeps for judging. The interval is DeLong's, over
// records; the floor is that of the signed AUC's distance from 0.5.
//
// Null: 0.5. Above it the forgotten records look like members (memory); below
// it they are fitted worse than strangers (over-unlearning), which gives them
// away as surely.
type Outputs struct{}

var _ Lens = Outputs{}

// Name implements Lens.
func (Outputs) Name() string { return "outputs" }

// About implements Lens.
func (Outputs) About() string {
	return "signed AUC of a loss-threshold attack, forgotten against held-out records"
}

// Look implements Lens.
func (l Outputs) Look(c *Case, m *Model) (*Reading, error) {
	losses, err := c.Losses(m)
	if err != nil {
		return nil, err
	}
	r, err := attack.LossThreshold{}.Run(losses)
	if err != nil {
		return nil, err
	}
	return SignedAUC(l.Name(), m.Label, &r.ScoreReport), nil
}

// SignedAUC is the reading of scores, higher for members: the signed AUC, with the
// floor of its distance from 0.5.
func SignedAUC(lens, model string, r *attack.ScoreReport) *Reading {
	half := 0.5
	return &Reading{
		Lens: lens, Model: model, Memory: Above,
		Estimate: stats.Estimate{
			Value: r.AUC.Value, Low: r.AUC.Low, High: r.AUC.High, Level: 0.95, Over: "records",
			Null: &half, Better: stats.NearNull, N: r.NMembers + r.NNonmembers,
		},
		// The floor is of |2 AUC - 1|, twice the distance from 0.5.
		Floor: stats.Floor{Mean: r.Advantage.ChanceMean / 2, P95: r.Advantage.ChanceP95 / 2},
	}
}

// signed is the reading of one number of each record: the AUC that the first ones are
// higher than the second ones, with the floor of its distance from 0.5.
func signed(l Lens, m *Model, higher, lower []float64) (*Reading, error) {
	e, err := stats.DeLong(higher, lower, 0.95)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	floor := stats.ChanceFloor(len(higher), len(lower))
	return &Reading{
		Lens: l.Name(), Model: m.Label, Memory: Above, Estimate: e.Against(0.5, stats.NearNull),
		// The floor is of |2 AUC - 1|, twice the distance from 0.5.
		Floor: stats.Floor{Mean: floor.Mean / 2, P95: floor.P95 / 2},
	}, nil
}
