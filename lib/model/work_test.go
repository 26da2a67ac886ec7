package model_test

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vision"
)

// Operations by hand: twice the multiplications, and 0.1 million for the record itself. ResNet-18's 0.5566 x 10^9 multiplications on
// 32 x 32 pixels are what papers print for it.
func TestWorkOfNetworks(t *testing.T) {
	for _, c := range []struct {
		network model.Network
		sizes   model.Sizes
		want    float64 // millions of multiplications
		within  float64 // relative
	}{
		{tabular.MLP{}, model.Sizes{Features: 10, Classes: 2}, (10*128 + 128*128 + 128*2) / 1e6, 0.001},
		{vision.SmallCNN{Hidden: 256}, images(10), (32*32*27*32 + 16*16*288*64 + 8*8*576*128 + 4*4*128*256 + 2560) / 1e6, 0.001},
		{vision.ResNet18{}, images(10), 556.6, 0.01},
		{vision.ResNet18{Width: 16}, images(10), 556.6 / 16, 0.03},
	} {
		a, err := model.Fit(c.network, c.sizes)
		if err != nil {
			t.Fatal(err)
		}
		a = defaults.Fill(a)
		if got, want := model.Work(a, 10), 10*(2*c.want+0.1); math.Abs(got-want) > c.within*want {
			t.Errorf("%s: %g %s, want %g", a.Name(), got, model.WorkUnit, want)
		}
	}
}

func images(classes int) model.Sizes {
	return model.Sizes{Features: 3 * 32 * 32, Classes: classes, Shape: [3]int{3, 32, 32}}
}

func BenchmarkWork(b *testing.B) {
	a, err := model.Fit(vision.ResNet18{}, images(10))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		model.Work(a, 1)
	}
}
