package plot

import (
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func labels(ts []plot.Tick) string {
	var out []string
	for _, t := range ts {
		if !t.IsMinor() {
			out = append(out, t.Label)
		}
	}
	return strings.Join(out, " ")
}

func TestTicksAreRoundAndPrintedAlike(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{0, 1, 5, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-0.085, 0.029, 6, "\u22120.08 \u22120.06 \u22120.04 \u22120.02 0.00 0.02"},
		{0, 60, 6, "0 10 20 30 40 50 60"},
		{0.4, 0.73, 7, "0.40 0.45 0.50 0.55 0.60 0.65 0.70"},
		{-1000, 1000, 4, "\u22121000 \u2212500 0 500 1000"},
	} {
		if got := labels(linearTicks(c.lo, c.hi, c.n)); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestLogTicksNamePowersOrSteps(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{1e-3, 1, 8, "0.001 0.01 0.1 1"},
		{1e-3, 1, 2, "0.001 0.1"},
		{1e-7, 1e-3, 8, "1e-07 1e-06 1e-05 0.0001 0.001"}, // 10^-5 as a power is a bit above itself
		{1e-11, 100, 5, "1e-11 1e-08 1e-05 0.01 10"},
		{1e4, 1e8, 8, "10000 100000 1000000 1e+07 1e+08"},
		{1, 12, 8, "1 2 5 10"},
		{3.1, 3.9, 8, "3.2 3.4 3.6 3.8"},
		{410, 850, 8, "600 800"}, // 500 alone would be no scale
	} {
		if got := labels(logTicks(c.lo, c.hi, c.n)); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestEveryRangeGetsAnAxisThatEnds(t *testing.T) {
	vals := []float64{-1e150, -3, -1e-9, 0, 5e-324, 1e-300, 1, 1 + 1e-15, 1e9, 1e150}
	for i, lo := range vals {
		for _, hi := range vals[i:] {
			s := span{lo, hi}.fit(Axis{})
			if !(s.lo < s.hi) || math.IsInf(s.hi-s.lo, 0) || s.lo > lo || s.hi < hi {
				t.Errorf("%v to %v became %v", lo, hi, s)
				continue
			}
			if n := len(linearTicks(s.lo, s.hi, 6)); n < 1 || n > 20 {
				t.Errorf("%v to %v has %d ticks", lo, hi, n)
			}
		}
	}
}

func TestThePaletteKeepsFewColoursExactAndManyClose(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			img.SetRGBA(x, y, color.RGBA{uint8(4 * x), uint8(200 - y/32), uint8(x % 3), 255})
		}
	}
	p := quantise(img)
	if p == nil {
		t.Fatal("no palette for 384 colours")
	}
	for y := range 64 {
		for x := range 64 {
			_, far := nearest([]color.RGBA{img.RGBAAt(x, y)}, color.RGBAModel.Convert(p.At(x, y)).(color.RGBA))
			if far > same {
				t.Fatalf("pixel %d, %d moved by %d", x, y, far)
			}
		}
	}
}

func TestTicksOfStepsAreWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
	}{{-0.15, 3.15, 8}, {-0.05, 1.05, 8}, {0, 40, 8}, {-1, 201, 6}, {0, 7.9, 8}} {
		ticks := wholeTicks(c.lo, c.hi, c.n)
		if len(ticks) < 2 || len(ticks) > c.n+2 {
			t.Errorf("%d ticks from %v to %v", len(ticks), c.lo, c.hi)
		}
		for _, tick := range ticks {
			if tick.Value != math.Round(tick.Value) || strings.Contains(tick.Label, ".") || tick.Value < c.lo || tick.Value > c.hi {
				t.Errorf("from %v to %v: %v %q", c.lo, c.hi, tick.Value, tick.Label)
			}
		}
	}
}
