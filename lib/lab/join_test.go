// Tests of data that a caller prepared.

package lab

import (
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Data that a caller prepared are identified by their content, whatever their Hash says;
// data loaded by the lab, and derived data, by their hash.
func TestJoinedDataAreKnownByTheirContent(t *testing.T) {
	l := newLab(t)
	made := func(change func(*datasets.Prepared)) *datasets.Prepared {
		part := datasets.Part{X: array.New[float32](3, 2), Y: []int{0, 1, 0}, IDs: []int{0, 1, 2}}
		test := datasets.Part{X: array.New[float32](2, 2), Y: []int{0, 1}, IDs: []int{3, 4}}
		p := &datasets.Prepared{About: datasets.About{Name: "mine", Classes: []string{"a", "b"}}, Train: part, Test: test, Hash: "mine"}
		change(p)
		return p
	}
	id := func(p *Problem, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.TrainKey(Training{Problem: p, Fit: train.Config{Epochs: 1}, Rows: []int{0, 1, 2}}).ID()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	net := tabular.MLP{Features: 2, Outputs: 2, Hidden: 3}
	seen := map[string]string{}
	for name, change := range map[string]func(*datasets.Prepared){
		"nothing": func(*datasets.Prepared) {}, "a feature": func(p *datasets.Prepared) { p.Train.X.Data[1] = 2 },
		"a label": func(p *datasets.Prepared) { p.Train.Y[2] = 1 }, "a test record": func(p *datasets.Prepared) { p.Test.X.Data[0] = 1 },
		"a column beside": func(p *datasets.Prepared) { p.Train.Extra = map[string][]float64{"total": {1, 2, 3}} },
		"its scale":       func(p *datasets.Prepared) { p.Norm.Mean = []float64{1, 2} },
	} {
		key := id(l.Join(made(change), net))
		if before, twice := seen[key]; twice {
			t.Errorf("with %s changed the key is that of %s", name, before)
		}
		seen[key] = name
		if again := id(l.Join(made(change), net)); again != key {
			t.Errorf("%s: another key the second time", name)
		}
	}
	if id(l.JoinDerived(made(func(*datasets.Prepared) {}), net)) != id(l.JoinDerived(made(func(p *datasets.Prepared) { p.Train.Y[2] = 1 }), net)) {
		t.Error("a hash that is to be believed is not")
	}
	c := openCase(t, l, Setting{Data: Table{Set: "two_moons", MaxRows: 80}, Forget: confusedMoons(0).Forget}) // whose hash says what was planted
	if id(l.Join(c.Prepared, net)) != id(l.JoinDerived(c.Prepared, net)) {
		t.Error("data that the lab has loaded have another key")
	}
}

// What trains has the defaults that the key says, from a setting and from data of the caller's.
func TestWhatTrainsHasItsDefaults(t *testing.T) {
	l := newLab(t)
	filled := tagged{Features: 2, Outputs: 2, Hidden: 5}
	p, err := l.Problem(t.Context(), Setting{Data: Table{Set: "two_moons", MaxRows: 80}, Model: tagged{}})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := l.Join(p.Prepared, tagged{Features: 2, Outputs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Problem{p, joined} {
		if p.Arch != filled || p.Runner.Arch != filled {
			t.Errorf("the problem is of %+v, its runner of %+v", p.Arch, p.Runner.Arch)
		}
	}
}

// tagged is a network whose default stands in a tag alone.
type tagged struct {
	Features, Outputs int
	Hidden            int `default:"5"`
}

func (tagged) Name() string              { return "tagged" }
func (m tagged) Inputs() int             { return m.Features }
func (tagged) Check() error              { return nil }
func (m tagged) Returns() []model.Output { return model.ClassifierOutputs(m.Outputs) }

func (m tagged) ForData(s model.Sizes) (model.Architecture, error) {
	return tagged{s.Features, s.Classes, m.Hidden}, nil
}

func (m tagged) Build(b *nn.Builder, x *graph.Node) model.Trace {
	h := b.Tanh(b.Dense("hidden", x, m.Hidden))
	return model.ClassifierTrace(b.Dense("head", h, m.Outputs), h)
}
