// Settings of networks that are too large are refused.

package torch_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/torch"
)

// sizes are the settings of every network that are numbers, with a small value.
var sizes = map[string]map[string]int{
	"tabular-mlp":     {"features": 3, "outputs": 2, "hidden": 4},
	"one-hidden":      {"features": 3, "outputs": 2, "hidden": 4},
	"residual-mlp":    {"features": 3, "outputs": 2, "width": 4, "hidden": 4, "blocks": 1},
	"ft-transformer":  {"features": 3, "outputs": 2, "width": 4, "hidden": 4, "blocks": 1, "heads": 1},
	"tabular-blocks":  {"features": 3, "outputs": 2, "hidden": 4},
	"small-cnn":       {"channels": 1, "side": 8, "outputs": 2, "width": 2, "hidden": 2},
	"all-cnn":         {"channels": 1, "side": 8, "outputs": 2, "width": 2},
	"resnet-18":       {"channels": 1, "side": 8, "outputs": 2, "width": 2},
	"bert-classifier": {"tokens": 4, "outputs": 2, "layers": 1, "width": 4, "heads": 1, "hidden": 4, "vocabulary": 20, "positions": 8},
}

// spelled is what --arch says.
func spelled(name string, settings map[string]int) string {
	var parts []string
	for key, v := range settings {
		text := fmt.Sprint(v)
		if name == "tabular-blocks" && key == "hidden" {
			text = "[" + text + "]"
		}
		parts = append(parts, key+"="+text)
	}
	return name + ":" + strings.Join(parts, ",")
}

// TestSettingsThatNoMachineHoldsAreRefused sets every number of every network, one at a
// time and all at once, to what is too large or negative: some products of them are 0
// in an int.
func TestSettingsThatNoMachineHoldsAreRefused(t *testing.T) {
	if names := torch.Names(); len(names) != len(sizes) {
		t.Fatal(names)
	}
	for name, small := range sizes {
		if _, err := torch.Parse(spelled(name, small)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, vast := range []int{-1, math.MinInt, 1 << 30, 1 << 32, 1 << 62, math.MaxInt} {
			all := map[string]int{}
			for key := range small {
				all[key] = vast
				one := map[string]int{}
				for k, v := range small {
					one[k] = v
				}
				one[key] = vast
				if arch, err := torch.Parse(spelled(name, one)); err == nil {
					t.Errorf("%s was accepted: %d inputs", spelled(name, one), arch.Inputs())
				}
			}
			if _, err := torch.Parse(spelled(name, all)); err == nil {
				t.Errorf("%s was accepted", spelled(name, all))
			}
		}
	}
	for text, want := range map[string]string{
		"resnet-18:side=100000000":                      "resnet-18 is too large: about 6.4e+17 numbers per record",
		"resnet-18:width=100000":                        "resnet-18 is too large: about 2.7e+13 weights",
		"residual-mlp:features=3,outputs=2,blocks=1001": "1001 blocks, at most 1000",
		"tabular-blocks:features=3,outputs=2,hidden=[" + strings.Repeat("1,", 1000) + "1]": "1001 blocks, at most 1000",
	} {
		if _, err := torch.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestTheLimitIsThatOfTheWeights compares the number of weights by which a network is
// too large with that of a network at the limit, which Like is not asked for: it grows
// with the square of the width.
func TestTheLimitIsThatOfTheWeights(t *testing.T) {
	for name, key := range map[string]string{"tabular-mlp": "hidden", "residual-mlp": "width", "ft-transformer": "width", "small-cnn": "width", "all-cnn": "width", "resnet-18": "width"} {
		settings := map[string]int{}
		for k, v := range sizes[name] {
			settings[k] = v
		}
		if name == "residual-mlp" || name == "ft-transformer" {
			delete(settings, "hidden") // the default grows with the width
		}
		count := func(width int) (n float64) {
			settings[key] = width
			arch, err := torch.Parse(spelled(name, settings))
			if err != nil {
				t.Fatal(err)
			}
			like, err := model.WeightShapes(arch)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range like {
				size := 1
				for _, d := range p.Shape {
					size *= d
				}
				n += float64(size)
			}
			return n
		}
		const width = 120
		atLimit := width * math.Sqrt(model.MaxWeights/count(width))
		for factor, refused := range map[float64]bool{0.9: false, 1.1: true} {
			settings[key] = int(factor*atLimit) / 8 * 8
			if _, err := torch.Parse(spelled(name, settings)); (err != nil) != refused {
				t.Errorf("%s: %v", spelled(name, settings), err)
			}
		}
	}
}
