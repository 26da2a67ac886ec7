package lab

import (
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// centred is a network that subtracts the mean of the batch.
type centred struct{ tabular.MLP }

func (m centred) ForData(s model.Sizes) (model.Architecture, error) {
	m.Features, m.Outputs = s.Features, s.Classes
	return m, nil
}

func (m centred) Build(b *nn.Builder, x *graph.Node) model.Trace {
	return m.MLP.Build(b, graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMean, 1)))
}

// A case is not made of a network whose answer for a record depends on others, however often one asks.
func TestANetworkThatMixesRecordsIsRefused(t *testing.T) {
	l := newLab(t)
	for range 2 {
		_, err := l.Case(t.Context(), Setting{Data: parity{Records: 60}, Model: centred{}, Fit: train.Config{Epochs: 1}})
		if err == nil || !strings.Contains(err.Error(), `the output "logits" of a record depends on the other records of its batch`) {
			t.Errorf("%v", err)
		}
	}
}
