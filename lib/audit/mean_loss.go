package audit

import (
	"slices"

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
func (j MeanLoss) Name() string { return "loss of " + j.Set.Adjective() }

// Info implements Lens.
func (j MeanLoss) Info() Info {
	return Info{
		Measures: "mean loss of " + j.Set.Adjective() + " records",
		Asks:     "How well does the model fit " + j.Set.Adjective() + " records?",
		How: "Mean loss, -log p of the label or what losses.npy says, with an interval over records that stays above 0 (stats.PositiveMean), and " +
			"Student's where a loss lies below 0, as of a density.",
		Source: "the losses that papers on unlearning print",
		Family: OutputFamily,
		Needs:  Needs{Arrays: []Array{LossArray}, Sets: []Set{j.Set}},
	}
}

// Read implements Lens.
func (j MeanLoss) Read(e *Evidence, m *Arrays) (*Reading, error) {
	losses := valuesAt(m.Losses, e.Rows(j.Set))
	mean := stats.ClusterPositive
	if slices.Min(losses) < 0 { // of a density
		mean = stats.ClusterInterval
	}
	r := e.readingWithoutNull(j, m, Below, mean(losses, e.Clusters(e.Rows(j.Set)), level, e.Units()))
	r.NoEvidence = firstReason(TiedValues(losses), r.NoEvidence)
	return r, nil
}
