package power

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

func numbers(n int) (out []int) {
	for k := range n {
		out = append(out, k)
	}
	return out
}

// simulated is a lens whose excess is normal and grows with the share, by slope standard
// deviations at the whole forget set.
func simulated(rng *rand.Rand, seeds int, slope float64) lensReadings {
	f := lensReadings{}
	for _, share := range []float64{0, repeatedShare, 0.1, 0.2, 0.4, 0.7, 1} {
		f.memories = append(f.memories, PlantedMemory{share, 1})
		var excess []float64
		var accused []bool
		for range seeds {
			v := rng.NormFloat64() + slope*share
			excess, accused = append(excess, v), append(accused, v > 1.96)
		}
		f.excess, f.detected = append(f.excess, excess), append(f.detected, accused)
	}
	return f
}

// One retrained model in 20 is flagged, however few others there are to compare with.
func TestOneRetrainedModelInTwentyIsAccused(t *testing.T) {
	for _, seeds := range []int{5, 12, 40} {
		var sizes []float64
		for k := range 4000 / seeds {
			f := simulated(rand.New(rand.NewPCG(uint64(k), 77)), seeds, 0)
			sizes = append(sizes, f.powerByRetraining(0, numbers(seeds)))
		}
		if e := stats.MeanInterval(sizes, 0.999, "cases"); e.Low > falseAlarms || e.High < falseAlarms {
			t.Errorf("%d seeds: %v are accused", seeds, e)
		}
	}
}

// A lens whose excess is 6 standard deviations at the whole forget set has a power of 0.8
// at (1.645 + 0.842)/6 = 0.41 of it, a blind one at none.
func TestTheSmallestShareIsThatOfTheNormalLaw(t *testing.T) {
	f := simulated(rand.New(rand.NewPCG(3, 3)), 120, 6)
	share := func(p PlantedMemory) float64 { return p.Share }
	got := f.smallestByRule(f.powerByRetraining, f.onceIndices(), share, rand.New(rand.NewPCG(1, 1)))
	// Between 0.4, where power is 0.77, and 0.7, where it is 0.99, a straight line.
	if math.Abs(got.Value-0.43) > 0.08 || !(got.Low <= got.Value && got.Value <= got.High) || got.High > 0.65 {
		t.Errorf("the smallest share is %+v", got)
	}
	blind := simulated(rand.New(rand.NewPCG(4, 4)), 30, 0)
	if got := blind.smallestByRule(blind.powerByRetraining, blind.onceIndices(), share, rand.New(rand.NewPCG(1, 1))); !math.IsInf(got.Value, 1) {
		t.Errorf("a blind lens finds %+v", got)
	}
	if text := smallestCell(got, "> 1", 2).Text + smallestCell(Smallest{math.Inf(1), 0.5, math.Inf(1)}, "> 1", 2).Text; !strings.HasSuffix(text, "> 1 [0.50, > 1]") {
		t.Error(text)
	}
}

func TestSmallestByHand(t *testing.T) {
	sizes := []float64{0, 0.1, 0.2, 0.4}
	for _, c := range []struct {
		powers []float64
		want   float64
	}{
		{[]float64{0.1, 0.6, 1, 1}, 0.15},
		{[]float64{0.1, 0.9, 0.5, 1}, 0.2 + 0.2*0.1/0.3}, // 0.7 and 0.7 on the way
		{[]float64{0.9, 0.9, 0.9, 0.9}, 0},
		{[]float64{0, 0.1, 0.2, 0.79}, math.Inf(1)},
	} {
		if got := smallest(sizes, c.powers); math.Abs(got-c.want) > 1e-12 && got != c.want {
			t.Errorf("%v: %v, want %v", c.powers, got, c.want)
		}
	}
	if got := isotonic([]float64{3, 1, 2, 5, 4}); !slices.Equal(got, []float64{2, 2, 2, 4.5, 4.5}) {
		t.Errorf("%v", got)
	}
}

// What stays is in the training, so many times, a larger share holds a smaller one, and
// nothing else of the forget set is there.
func TestAPlantIsWhatItSays(t *testing.T) {
	forget, retain, order := []int{3, 5, 7, 9}, []int{0, 1, 2}, []int{2, 0, 3, 1}
	if got := (PlantedMemory{0, 1}).trainRows(forget, retain, order); !slices.Equal(got, retain) {
		t.Errorf("none: %v", got)
	}
	if got := (PlantedMemory{0.5, 2}).trainRows(forget, retain, order); !slices.Equal(got, []int{0, 1, 2, 7, 7, 3, 3}) {
		t.Errorf("a half, twice: %v", got)
	}
	if got := (PlantedMemory{1, 1}).trainRows(forget, retain, order); len(got) != 7 {
		t.Errorf("all: %v", got)
	}
	if !slices.Equal(retain, []int{0, 1, 2}) {
		t.Error("it writes to the retained rows")
	}
}

func TestEverySeedPlantsOtherRecords(t *testing.T) {
	first := plantingOrder(1, 30)
	if slices.Equal(first, plantingOrder(2, 30)) || !slices.Equal(first, plantingOrder(1, 30)) {
		t.Error("the order is not the seed's")
	}
}

// On a table that is memorised the outputs find the whole forget set and nothing in
// retrained models; a record that is repeated is no error.
func TestAWholeForgetSetIsFound(t *testing.T) {
	e, s := enginetest.WithStore(t)
	env := &paper.Env{Engine: e, Store: s}
	c := flips()
	c.Data, c.Fit = lab.Limit(c.Data, 500, 0), train.Config{Epochs: 100, Optimizer: c.Fit.Optimizer}
	study := Study{Scale: "quick", Cases: []Case{c}, Seeds: 4, Shadows: 3, Memories: []PlantedMemory{{0, 1}, {0.1, 1}, {0.4, 1}, {1, 1}, {repeatedShare, 4}, {repeatedShare, 1}}}
	ev, err := paper.Collect(t.Context(), env, measurements(env, study))
	if err != nil {
		t.Fatal(err)
	}
	f, forget := collectReadings(study, ev, c.Label, "outputs")
	if f == nil || forget != 80 {
		t.Fatalf("%d to forget", forget)
	}
	if p := f.powerByRetraining(3, numbers(4)); p < 0.75 {
		t.Errorf("the whole forget set is found in %v of the seeds: %v against %v", p, f.excess[3], f.excess[0])
	}
	// Who has several retrained models sees four records in ten that outputs do not.
	if by, _ := collectReadings(study, ev, c.Label, allRecords); by.powerByRetraining(2, numbers(4)) < 0.75 || len(by.detected[0]) != 0 {
		t.Errorf("by retrained models: %v against %v", by.excess[2], by.excess[0])
	}
	for k, v := range f.excess[0] {
		if v == 0 {
			t.Errorf("seed %d: the retrained model is the oracle itself", k)
		}
	}
	out := showTable(env, study, ev)
	if err := out.Table.Check(); err != nil || len(out.Table.Rows) != len(lenses())+2 {
		t.Errorf("%d rows, %v", len(out.Table.Rows), err)
	}
	if panels := out.Figure.(plot.Panels).Figures; len(panels) != 1 || len(panels[0].(plot.Curves).Curves) != len(lenses())+2 {
		t.Errorf("%d panels", len(panels))
	}
	if _, err := out.Figure.PNG(); err != nil {
		t.Error(err)
	}
}

func TestScales(t *testing.T) {
	for _, s := range Paper().Scales {
		study, err := StudyAt(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range study.Cases {
			if c.DataSet() == "" {
				t.Errorf("%s: %s has no data", s.Name, c.Label)
			}
		}
	}
	if _, err := StudyAt("huge"); err == nil {
		t.Error("a scale that does not exist was accepted")
	}
}
