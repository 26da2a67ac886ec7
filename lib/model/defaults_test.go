package model_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// tagged is a network that says its defaults by tags alone.
type tagged struct {
	Features, Outputs int
	Hidden            int     `default:"6"`
	Rate              float64 `default:"0.25"`
}

func (tagged) Name() string              { return "tagged" }
func (m tagged) Inputs() int             { return m.Features }
func (m tagged) Returns() []model.Output { return model.ClassifierOutputs(m.Outputs) }

func (m tagged) Check() error {
	if m.Hidden == 0 || m.Rate == 0 {
		return errors.New("tagged: a default is not filled in")
	}
	return nil
}

func (m tagged) ForData(s model.Sizes) (model.Architecture, error) {
	m.Features, m.Outputs = s.Features, s.Classes
	return m, nil
}

func (m tagged) Build(b *nn.Builder, x *Node) model.Trace {
	h := b.ReLUDropout("dropout", b.Dense("hidden", x, m.Hidden), m.Rate)
	return model.ClassifierTrace(b.Dense("head", h, m.Outputs), h)
}

// A network whose defaults stand in tags is built with them, whoever builds it.
func TestANetworkIsBuiltWithItsDefaults(t *testing.T) {
	open, filled := tagged{Features: 4, Outputs: 2}, tagged{4, 2, 6, 0.25}
	if a, err := model.Fit(tagged{}, model.Sizes{Features: 4, Classes: 2}); err != nil || a != filled {
		t.Errorf("for data: %+v (%v)", a, err)
	}
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := model.NewRunner(e, open)
	if err != nil {
		t.Fatal(err)
	}
	if r.Arch != filled || r.RandomInputs()[0].Rate != 0.25 {
		t.Errorf("a runner is of %+v and draws %+v", r.Arch, r.RandomInputs())
	}
	weights := func(a model.Architecture) string {
		return model.InitialWeights(a, engine.Root(3).Stream(engine.StreamInit)).Hash()
	}
	if weights(open) != weights(filled) {
		t.Error("the initial weights are others than with the defaults written out")
	}
	if d := model.RandomInputs(open); d[0].Rate != 0.25 {
		t.Errorf("random inputs %+v", d)
	}
	if p, err := model.WeightShapes(open); err != nil || p[0].Shape[0] != 6 {
		t.Errorf("shapes %v (%v)", p, err)
	}
	if model.Work(open, 10) != model.Work(filled, 10) {
		t.Error("the work is another than with the defaults written out")
	}
	if _, err := model.NewRunner(nil, nil); err == nil || !strings.Contains(err.Error(), "no architecture (nil)") {
		t.Errorf("no architecture: %v", err)
	}
}

// hollow has a layer without units.
type hollow struct{ tagged }

func (m hollow) Build(b *nn.Builder, x *Node) model.Trace {
	h := b.Dense("hidden", x, 0)
	return model.ClassifierTrace(b.Dense("head", h, m.Outputs), h)
}

func TestALayerWithoutUnitsIsRefusedByName(t *testing.T) {
	_, err := model.WeightShapes(hollow{tagged{Features: 4, Outputs: 2}})
	if err == nil || !strings.Contains(err.Error(), "the weight hidden.weight would have the shape [0 4]") {
		t.Errorf("%v", err)
	}
}
