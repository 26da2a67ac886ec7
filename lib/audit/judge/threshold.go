package judge

import (
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
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

// About implements Lens.
func (Threshold) About() About {
	return About{
		Asks: "Does a threshold on the loss, learned on other records, call the forgotten records members?",
		How: "Balanced accuracy on as many forgotten as held-out records of the threshold that tells retained records from the other half " +
			"of the held-out ones best, with Wilson's interval. The chance floor is that of fair coins.",
		Source: "RULER, section 4.3",
		Null:   NonmemberNull,
		Family: OutputFamily,
	}
}

// Needs implements Lens.
func (Threshold) Needs() Needs { return Needs{Arrays: []Array{Losses}, Sets: []Set{Retain, HeldOut}} }

// Read implements Lens.
func (j Threshold) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	r, err := attack.LossThreshold{}.Run(attack.Losses{
		Retained: valuesAt(m.Losses, e.Retain), Forgotten: valuesAt(m.Losses, e.Forget), HeldOut: valuesAt(m.Losses, e.HeldOut),
	})
	if err != nil {
		return nil, err
	}
	why := audit.TooFewRecords(r.Evaluated, "records in the smaller set that is judged")
	if why.Call == "" {
		why = audit.TiedScores(valuesAt(m.Losses, e.Forget), valuesAt(m.Losses, e.HeldOut))
	}
	return &audit.Reading{
		Lens: j.Name(), Model: m.Name, Memory: audit.Above, Estimate: r.BalancedAccuracy, Floor: r.Chance, NoEvidence: why,
	}, nil
}
