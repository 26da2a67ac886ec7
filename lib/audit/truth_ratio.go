package audit

import (
	"github.com/lethe-ml/lethe/lib/stats"
)

// TruthRatio says whether the model prefers wrong answers to the right one in other words: the mean
// of ln R over the forgotten questions, with R the geometric truth ratio (language.TruthRatio).
//
// Null: none; only a retrained model shows what can be guessed. Memory lies below its value: a model
// that knows prefers the right answer. The published aggregate, the mean of min(R, 1/R), takes a
// model that prefers wrong answers for one that knows; this does not.
type TruthRatio struct{}

var _ Lens = TruthRatio{}

// Name implements Lens.
func (TruthRatio) Name() string { return "truth ratio" }

// Info implements Lens.
func (TruthRatio) Info() Info {
	return Info{
		Measures: "mean logarithm of the truth ratio of forgotten questions",
		Asks:     "Does the model prefer the right answers to the forgotten questions?",
		How: "Mean over forgotten questions of ln R, R the geometric mean of the wrong answers' probabilities per token over that of the right " +
			"answer in other words, with Student's interval over questions.",
		Source: "Maini et al. 2024 (TOFU), section 2.2.2, in the form of its program",
		Family: OutputFamily,
		Needs:  Needs{Arrays: []Array{AnswerArray}},
	}
}

// Read implements Lens.
func (l TruthRatio) Read(e *Evidence, m *Arrays) (*Reading, error) {
	logs, err := e.logRatios(m)
	if err != nil {
		return nil, err
	}
	r := e.readingWithoutNull(l, m, Below, stats.ClusterInterval(logs, e.Clusters(e.Forget), level, e.Units()))
	r.NoEvidence = firstReason(e.tooFewForgotten(), r.NoEvidence, TiedValues(logs))
	return r, nil
}
