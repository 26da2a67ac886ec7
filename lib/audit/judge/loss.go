package judge

import (
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
)

// Loss is a membership attack on losses: can the forgotten records be told from records that the
// model was not trained on?
//
//	AUC = P( loss(forget) < loss(held out) ) + P( equal ) / 2
//
// over all forget and all held-out records, with DeLong's interval.
//
// Null: 0.5, if both have the same distribution. Above it the forgotten records look like members;
// below it they are fitted worse than non-members, which reveals them too.
type Loss struct{}

var _ Scorer = Loss{}

// Name implements Lens.
func (Loss) Name() string { return "loss" }

// About implements Lens.
func (Loss) About() About {
	return About{
		Asks: "Can the losses of forgotten records be told from those of held-out records?",
		How: "AUC of the loss, the chance that a forgotten record is fitted better than a held-out one, with DeLong's interval. " +
			"The chance floor is the exact distribution of the Mann-Whitney statistic below 20 records and normal above.",
		Source: "the threshold attack of Yeom et al. 2018, without a threshold",
		Null:   NonmemberNull,
		Family: OutputFamily,
	}
}

// Needs implements Lens.
func (Loss) Needs() Needs { return Needs{Arrays: []Array{Losses}, Sets: []Set{HeldOut}} }

// Read implements Lens.
func (l Loss) Read(e *Evidence, m *Model) (*audit.Reading, error) { return readScores(l, e, m) }

// Scores implements Scorer.
func (Loss) Scores(e *Evidence, m *Model) (*Scores, error) {
	return &Scores{Forget: Scored{e.Forget, negatedAt(m.Losses, e.Forget)}, HeldOut: Scored{e.HeldOut, negatedAt(m.Losses, e.HeldOut)}}, nil
}

// aucReading returns how well scores, higher for members, tell forgotten records (Members) from
// held-out records.
func aucReading(j Lens, m *Model, s attack.Samples) (*audit.Reading, error) {
	return audit.SignedAUC(j.Name(), m.Name, s)
}

// level is the coverage of every interval in a report.
const level = 0.95

func negatedAt(x []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = -x[i]
	}
	return out
}

func valuesAt[T any](x []T, rows []int) []T {
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = x[i]
	}
	return out
}
