package judge

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// MeanLoss is the mean loss of a set of records. The interval is that of stats.PositiveMean, which
// stays above 0 as losses do; if losses are negative, as of densities, it is Student's.
//
// Null: none; only a retrained model shows how well records that were not trained on are fitted.
// For the forget set memory lies below the retrained model's value. For the other sets the loss is
// the cost of forgetting, and less is better.
type MeanLoss struct{ Set Set }

var _ Lens = MeanLoss{}

// Name implements Lens.
func (j MeanLoss) Name() string { return "loss of " + j.Set.adjective() }

// About implements Lens.
func (j MeanLoss) About() About {
	return About{
		Asks:   "How well does the model fit " + j.Set.adjective() + " records?",
		How:    "Mean loss, -log p of the label or what losses.npy says, with an interval over records that stays above 0 (stats.PositiveMean).",
		Source: "the losses that papers on unlearning print",
		Family: OutputFamily,
	}
}

// Needs implements Lens.
func (j MeanLoss) Needs() Needs { return Needs{Arrays: []Array{Losses}, Sets: []Set{j.Set}} }

// Read implements Lens.
func (j MeanLoss) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	losses := valuesAt(m.Losses, e.rows(j.Set))
	mean := stats.PositiveMean
	if slices.Min(losses) < 0 { // of a density
		mean = stats.MeanInterval
	}
	r := readingWithoutNull(j, m, audit.Below, mean(losses, level, "records"))
	r.NoEvidence = audit.TiedValues(losses)
	return r, nil
}
