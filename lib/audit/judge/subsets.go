package judge

import (
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Subsets asks whether the forgotten records, as a set, look like training data: SDE's
// judgement (section 3.2) against many retained and held-out references, audit.Subsets.
//
// Null: 0.5, nearer to neither. What the statistic measures is how widely a set is
// spread, and whatever changes the spread moves it: only a retrained model places a
// reading.
type Subsets struct{}

var _ Lens = Subsets{}

// maxPool bounds the records of a set that references are drawn from.
const maxPool = 4000

// Name implements Judgement.
func (Subsets) Name() string { return "subsets" }

// About implements Judgement.
func (Subsets) About() About {
	return About{
		Asks: "As a set, do the forgotten records look more like retained or like held-out ones?",
		How: "SDE: share of 40 draws of references of at most 400 records against which the set is called in training, with Wilson's interval " +
			"over the draws; they share the forgotten records. Rests on the spread of the embeddings alone.",
		Source: "SDE, section 3.2",
		Family: SubsetFamily,
	}
}

// Needs implements Judgement.
func (Subsets) Needs() Needs {
	return Needs{Arrays: []Array{Embedding}, Sets: []Set{Retain, HeldOut}}
}

// Read implements Judgement.
func (j Subsets) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	x, err := m.Embedding()
	if err != nil {
		return nil, err
	}
	rng := e.Rand(purposeSubsets)
	some := func(rows []int) array.Matrix[float64] {
		if len(rows) > maxPool {
			rows = valuesAt(rows, rng.Perm(len(rows))[:maxPool])
		}
		_, cols := x.Shape()
		out := array.New[float64](len(rows), cols)
		for k, i := range rows {
			copy(out.Row(k), x.Read(out.Row(k), i))
		}
		return out
	}
	groups := audit.Groups{Forgotten: some(e.Forget), Retained: some(e.Retain), HeldOut: some(e.HeldOut)}
	r, err := audit.Subsets{}.ReadGroups(m.Name, groups, engine.Root(e.Seed))
	return withLensName(r, j), err
}
