package audit

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/stats"
)

// PairedTruthRatio is forget quality for questions that are paired: the mean difference of ln R from
// the first retrained model other than the model that is read, question by question
// (language.PairedQuality). It needs two retrained models, as AgainstRetrained does: two models of
// different seeds differ, and enough questions show it.
//
// Null: 0. Below it the model prefers right answers more than a retrained model does, which is memory.
// There is no p-value here: with one retrained model it says that two models differ, not that one of
// them remembers (language.Calibrate says what many retrained models add).
type PairedTruthRatio struct{}

var _ Lens = PairedTruthRatio{}

// Name implements Lens.
func (PairedTruthRatio) Name() string { return "paired truth ratio" }

// Info implements Lens.
func (PairedTruthRatio) Info() Info {
	return Info{
		Measures: "mean difference of the logarithm of the truth ratio from a retrained model's",
		Asks:     "Does the model prefer the right answers more than a retrained model does, question by question?",
		How: "Mean over forgotten questions of ln R less that of another retrained model, with Student's interval over questions. Retrained " +
			"models are compared with each other, which shows the effect of another seed.",
		Source: "forget quality of Maini et al. 2024 (TOFU), for pairs",
		Family: OutputFamily,
		Needs:  Needs{Arrays: []Array{AnswerArray}, Retrained: 2},
	}
}

// Read implements Lens.
func (l PairedTruthRatio) Read(e *Evidence, m *Arrays) (*Reading, error) {
	logs, err := e.logRatios(m)
	if err != nil {
		return nil, err
	}
	theirs, err := e.logRatios(e.OtherModel(Retrained, m))
	if err != nil {
		return nil, err
	}
	tied := TiedValues(logs)
	differences := slices.Clone(logs)
	for k := range differences {
		differences[k] -= theirs[k]
	}
	r := e.readingWithoutNull(l, m, Below, stats.ClusterInterval(differences, e.Clusters(e.Forget), level, e.Units()).WithNull(0, stats.NearNull))
	r.NoEvidence = firstReason(e.tooFewForgotten(), r.NoEvidence, tied, TiedValues(differences))
	return r, nil
}
