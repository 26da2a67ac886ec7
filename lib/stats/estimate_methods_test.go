package stats

import (
	"math"
	"testing"
)

func TestWithinCutsTheIntervalAlone(t *testing.T) {
	e := MeanInterval([]float64{0.9, 1}, 0.95, OverModels)
	if cut := e.ClampedTo(0, 1); cut.Low != e.Low && cut.Low != 0 || cut.High != 1 || cut.Value != e.Value || e.High <= 1 {
		t.Errorf("%v of %v", cut, e)
	}
	if one := MeanInterval([]float64{2}, 0.95, OverModels).ClampedTo(0, 1); one.HasInterval() || one.Value != 2 {
		t.Errorf("of one model: %v", one)
	}
	if same := (Estimate{Value: 0.5, Low: 0.4, High: 0.6}).ClampedTo(math.Inf(-1), math.Inf(1)); same.Low != 0.4 || same.High != 0.6 {
		t.Errorf("without bounds: %v", same)
	}
}
