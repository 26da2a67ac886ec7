package audit

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

func referenceReadings(coordinates bool, over string, values ...float64) (out []Reading) {
	for _, v := range values {
		out = append(out, Reading{Coordinates: coordinates, Memory: Above,
			Estimate: stats.Estimate{Value: v, Low: v - 0.0392, High: v + 0.0784, Level: 0.95, Over: over}})
	}
	return out
}

// The widths of intervals over records count for two degrees of freedom of what a seed does. Quantiles
// of Student's t by scipy 1.17.1: 4.302653 of two degrees of freedom, 3.182446 of three, 12.706205 of one.
func TestReferencesAllowForSeeds(t *testing.T) {
	const unit = 0.0392 / 1.959964
	two := math.Sqrt(1.5 * (2*unit*unit + 0.0002) / 3)
	for name, c := range map[string]struct {
		of         []Reading
		below, mid float64
		known      bool
	}{
		"one model":                  {referenceReadings(false, "records", 0.6), 4.302653 * unit * math.Sqrt2, 0.6, true},
		"two models":                 {referenceReadings(false, "records", 0.61, 0.59), 3.182446 * two, 0.6, true},
		"coordinates, one model":     {referenceReadings(true, "records", 0.6), 0.0392, 0.6, false},
		"coordinates, one pair":      {referenceReadings(true, "records", 0.6, 0.6), 0.0392, 0.6, false},
		"coordinates, two pairs":     {referenceReadings(true, "records", 0.61, 0.61, 0.59), 12.706205 * math.Sqrt(0.0002*1.5), 0.60333, true},
		"draws, one model":           {referenceReadings(false, stats.OverDraws, 0.6), 0.0392, 0.6, false},
		"draws, two models":          {referenceReadings(false, stats.OverDraws, 0.61, 0.59), 12.706205 * math.Sqrt(0.0002*1.5), 0.6, true},
		"draws, two models that tie": {referenceReadings(false, stats.OverDraws, 0.6, 0.6), 0.0392, 0.6, true},
		"far apart":                  {referenceReadings(false, "records", 0.7, 0.5), 3.182446 * math.Sqrt(1.5*(2*unit*unit+0.02)/3), 0.6, true},
	} {
		got := ReferenceOf(Loss{}, c.of...)
		center := c.mid
		if name == "coordinates, two pairs" {
			center = 0.6 // of the distinct ones
		}
		why := SeedReason(c.of[0], c.of...)
		if math.Abs(got.Value-c.mid) > 1e-4 || math.Abs(center-got.Low-c.below) > 2e-5 || (why == Reason{}) != c.known {
			t.Errorf("%s: %v, want %v less %v; against the spread: %q", name, got.Estimate, center, c.below, why)
		}
		if above := got.High - got.Value; above < got.Value-got.Low-1e-2 {
			t.Errorf("%s: %v above, though the intervals are wider there", name, got.Estimate)
		}
		low, high := 0.0, 0.0
		for _, r := range c.of {
			low, high = low+r.Low/float64(len(c.of)), high+r.High/float64(len(c.of))
		}
		if low < got.Low-1e-12 || high > got.High+1e-12 {
			t.Errorf("%s: %v does not hold the mean interval, %v to %v", name, got.Estimate, low, high)
		}
	}
}

// Readings of another coverage have a reference of it. Quantiles by scipy 1.17.1: 2.575829 of the normal
// distribution, 9.924843 of Student's t of two degrees of freedom, 63.656741 of one.
func TestReferenceAtALevel(t *testing.T) {
	const unit = 0.0392 / 1.959964
	for name, c := range map[string]struct {
		of    []Reading
		below float64
	}{
		"records": {referenceReadings(false, "records", 0.6), 9.924843 * unit * math.Sqrt2},
		"draws":   {referenceReadings(false, stats.OverDraws, 0.61, 0.59), 63.656741 * math.Sqrt(0.0002*1.5)},
	} {
		for k := range c.of {
			c.of[k].Floor.P95 = 0.1
			c.of[k] = c.of[k].AtLevel(0.99)
		}
		if r := c.of[0]; math.Abs(r.Value-r.Low-2.575829*unit) > 1e-6 || math.Abs(r.High-r.Value-2*2.575829*unit) > 1e-6 || r.Level != 0.99 ||
			math.Abs(r.Floor.P95-0.1*2.575829/1.959964) > 1e-6 {
			t.Errorf("%s: %+v at 99 %%", name, r)
		}
		if got := ReferenceOf(Loss{}, c.of...); math.Abs(got.Value-got.Low-c.below) > 2e-5 {
			t.Errorf("%s: %v, want %v below", name, got.Estimate, c.below)
		}
	}
}

// What is no evidence stays none, with the model that it is of; without intervals there is none.
func TestReferencesOfWhatIsNoEvidence(t *testing.T) {
	of := referenceReadings(false, "records", 0.6, 0.5, 0.4)
	of[1].NoEvidence, of[1].Model = Reason{Call: CannotTell, Why: "tied"}, "retrained-2"
	if got := ReferenceOf(Loss{}, of...); got.NoEvidence.Why != "tied" || got.Model != "retrained-2" {
		t.Errorf("%+v", got)
	}
	bare := Reading{Estimate: stats.Estimate{Value: 1, Low: math.NaN(), High: math.NaN()}}
	if got := ReferenceOf(Loss{}, bare); got.HasInterval() || got.Value != 1 {
		t.Errorf("%v", got.Estimate)
	}
}

// Where the sets are drawn alike, what a seed does is in the intervals over records, unless one model tells
// them apart, by its losses or by the lens itself.
func TestReferencesOfSetsThatAreDrawnAlikeKeepTheirIntervals(t *testing.T) {
	null := 0.5
	of := referenceReadings(false, "records", 0.51, 0.47)
	keeps := func(l Lens) bool {
		got := ReferenceOf(l, of...)
		low, high := (of[0].Low+of[1].Low)/2, (of[0].High+of[1].High)/2
		return math.Abs(got.Low-low)+math.Abs(got.High-high) < 1e-12
	}
	for k := range of {
		of[k].Null, of[k].DrawnAlike, of[k].Contrast = &null, true, true
	}
	if !keeps(Loss{}) || !keeps(Outputs{}) {
		t.Error("sets that are drawn alike do not keep their intervals")
	}
	of[0].Contrast = false
	if keeps(Probability{}) {
		t.Error("a mean over forgotten records takes what a seed does to all records for nothing")
	}
	of[0].Contrast = true
	of[1].DrawnAlike = false
	if keeps(Loss{}) || keeps(Outputs{}) {
		t.Error("the losses of one model tell the sets apart")
	}
	of[1].DrawnAlike = true
	of[0].Value, of[0].Low, of[0].High = 0.6, 0.58, 0.61
	if keeps(Loss{}) || !keeps(Outputs{}) {
		t.Error("one reading is unlike the null of non-members, which outputs do not have")
	}
}

// Wider intervals are never nearer to each other: whether sets were drawn alike is asked at 95 %, not at the coverage
// in question, at which the null is in every interval at last.
func TestTheReferenceWidensWithTheCoverage(t *testing.T) {
	null := 0.5
	r := Reading{Memory: Above, DrawnAlike: true, Contrast: true, Estimate: stats.Estimate{Value: 0.6, Low: 0.52, High: 0.68, Level: 0.95, Over: "records", Null: &null}}
	before := 0.0
	for _, level := range []float64{0.95, 0.97, 0.98, 0.99, 0.999, 0.99999} {
		got := ReferenceOf(Loss{}, r.AtLevel(level))
		if width := got.High - got.Low; width <= before {
			t.Errorf("at %v the reference is %v wide, at less %v", level, width, before)
		} else {
			before = width
		}
	}
}
