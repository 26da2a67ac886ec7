package audit

import (
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Threshold is RULER's loss-threshold attack (section 4.3), attack.LossThreshold. A threshold is
// learned on retained records and half of the held-out records. The value is the balanced accuracy
// with which it tells the forgotten records from the other half.
//
// Null: 0.5, if forget and held-out records have the same distribution. Above it the forgotten
// records are called members.
type Threshold struct{}

var _ Lens = Threshold{}

// Name implements Lens.
func (Threshold) Name() string { return "loss threshold" }

// Info implements Lens.
func (Threshold) Info() Info {
	return Info{
		Measures: "balanced accuracy of RULER's loss-threshold attack, forgotten against held-out records",
		Asks:     "Does a threshold on the loss, learned on other records, call the forgotten records members?",
		How: "Balanced accuracy on as many forgotten as held-out records of the threshold that tells retained records from the other half " +
			"of the held-out ones best, with Wilson's interval. The chance floor is that of fair coins. Groups of held-out records are not " +
			"parted between the halves.",
		Source: "RULER, section 4.3",
		Null:   NonmemberNull,
		High:   1,
		Family: OutputFamily,
		Needs:  Needs{Arrays: []Array{LossArray}, Sets: []Set{Retain, HeldOut}},
	}
}

// Read implements Lens.
func (j Threshold) Read(e *Evidence, m *Arrays) (*Reading, error) {
	losses := e.lossesByRole(m)
	r, err := attack.LossThreshold{}.Run(losses)
	if err != nil {
		return nil, err
	}
	accuracy, err := e.balancedAccuracy(r)
	if err != nil {
		return nil, err
	}
	worst := stats.Floor{}
	if c := accuracy.Clustered; c != nil {
		worst = stats.ChanceFloorBalanced(c.Smallest)
	}
	return &Reading{
		Lens: j.Name(), Model: m.Name, Memory: Above, Contrast: true, Membership: true, Estimate: accuracy,
		Floor: r.Chance.Clustered(accuracy.Clustered, worst, 0.5),
		NoEvidence: firstReason(TooFewRecords(r.Evaluated, "records in the smaller set that is judged"), TiedScores(losses.Forgotten, losses.HeldOut),
			e.tooFewGroups(accuracy.Clustered)),
	}, nil
}

// balancedAccuracy returns the balanced accuracy of an attack, with its interval over groups where
// the records that it judged are in groups.
func (e *Evidence) balancedAccuracy(r *attack.Result) (stats.Estimate, error) {
	right, rows := make([][]bool, 2), make([][]int, 2)
	for side, examples := range [][]attack.Example{r.Scores.Members, r.Scores.Nonmembers} {
		for _, x := range examples {
			if x.Evaluated {
				right[side] = append(right[side], x.Called == x.Member)
				rows[side] = append(rows[side], [][]int{e.Forget, e.HeldOut}[side][x.Record])
			}
		}
	}
	of := []stats.Clusters{e.Clusters(rows[0]), e.Clusters(rows[1])}
	if of[0].Trivial(of[1]) {
		return r.BalancedAccuracy, nil
	}
	share, err := stats.ClusterShare(right, of, level, e.Units())
	return share.WithNull(0.5, stats.NearNull), err
}
