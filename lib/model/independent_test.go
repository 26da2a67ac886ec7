package model_test

import (
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

// changed is a network whose records, or whose trace, a function changes.
type changed struct {
	tabular.MLP
	records func(b *nn.Builder, x *graph.Node) *graph.Node
	trace   func(tr *model.Trace)
}

func (m changed) Build(b *nn.Builder, x *graph.Node) model.Trace {
	if m.records != nil {
		x = m.records(b, x)
	}
	tr := m.MLP.Build(b, x)
	if m.trace != nil {
		m.trace(&tr)
	}
	return tr
}

// A network whose answer for a record depends on other records, on the record's place or on their
// number is refused; one that changes every record alone is not.
func TestANetworkThatMixesRecordsIsRefused(t *testing.T) {
	mixing := map[string]func(b *nn.Builder, x *graph.Node) *graph.Node{
		"mean": func(b *nn.Builder, x *graph.Node) *graph.Node {
			return graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMean, 1))
		},
		"greatest": func(b *nn.Builder, x *graph.Node) *graph.Node {
			return graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMax, 1))
		},
		"number": func(b *nn.Builder, x *graph.Node) *graph.Node { return graph.DivScalar(x, float64(b.Records)) },
		"place": func(b *nn.Builder, x *graph.Node) *graph.Node {
			return graph.Add(x, graph.Iota(x.Graph(), x.Shape(), 1))
		},
		"alone": func(b *nn.Builder, x *graph.Node) *graph.Node {
			return graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMean, 0))
		},
	}
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for name, f := range mixing {
		a := changed{MLP: arch, records: f}
		r, err := model.NewRunner(e, a)
		if err != nil {
			t.Fatal(err)
		}
		p := model.InitialWeights(a, engine.Root(4).Stream(engine.StreamInit))
		for _, rows := range []int{3, 50} {
			err := r.CheckRecords(p, table(rows, 5))
			if mixes := name != "alone"; mixes != (err != nil) || mixes && !strings.Contains(err.Error(), "of a record depends on the other records of its batch") {
				t.Errorf("%s, %d records: %v", name, rows, err)
			}
		}
	}
}

// What a trace lacks is an error when the network is made, not a panic when it answers.
func TestATraceThatLacksSomethingIsRefused(t *testing.T) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for words, f := range map[string]func(tr *model.Trace){
		"returns no embedding [width, 1]: its shape is nil": func(tr *model.Trace) { tr.Embedding = nil },
		`returns no "logits" of width 3: its shape is nil`:  func(tr *model.Trace) { tr.Outputs = nil },
		`returns no layer "hidden1"`:                        func(tr *model.Trace) { tr.Layers[0].Value = nil },
		"its shape is [1]":                                  func(tr *model.Trace) { tr.Embedding = graph.ReduceSum(tr.Embedding, 0) },
	} {
		if _, err := model.NewRunner(e, changed{MLP: arch, trace: f}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

// nothing is a network that returns no architecture.
type nothing struct{ tabular.MLP }

func (nothing) ForData(model.Sizes) (model.Architecture, error) { return nil, nil }

func TestANetworkThatReturnsNothingIsRefused(t *testing.T) {
	for _, n := range []model.Network{nothing{}, model.NetworkFunc(func(int, int) model.Architecture { return nil })} {
		_, err := model.Fit(n, model.Sizes{Features: 4, Classes: 2})
		if err == nil || !strings.Contains(err.Error(), "returns no architecture for records of 4 features and 2 classes") {
			t.Errorf("%T: %v", n, err)
		}
	}
}
