package modeltest_test

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
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
		"text":           text.Classifier{Tokens: 6, Outputs: 3, Layers: 1, Width: 8, Heads: 2, Vocabulary: 20, Positions: 8},
	} {
		t.Run(name, func(t *testing.T) { modeltest.Run(t, a, nil) })
	}
}
