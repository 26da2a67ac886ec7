package judge

import (
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Subsets asks whether the forgotten records, as a set, look like training data: SDE (section 3.2)
// with many retained and held-out references, audit.Subsets.
//
// Null: 0.5, closer to neither. The statistic measures the spread of a set, and anything that
// changes the spread changes it: only a retrained model places a reading.
type Subsets struct{}

var _ Lens = Subsets{}

// maxPool bounds the records of a set from which references are drawn.
const maxPool = 4000

// Name implements Lens.
func (Subsets) Name() string { return "subsets" }

// About implements Lens.
func (Subsets) About() About {
	return About{
		Asks: "As a set, do the forgotten records look more like retained or like held-out ones?",
		How: "SDE: share of 40 draws of references of at most 400 records against which the set is called in training, with Wilson's interval " +
			"over the draws; they share the forgotten records. Rests on the spread of the embeddings alone.",
		Source: "SDE, section 3.2",
		Family: SubsetFamily,
	}
}

// Needs implements Lens.
func (Subsets) Needs() Needs {
	return Needs{Arrays: []Array{Embedding}, Sets: []Set{Retain, HeldOut}}
}

// Read implements Lens.
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
