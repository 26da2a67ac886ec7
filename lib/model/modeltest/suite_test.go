package modeltest_test

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Networks of this module pass: of tables, of images with batch and with group normalisation, of texts.
func TestNetworksOfThisModulePass(t *testing.T) {
	for name, a := range map[string]model.Architecture{
		"mlp":            tabular.MLP{Features: 5, Outputs: 3, Hidden: 8},
		"residual-mlp":   tabular.ResMLP{Features: 5, Outputs: 3, Width: 8, Blocks: 1},
		"ft-transformer": tabular.FTTransformer{Features: 4, Outputs: 3, Width: 8, Heads: 2, Blocks: 1},
		"one-hidden":     tabular.OneHidden{Features: 5, Outputs: 3},
		"gaussian-vae":   vae.Gaussian{Features: 5},
		"small-cnn":      vision.SmallCNN{Channels: 2, Side: 8, Outputs: 3},
		"resnet":         vision.ResNet18{Channels: 2, Side: 8, Outputs: 3, Width: 2},
		"pretrained":     pretrained{tabular.MLP{Features: 5, Outputs: 3, Hidden: 8}},
		"text":           text.Classifier{Tokens: 6, Outputs: 3, Layers: 1, Width: 8, Heads: 2, Vocabulary: 20, Positions: 8},
	} {
		t.Run(name, func(t *testing.T) { modeltest.Run(t, a, nil) })
	}
}

// pretrained begins with the same weights whatever the generator.
type pretrained struct{ tabular.MLP }

func (pretrained) Name() string { return "pretrained" }

func (m pretrained) ForData(model.Sizes) (model.Architecture, error) { return m, nil }

func (m pretrained) Load(drawn nn.Params) (nn.Params, []string, error) {
	for _, v := range drawn {
		for i := range v.Data {
			v.Data[i] = float32(math.Sin(float64(i + len(v.Name))))
		}
	}
	return drawn, nil, nil
}
