package model_test

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vision"
)

// deeper embeds a network and has no ForData of its own.
type deeper struct{ tabular.MLP }

// Sizes come from the data; sizes that are written must be those of the data.
func TestANetworkTakesItsSizesFromTheData(t *testing.T) {
	table := model.Sizes{Features: 13, Classes: 3}
	images := model.Sizes{Features: 3072, Classes: 10, Shape: [3]int{3, 32, 32}}
	for want, n := range map[string]model.Network{
		"tabular-mlp 13 3": tabular.MLP{},
		"resnet 3072":      vision.ResNet18{Width: 4},
	} {
		s := table
		if strings.HasPrefix(want, "resnet") {
			s = images
		}
		a, err := model.Fit(n, s)
		if err != nil || a.Inputs() != s.Features || a.(model.Classifier).Classes() != s.Classes {
			t.Errorf("%s: %+v (%v)", want, a, err)
		}
	}
	if a, err := model.Fit(vision.ResNet18{}, images); err != nil || a != (vision.ResNet18{Channels: 3, Side: 32, Outputs: 10, Width: 64}) {
		t.Errorf("%+v (%v)", a, err)
	}
	for words, n := range map[string]model.Network{
		"has 5 features, the data have 13":             tabular.MLP{Features: 5},
		"has 2 outputs, the data have 3":               tabular.MLP{Outputs: 2},
		"takes images, the data are records of 13":     vision.SmallCNN{},
		"takes 5 features, the data have 13":           model.Fixed(tabular.MLP{Features: 5, Outputs: 3}),
		"tells 2 classes apart, the data have 3":       model.Fixed(tabular.MLP{Features: 13, Outputs: 2}),
		"has the method ForData of tabular.MLP, which": deeper{},
	} {
		if _, err := model.Fit(n, table); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%T: %v, want %q", n, err, words)
		}
	}
	if a, err := model.Fit(model.Fixed(deeper{tabular.MLP{Features: 13, Outputs: 3}}), table); err != nil || a.(deeper).Features != 13 {
		t.Errorf("a network of fixed sizes: %+v (%v)", a, err)
	}
	oblong := model.Sizes{Features: 600, Classes: 2, Shape: [3]int{1, 20, 30}}
	if _, err := model.Fit(vision.AllCNN{}, oblong); err == nil || !strings.Contains(err.Error(), "these have 30 x 20 pixels; Size(20) cuts") {
		t.Errorf("oblong images, 30 wide: %v", err)
	}
}
