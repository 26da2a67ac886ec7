// The lens on movement: RULER's M3 (equation 4), how far unlearning moved
// embeddings to the retrained model's.

package audit

import (
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Movement asks whether unlearning moved the forgotten records towards the retrained model: RULER's
// M3 (equation 4), by how much their embeddings are closer to the retrained model's than the
// original's were.
//
// Null: 0, nothing moved. The original lies there, and retrained models above. Two retrained models
// are needed, for the reason given at AgainstRetrained. A model above them is nearer to one of them than they are to each
// other, and is like them.
type Movement struct{}

var _ Lens = Movement{}

// Name implements Lens.
func (Movement) Name() string { return "movement" }

// Info implements Lens.
func (Movement) Info() Info {
	return Info{
		Measures: "RULER's M3: how far unlearning moved forgotten records towards the retrained model",
		Asks:     "Did unlearning move the embeddings of forgotten records towards a retrained model's?",
		How: "M3: mean over forgotten records of the cosine similarity to the retrained model's embedding, less that of the original, with " +
			"Student's interval. 0 is where the original stands.",
		Source: "RULER, equation 4",
		Family: RepresentationFamily,
		Needs:  Needs{Arrays: []Array{EmbeddingArray}, Original: 1, Retrained: 2},
	}
}

// Read implements Lens.
func (j Movement) Read(e *Evidence, m *Arrays) (*Reading, error) {
	evidence, err := e.rulerEvidence(m, e.OtherModel(Retrained, m), e.ModelsOf(Original)[0])
	if err != nil {
		return nil, err
	}
	r, _, err := ruler.M3(*evidence, ruler.Options{ZeroNorm: ruler.AsPublished})
	if err != nil {
		return nil, err
	}
	var collapsed []Reason
	for _, x := range []array.Rows{evidence.Unlearned, evidence.Oracle, evidence.Original} {
		collapsed = append(collapsed, CollapsedRows("embeddings", x, e.Forget, e.Retain))
	}
	return &Reading{
		Lens: j.Name(), Model: m.Name, Memory: Below, Estimate: *r, Floor: unknownFloor, Coordinates: true, Towards: true,
		NoEvidence: firstReason(append(collapsed, e.tooFewGroups(r.Clustered))...),
	}, nil
}
