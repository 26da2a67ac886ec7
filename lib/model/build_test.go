// Tests of build.go: a network that cannot be built is an error that names it.

package model_test

import (
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

// custom is a network with any Build.
type custom struct {
	tabular.MLP
	build func(b *nn.Builder, x *Node) *Node
}

func (c custom) Build(b *nn.Builder, x *Node) model.Trace {
	z := c.build(b, x)
	return model.ClassifierTrace(z, z)
}

func TestANetworkThatCannotBeBuiltIsAnError(t *testing.T) {
	small := tabular.MLP{Features: 2, Outputs: 3}
	for want, build := range map[string]func(b *nn.Builder, x *Node) *Node{
		"model tabular-mlp: the weight a.weight is taken twice":                 func(b *nn.Builder, x *Node) *Node { return b.Dense("a", b.Dense("a", x, 2), 3) },
		"tabular-mlp is too large: a.weight would have the shape [536870912 2]": func(b *nn.Builder, x *Node) *Node { return b.Dense("a", x, 1<<29) },
		"model tabular-mlp: runtime error: index out of range":                  func(b *nn.Builder, x *Node) *Node { return b.Weights()[0] },
	} {
		if _, err := model.WeightShapes(custom{small, build}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := model.WeightShapes(tabular.MLP{}); err == nil || !strings.Contains(err.Error(), "0 features") {
		t.Errorf("settings that Check refuses: %v", err)
	}
	p, err := model.WeightShapes(small)
	if err != nil || len(p) != 6 || p[4].Data != nil || p[4].Name != "head.weight" {
		t.Errorf("%v (%v)", p, err)
	}
}

// A network must take the same in training, as which it is declared, and in inference.
func TestALayerOfTrainingAloneIsRefused(t *testing.T) {
	c := custom{tabular.MLP{Features: 2, Outputs: 3}, func(b *nn.Builder, x *Node) *Node {
		if b.Training {
			x = b.Dense("extra", x, 2)
		}
		return b.Dense("head", x, 3)
	}}
	r := modeltest.OpenRunner(t, c)
	_, err := r.Predict(model.InitialWeights(c, engine.Root(1).Stream(engine.StreamInit)), array.New[float32](1, 2))
	if err == nil || !strings.Contains(err.Error(), "no layer takes the weight extra.weight") {
		t.Errorf("%v", err)
	}
}
