// The lens on embeddings against a retrained model: RULER's M2 (equation 3), in the form of cases
// and in the form of reports.

package audit

import "github.com/lethe-ml/lethe/lib/verify/ruler"

// AgainstOracle compares the model's embeddings of the forgotten records with the retrained
// model's: RULER's M2 (equation 3), the mean cosine similarity over the forgotten records minus the
// median over retained records. The interval is too narrow for few forgotten records; ruler.M2 says by
// how much.
//
// Null: 0. RULER reads values below it as memory. No chance floor is known in closed form; the
// control "retrained, other seed" shows how far from zero a perfect unlearner can be.
type AgainstOracle struct{}

var _ Lens = AgainstOracle{}

// Name implements Lens.
func (AgainstOracle) Name() string { return "against the oracle" }

// Info implements Lens.
func (AgainstOracle) Info() Info {
	return Info{
		Measures: "RULER's M2: similarity to the retrained model, forgotten less retained records",
		Family:   RepresentationFamily,
		Needs:    Needs{Arrays: []Array{EmbeddingArray}, Sets: []Set{Retain}, Retrained: 1},
	}
}

// Read implements Lens.
func (l AgainstOracle) Read(e *Evidence, m *Arrays) (*Reading, error) { return readM2(l, e, m) }

// AgainstRetrained is AgainstOracle against the first retrained model other than the model that is
// read. It needs two of them, and three for a verdict. A retrained model compared with itself is at exactly 0, and one that
// was trained with another order of batches is not, so that with one retrained model every perfect
// unlearner would be accused. Two retrained models have one number between them, which does not show how far a seed moves it.
//
// Null: 0. RULER reads values below it as memory. Models that do not share their initial weights
// have other coordinates; two retrained models show how much that changes the value.
type AgainstRetrained struct{}

var _ Lens = AgainstRetrained{}

// Name implements Lens.
func (AgainstRetrained) Name() string { return "against the retrained" }

// Info implements Lens.
func (AgainstRetrained) Info() Info {
	return Info{
		Measures: "RULER's M2 against another retrained model: similarity, forgotten less retained records",
		Asks:     "Does the model represent forgotten records as a retrained model does?",
		How: "M2: mean cosine similarity of the forgotten records' embeddings to those of the retrained model, less the median over at most " +
			"500 retained records, with a bootstrap interval over records, which holds the number in 87 of 100 cases for 6 " +
			"records and in 93 for 22. Retrained models are compared with each other, which shows the " +
			"effect of another seed.",
		Source: "RULER, equation 3",
		Family: RepresentationFamily,
		Needs:  Needs{Arrays: []Array{EmbeddingArray}, Sets: []Set{Retain}, Retrained: 2, Verdict: 3},
	}
}

// Read implements Lens.
func (l AgainstRetrained) Read(e *Evidence, m *Arrays) (*Reading, error) { return readM2(l, e, m) }

// readM2 returns a model's M2 against the first other retrained model.
func readM2(l Lens, e *Evidence, m *Arrays) (*Reading, error) {
	evidence, err := e.rulerEvidence(m, e.OtherModel(Retrained, m), nil)
	if err != nil {
		return nil, err
	}
	gap, _, err := ruler.M2(*evidence, ruler.Options{ZeroNorm: ruler.AsPublished})
	if err != nil {
		return nil, err
	}
	return &Reading{
		Lens: l.Name(), Model: m.Name, Memory: Below, Estimate: *gap, Floor: unknownFloor, Coordinates: true,
		NoEvidence: firstReason(tooFewEvidence(e), e.tooFewGroups(gap.Clustered), CollapsedRows("embeddings", evidence.Unlearned, e.Forget, e.Retain),
			CollapsedRows("embeddings in the retrained model", evidence.Oracle, e.Forget, e.Retain)),
	}, nil
}
