package judge

import (
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// AgainstRetrained compares the embeddings of the forgotten records with a retrained model's:
// RULER's M2 (equation 3) against the first retrained model other than the model that is read. It
// needs two of them. A retrained model compared with itself is at exactly 0, and one that was
// trained with another order of batches is not, so that with one retrained model every perfect
// unlearner would be accused.
//
// Null: 0. RULER reads values below it as memory. Models that do not share their initial weights
// have other coordinates; two retrained models show how much that changes the value.
type AgainstRetrained struct{}

var _ Lens = AgainstRetrained{}

// Name implements Lens.
func (AgainstRetrained) Name() string { return "against the retrained" }

// About implements Lens.
func (AgainstRetrained) About() About {
	return About{
		Asks: "Does the model represent forgotten records as a retrained model does?",
		How: "M2: mean cosine similarity of the forgotten records' embeddings to those of the retrained model, less the median over at most " +
			"500 retained records, with a bootstrap interval over records. Retrained models are compared with each other, which shows the " +
			"effect of another seed.",
		Source: "RULER, equation 3",
		Family: RepresentationFamily,
	}
}

// Needs implements Lens.
func (AgainstRetrained) Needs() Needs {
	return Needs{Arrays: []Array{Embedding}, Sets: []Set{Retain}, Retrained: 2}
}

// Read implements Lens.
func (j AgainstRetrained) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	evidence, err := e.rulerEvidence(m, e.OtherModel(Retrained, m), nil)
	if err != nil {
		return nil, err
	}
	r, err := audit.AgainstOracle{}.ReadEmbeddings(m.Name, *evidence)
	return withLensName(r, j), err
}

// rulerEvidence reads the embeddings of models, each once; nil models are left out.
func (e *Evidence) rulerEvidence(unlearned, retrained, original *Model) (*ruler.Evidence, error) {
	out := &ruler.Evidence{Forget: e.Forget, Retain: e.Retain}
	read := map[*Model]array.Rows{}
	for _, p := range []struct {
		m  *Model
		to *array.Rows
	}{{unlearned, &out.Unlearned}, {retrained, &out.Oracle}, {original, &out.Original}} {
		if p.m == nil {
			continue
		}
		if read[p.m] == nil {
			x, err := p.m.Embedding()
			if err != nil {
				return nil, err
			}
			read[p.m] = x
		}
		*p.to = read[p.m]
	}
	return out, nil
}

// withLensName gives a reading of package audit the name of the lens here.
func withLensName(r *audit.Reading, j Lens) *audit.Reading {
	if r != nil {
		r.Lens = j.Name()
	}
	return r
}
