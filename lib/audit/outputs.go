package audit

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Outputs is a membership attack on losses: can the forgotten records be told from records that the
// model was not trained on?
//
//	AUC = P( loss(forgotten) < loss(held out) ) + P( equal ) / 2
//
// over the forgotten records and the half of the test part that RULER's loss-threshold attack keeps
// for scoring. The interval is DeLong's, over records, or Obuchowski's over groups of records
// (stats.ClusterAUC); the floor is that of the AUC's distance from 0.5.
//
// Null: 0.5. Above it the forgotten records look like members (memory). Below it they are fitted
// worse than non-members (over-unlearning), which reveals them as well.
type Outputs struct{}

var _ Lens = Outputs{}

// Name implements Lens.
func (Outputs) Name() string { return "outputs" }

// Info implements Lens.
func (Outputs) Info() Info {
	return Info{
		Measures: "signed AUC of a loss-threshold attack, forgotten against held-out records",
		Family:   OutputFamily,
		Needs:    Needs{Arrays: []Array{LossArray}, Sets: []Set{Retain, HeldOut}},
		High:     1,
	}
}

// Read implements Lens.
func (l Outputs) Read(e *Evidence, m *Arrays) (*Reading, error) {
	r, err := attack.LossThreshold{}.Run(e.lossesByRole(m))
	if err != nil {
		return nil, err
	}
	return e.signedAUC(l.Name(), m.Name, scoredOf(r.Scores.Members, e.Forget), scoredOf(r.Scores.Nonmembers, e.HeldOut))
}

// lossesByRole returns a model's losses on the records of each set, with the groups of held-out ones.
func (e *Evidence) lossesByRole(m *Arrays) attack.Losses {
	return attack.Losses{
		Retained: valuesAt(m.Losses, e.Retain), Forgotten: valuesAt(m.Losses, e.Forget), HeldOut: valuesAt(m.Losses, e.HeldOut),
		HeldOutClusters: e.Clusters(e.HeldOut),
	}
}

// scoredOf returns the rows and scores of examples, which are numbered within a set.
func scoredOf(examples []attack.Example, set []int) Scored {
	out := Scored{make([]int, len(examples)), make([]float64, len(examples))}
	for i, e := range examples {
		out.Rows[i], out.Values[i] = set[e.Record], e.Score
	}
	return out
}

// SignedAUC returns the reading of scores that are higher for members: the AUC with DeLong's
// interval, which accounts for ties, and the chance floor of its distance from 0.5. It is no
// evidence where either sample has fewer than MinRecords, or by TiedScores.
func SignedAUC(lens, model string, s attack.Samples) (*Reading, error) {
	e, err := stats.DeLong(s.Members, s.Nonmembers, 0.95)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", lens, err)
	}
	floor := stats.ChanceFloor(len(s.Members), len(s.Nonmembers))
	return &Reading{
		Lens: lens, Model: model, Memory: Above, Contrast: true, Estimate: e.WithNull(0.5, stats.NearNull),
		// The floor is of |2 AUC - 1|, twice the distance from 0.5.
		Floor:      stats.Floor{Mean: floor.Mean / 2, P95: floor.P95 / 2},
		NoEvidence: firstReason(TooFewRecords(min(len(s.Members), len(s.Nonmembers)), "records in the smaller set"), TiedScores(s.Members, s.Nonmembers)),
	}, nil
}
