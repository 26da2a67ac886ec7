package audit

// ReferenceModel compares losses with those of a reference model, which was trained neither on the
// forgotten nor on the held-out records, or knows both alike: a language model before fine-tuning,
// for example. The value is the AUC of the difference (language.Reference):
//
//	score = loss under the reference model - loss
//
// Null: 0.5, if forgotten and held-out records have the same distribution. Above it forgotten records
// look like members. A reference model that was trained on the forgotten records hides a memory.
type ReferenceModel struct{}

var _ Lens = ReferenceModel{}

// Name implements Lens.
func (ReferenceModel) Name() string { return "reference model" }

// Info implements Lens.
func (ReferenceModel) Info() Info {
	return Info{
		Measures: "signed AUC of the loss less that of a reference model, forgotten against held-out records",
		Asks:     "Does the model fit forgotten records better than a reference model does, more than it does held-out ones?",
		How: "AUC of the loss under the reference model less the loss under the model, with DeLong's interval; floor as for the loss. The " +
			"first reference model is taken.",
		Source:    "Carlini et al. 2021",
		Null:      NonmemberNull,
		High:      1,
		Family:    CalibratedFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{LossArray}, Sets: []Set{HeldOut}, Reference: 1},
	}
}

// Read implements Lens.
func (l ReferenceModel) Read(e *Evidence, m *Arrays) (*Reading, error) {
	reference := e.ModelsOf(Reference)[0]
	score := func(rows []int) Scored {
		out := negatedAt(m.Losses, rows)
		for k, i := range rows {
			out[k] += reference.Losses[i]
		}
		return Scored{rows, out}
	}
	tied := TiedScores(valuesAt(m.Losses, e.Forget), valuesAt(m.Losses, e.HeldOut))
	return e.ScoresReading(l, m, Scores{score(e.Forget), score(e.HeldOut)}, tied)
}
