package audit

import (
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
)

// Groups holds the activations of one layer, a row per record, for three sets: retained records,
// forgotten records, and the held-out records that no method may use (lab.Case.Judged).
type Groups struct{ Retained, Forgotten, HeldOut array.Matrix[float64] }

// collapsedReason returns the reason against activations that are the same for many of the
// forgotten records, or for these and others.
func (g Groups) collapsedReason(others array.Matrix[float64]) Reason {
	return collapsedReason("embeddings", RowHashes(&g.Forgotten), RowHashes(&others))
}

// EmbeddingGroups returns the groups at the layer before the last one.
func (c *Case) EmbeddingGroups(m *Model) (*Groups, error) {
	return c.groups(m, func(p *model.Prediction) array.Matrix[float32] { return p.Embedding })
}

// LogitGroups returns the groups at the last layer of a classifier, and lab.ErrNoAnswers for other
// networks.
func (c *Case) LogitGroups(m *Model) (*Groups, error) {
	if _, is := c.Problem.Arch.(model.Classifier); !is {
		return nil, lab.ErrNoAnswers
	}
	return c.groups(m, func(p *model.Prediction) array.Matrix[float32] { return p.Logits() })
}

func (c *Case) groups(m *Model, layer func(*model.Prediction) array.Matrix[float32]) (*Groups, error) {
	o, err := m.Outputs()
	if err != nil {
		return nil, err
	}
	train := layer(o.Train)
	return &Groups{
		Retained:  array.Convert[float64](train.Gather(c.Retain)),
		Forgotten: array.Convert[float64](train.Gather(c.Forget)),
		HeldOut:   array.Convert[float64](layer(o.Test).Gather(c.EvalRows())),
	}, nil
}
