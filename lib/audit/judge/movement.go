// The lens on movement: RULER's M3 (equation 4), how far unlearning moved
// embeddings to the retrained model's.

package judge

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Movement asks whether unlearning moved the forgotten records towards the retrained model: RULER's
// M3 (equation 4), by how much their embeddings are closer to the retrained model's than the
// original's were.
//
// Null: 0, nothing moved. The original lies there, and retrained models above. Two retrained models
// are needed, for the reason given at AgainstRetrained.
type Movement struct{}

var _ Lens = Movement{}

// Name implements Lens.
func (Movement) Name() string { return "movement" }

// About implements Lens.
func (Movement) About() About {
	return About{
		Asks: "Did unlearning move the embeddings of forgotten records towards a retrained model's?",
		How: "M3: mean over forgotten records of the cosine similarity to the retrained model's embedding, less that of the original, with " +
			"Student's interval. 0 is where the original stands.",
		Source: "RULER, equation 4",
		Family: RepresentationFamily,
	}
}

// Needs implements Lens.
func (Movement) Needs() Needs {
	return Needs{Arrays: []Array{Embedding}, Original: 1, Retrained: 2}
}

// collapsedReason returns the reason against a comparison of embeddings of which one collapsed.
func collapsedReason(e *ruler.Evidence) audit.Reason {
	for _, x := range []array.Rows{e.Unlearned, e.Oracle, e.Original} {
		if why := audit.CollapsedRows("embeddings", x, e.Forget, e.Retain); why.Call != "" {
			return why
		}
	}
	return audit.Reason{}
}

// Read implements Lens.
func (j Movement) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	evidence, err := e.rulerEvidence(m, e.OtherModel(Retrained, m), e.ModelsOf(Original)[0])
	if err != nil {
		return nil, err
	}
	r, _, err := ruler.M3(*evidence, ruler.Options{ZeroNorm: ruler.AsPublished})
	if err != nil {
		return nil, err
	}
	unknown := stats.Floor{Mean: math.NaN(), P95: math.NaN()}
	return &audit.Reading{
		Lens: j.Name(), Model: m.Name, Memory: audit.Below, Estimate: *r, Floor: unknown, Coordinates: true, NoEvidence: collapsedReason(evidence),
	}, nil
}
