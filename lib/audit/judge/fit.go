package judge

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Fit is the mean loss of a set of records, with the interval of stats.PositiveMean, which
// is above 0 as losses are; losses below 0 get Student's.
//
// Null: none, only a retrained model says how well one fits the records that never had
// them. Of the forget set memory lies below; of the other sets it is what forgetting
// cost, and less is better.
type Fit struct{ On Set }

var _ Judgement = Fit{}

// Name implements Judgement.
func (j Fit) Name() string { return "loss of " + j.On.words() }

// About implements Judgement.
func (j Fit) About() About {
	return About{
		Asks:   "How well does the model fit " + j.On.words() + " records?",
		How:    "Mean loss, -log p of the label or what losses.npy says, with an interval over records that stays above 0 (stats.PositiveMean).",
		From:   "the losses that papers on unlearning print",
		Family: OutputFamily,
	}
}

// Needs implements Judgement.
func (j Fit) Needs() Needs { return Needs{Arrays: []Array{Losses}, Sets: []Set{j.On}} }

// Judge implements Judgement.
func (j Fit) Judge(e *Evidence, m *Model) (*audit.Reading, error) {
	losses := pick(m.Losses, e.rows(j.On))
	mean := stats.PositiveMean
	if slices.Min(losses) < 0 { // of a density
		mean = stats.MeanInterval
	}
	r := plainReading(j, m, audit.Below, mean(losses, level, "records"))
	r.NoEvidence = audit.TiedValues(losses)
	return r, nil
}
