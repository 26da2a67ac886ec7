package audit

import (
	"github.com/lethe-ml/lethe/lib/attack"
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
			"of the held-out ones best, with Wilson's interval. The chance floor is that of fair coins.",
		Source: "RULER, section 4.3",
		Null:   NonmemberNull,
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
	why := firstReason(TooFewRecords(r.Evaluated, "records in the smaller set that is judged"), TiedScores(losses.Forgotten, losses.HeldOut))
	return &Reading{
		Lens: j.Name(), Model: m.Name, Memory: Above, Estimate: r.BalancedAccuracy, Floor: r.Chance, NoEvidence: why,
	}, nil
}
