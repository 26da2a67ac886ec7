package audit

import (
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// AgainstOracle compares the model's embeddings of the forgotten records with the retrained
// model's: RULER's M2 (equation 3), the mean cosine similarity over the forgotten records minus the
// median over retained records.
//
// Null: 0. RULER reads values below it as memory. No chance floor is known in closed form; the
// control "retrained, other seed" shows how far from zero a perfect unlearner can be.
type AgainstOracle struct{}

var _ Lens = AgainstOracle{}

// Name implements Lens.
func (AgainstOracle) Name() string { return "against the oracle" }

// About implements Lens.
func (AgainstOracle) About() string {
	return "RULER's M2: similarity to the retrained model, forgotten less retained records"
}

// Read implements Lens.
func (l AgainstOracle) Read(c *Case, m *Model) (*Reading, error) {
	u, err := c.embedding(m)
	if err != nil {
		return nil, err
	}
	o, err := c.embedding(c.Oracle)
	if err != nil {
		return nil, err
	}
	return l.ReadEmbeddings(m.Label, ruler.Evidence{Unlearned: &u, Oracle: &o, Forget: c.Forget, Retain: c.Retain})
}

// ReadEmbeddings returns the reading of given embeddings; model is the name in the reading.
func (l AgainstOracle) ReadEmbeddings(model string, e ruler.Evidence) (*Reading, error) {
	gap, _, err := ruler.M2(e, ruler.Options{ZeroNorm: ruler.AsPublished})
	if err != nil {
		return nil, err
	}
	unknown := stats.Floor{Mean: math.NaN(), P95: math.NaN()}
	return &Reading{
		Lens: l.Name(), Model: model, Memory: Below, Estimate: *gap, Floor: unknown, Coordinates: true,
		NoEvidence: firstReason(tooFewEvidence(e), CollapsedRows("embeddings", e.Unlearned, e.Forget, e.Retain),
			CollapsedRows("embeddings in the retrained model", e.Oracle, e.Forget, e.Retain)),
	}, nil
}
