package audit

import "github.com/lethe-ml/lethe/lib/array"

// Groups holds the activations of one layer, a row per record, for three sets: retained records,
// forgotten records, and the held-out records that no method may use (lab.Case.Judged).
type Groups struct{ Retained, Forgotten, HeldOut array.Matrix[float64] }

// collapsedReason returns the reason against activations that are the same for many of the
// forgotten records, or for these and others.
func (g Groups) collapsedReason(others array.Matrix[float64]) Reason {
	return CollapsedSets("embeddings", &g.Forgotten, &others)
}

// CollapsedSets is Collapsed for two matrices, all of whose rows count.
func CollapsedSets(what string, forgotten, others array.Rows) Reason {
	return collapsedReason(what, RowHashes(forgotten), RowHashes(others))
}

// EmbeddingGroups returns the groups at the layer before the last one.
func (c *Case) EmbeddingGroups(m *Model) (*Groups, error) {
	e, err := c.Evidence(Needs{}, m)
	if err != nil {
		return nil, err
	}
	return e.groups(e.Models[0].Embedding)
}

// LogitGroups returns the groups at the last layer of a classifier, and lab.ErrNoAnswers for other
// networks.
func (c *Case) LogitGroups(m *Model) (*Groups, error) {
	e, err := c.Evidence(Needs{Arrays: []Array{OutputArray}}, m)
	if err != nil {
		return nil, err
	}
	return e.groups(e.Models[0].Outputs)
}

// maxPool bounds the records of a set of saved arrays that are read at once.
const maxPool = 4000

// groups returns the rows of the three sets; of a set of saved arrays at most maxPool records.
func (e *Evidence) groups(layer Matrix) (*Groups, error) {
	x, err := layer.Read()
	if err != nil {
		return nil, err
	}
	_, cols := x.Shape()
	g, rng := &Groups{}, e.Rand(purposeSubsets)
	for _, set := range []struct {
		rows []int
		to   *array.Matrix[float64]
	}{{e.Forget, &g.Forgotten}, {e.Retain, &g.Retained}, {e.HeldOut, &g.HeldOut}} {
		rows := set.rows
		if e.Case == nil && len(rows) > maxPool {
			rows = valuesAt(rows, rng.Perm(len(rows))[:maxPool])
		}
		*set.to = array.New[float64](len(rows), cols)
		for k, i := range rows {
			copy(set.to.Row(k), x.Read(set.to.Row(k), i))
		}
	}
	return g, nil
}
