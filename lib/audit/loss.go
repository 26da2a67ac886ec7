package audit

// Loss is a membership attack on losses: can the forgotten records be told from records that the
// model was not trained on?
//
//	AUC = P( loss(forget) < loss(held out) ) + P( equal ) / 2
//
// over all forget and all held-out records, with DeLong's interval, or Obuchowski's over groups of
// records (stats.ClusterAUC).
//
// Null: 0.5, if both have the same distribution. Above it the forgotten records look like members;
// below it they are fitted worse than non-members, which reveals them too.
type Loss struct{}

var _ Lens = Loss{}

// Name implements Lens.
func (Loss) Name() string { return "loss" }

// Info implements Lens.
func (Loss) Info() Info {
	return Info{
		Measures: "signed AUC of the loss, forgotten against held-out records",
		Asks:     "Can the losses of forgotten records be told from those of held-out records?",
		How: "AUC of the loss, the chance that a forgotten record is fitted better than a held-out one, with DeLong's interval. " +
			"The chance floor is the exact distribution of the Mann-Whitney statistic below 20 records and normal above.",
		Source:    "the threshold attack of Yeom et al. 2018, without a threshold",
		Null:      NonmemberNull,
		High:      1,
		Family:    OutputFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{LossArray}, Sets: []Set{HeldOut}},
	}
}

// Read implements Lens.
func (l Loss) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return e.ScoresReading(l, m, Scores{Scored{e.Forget, negatedAt(m.Losses, e.Forget)}, Scored{e.HeldOut, negatedAt(m.Losses, e.HeldOut)}})
}

// level is the coverage of every interval in a report.
const level = 0.95

func negatedAt(x []float64, rows []int) []float64 { return negated(valuesAt(x, rows)) }

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}
