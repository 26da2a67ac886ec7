package audit

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Probability is the mean probability of the forgotten texts, normalised by their length
// (language.Probability). It needs losses alone:
//
//	mean over forgotten texts of exp(mean of the tokens' log-probabilities)
//
// Null: none; only a retrained model shows how probable such texts are without a memory. Memory lies
// above its value. It is between 0 and 1.
type Probability struct{}

var _ Lens = Probability{}

// Name implements Lens.
func (Probability) Name() string { return "probability" }

// Info implements Lens.
func (Probability) Info() Info {
	return Info{
		Measures: "mean probability of forgotten texts, normalised by their length",
		Asks:     "How probable are the forgotten texts?",
		How: "Mean over forgotten texts of exp(-loss), where a loss is minus the mean log-probability of the tokens, with an interval over texts " +
			"that stays between 0 and 1.",
		Source: "Maini et al. 2024 (TOFU), section 2.2",
		Family: OutputFamily,
		Needs:  Needs{Arrays: []Array{LossArray}},
		Texts:  true,
		High:   1,
	}
}

// Read implements Lens.
func (l Probability) Read(e *Evidence, m *Arrays) (*Reading, error) {
	if len(e.Forget) == 0 {
		return nil, errNothingForgotten
	}
	losses := valuesAt(m.Losses, e.Forget)
	values := make([]float64, len(losses))
	for k, v := range losses {
		values[k] = math.Exp(-v)
		if !(values[k] >= 0 && values[k] <= 1) {
			return nil, fmt.Errorf("audit: the lens %q: record %d has the loss %v, and no probability is above 1", l.Name(), e.Forget[k], v)
		}
	}
	r := e.readingWithoutNull(l, m, Above, stats.ClusterBounded(values, e.Clusters(e.Forget), level, e.Units()))
	r.NoEvidence = firstReason(e.tooFewForgotten(), r.NoEvidence, TiedValues(losses))
	return r, nil
}
