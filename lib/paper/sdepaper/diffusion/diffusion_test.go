package diffusion

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/lab/labtest"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// tiny runs in a second: it tests the recipe, not the paper.
func tiny() Setting {
	return Setting{
		DataSet: "glyphs", Records: 48, HeldOut: 24, Subset: 8, Subsets: 4, Draws: 3, Sigmas: []float64{2, 16}, Samples: 2,
		Net: diffusion.UNet{Width: 4, Levels: 2}, Fit: train.Config{Epochs: 2, Batch: 16},
	}
}

func TestIsComputedOnceAndPrints(t *testing.T) {
	e, s := enginetest.WithStore(t)
	d := tiny()
	epochs := 0
	l := &lab.Lab{Engine: e, Store: s, AfterEpoch: func(train.Epoch) { epochs++ }}
	r, err := d.Run(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	if epochs != 2 || len(r.History) != 2 || len(r.Variants) != 6 || r.Dim != 8*8*8 {
		t.Fatalf("%d epochs, history %v, %d variants, dim %d", epochs, r.History, len(r.Variants), r.Dim)
	}
	again, err := d.Run(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	if epochs != 2 || !reflect.DeepEqual(r, again) {
		t.Error("the second run trained again or read another result")
	}
	for _, a := range r.Variants {
		for k, est := range a.F1 {
			if !(est.Value >= 0 && est.Value <= 1) || est.N != d.Draws || *est.Null != 0.5 {
				t.Errorf("%s at %v: %+v", a.Name, r.Sigmas[k], est)
			}
		}
		if gated := a.Name != "spread only" && a.Name != "closed form"; gated != (a.Gate != nil) {
			t.Errorf("%s has a gate: %v", a.Name, a.Gate)
		}
	}
	p := r.provenance(e, "quick")
	table := r.Table(p)
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	if text := fmt.Sprint(table.Notes); !strings.Contains(text, "glyphs stand in") {
		t.Errorf("the notes do not say that the data are generated: %s", text)
	}
	f, err := r.Figure(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
}

func TestEachJobIsDoneByItself(t *testing.T) {
	e, s := enginetest.WithStore(t)
	l := &lab.Lab{Engine: e, Store: s}
	labtest.CheckWorkMakesRuns(t, s, func() ([]lab.Job, error) { return tiny().jobs(t.Context(), l) })
}

func TestRefusesSettingsThatCannotBe(t *testing.T) {
	e, s := enginetest.WithStore(t)
	l := &lab.Lab{Engine: e, Store: s}
	for want, change := range map[string]func(*Setting){
		"at least 32 forgotten":     func(d *Setting) { d.Records = 31 },
		"there are 48 and 7":        func(d *Setting) { d.HeldOut = 7 },
		"1 draws":                   func(d *Setting) { d.Draws = 1 },
		"-2 subsets":                func(d *Setting) { d.Subsets = -2 },
		"noise is -1":               func(d *Setting) { d.Noise = -1 },
		"noise is NaN":              func(d *Setting) { d.Noise = math.NaN() },
		"glyphs has 3000 and 1000":  func(d *Setting) { d.Records = 2000 },
		"nosuch":                    func(d *Setting) { d.DataSet = "nosuch" },
		"width 6":                   func(d *Setting) { d.Net.Width = 6 },
		"the bandwidth -1 is not a": func(d *Setting) { d.Sigmas = []float64{-1} },
	} {
		d := tiny()
		change(&d)
		if _, err := d.Run(context.Background(), l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
	if _, err := SettingAt("paper"); err == nil || !strings.Contains(err.Error(), "quick, which is also hour, and standard") {
		t.Error(err)
	}
	for _, scale := range []string{"quick", "standard"} {
		d, err := SettingAt(scale)
		if err != nil {
			t.Error(err)
		}
		if err := d.withDefaults().check(); err != nil {
			t.Errorf("%s: %v", scale, err)
		}
	}
}

// clouds are n rows of normal numbers, times scale.
func clouds(n int, scale float64, stream uint64) array.Matrix[float64] {
	rng, m := engine.Root(8).Stream("test", stream), array.New[float64](n, 20)
	for i := range m.Data {
		m.Data[i] = scale * rng.NormFloat64()
	}
	return m
}

func TestFindsWhatIsPlantedAndNothingWhereNothingIs(t *testing.T) {
	d := Setting{Subset: 80, Subsets: 10, Draws: 20}
	for _, c := range []struct {
		scale, low, high float64
	}{{1.3, 0.9, 1}, {1, 0.35, 0.65}} {
		variant := Variant{}
		test := halvesSource(clouds(600, 1, 1), c.scale)
		if err := d.judgeVariant(context.Background(), &variant, test, sde.SDE{}, []float64{math.Sqrt(20)}); err != nil {
			t.Fatal(err)
		}
		if v := variant.Accuracy[0].Value; v < c.low || v > c.high {
			t.Errorf("scale %v: accuracy %v", c.scale, variant.Accuracy[0])
		}
	}
}

func TestTargetsAndReferencesShareNoRecord(t *testing.T) {
	d := Setting{Subset: 10}
	m := array.New[float64](60, 1)
	for i := range m.Data {
		m.Data[i] = float64(i)
	}
	in, rest := d.divide(m, engine.Root(1).Stream("test"))
	if in.Rows != 10 || rest.Rows != 50 {
		t.Errorf("%d reference records, %d others", in.Rows, rest.Rows)
	}
	seen := map[float64]bool{}
	for _, v := range append(in.Data, rest.Data...) {
		if seen[v] {
			t.Errorf("record %v is there twice", v)
		}
		seen[v] = true
	}
}

func TestBandwidthsRunFromOneToTheDimension(t *testing.T) {
	got := Sigmas(3136, 11)
	if len(got) != 11 || got[0] != 1 || math.Abs(got[10]-3136) > 1e-9 {
		t.Errorf("%v", got) // sqrt(dim) is the middle of eleven
	}
	if got := Sigmas(3136, 4); len(got) != 5 || math.Abs(got[2]-56) > 1e-9 {
		t.Errorf("%v", got)
	}
}

// The rate of the denoiser's training falls along half a cosine unless the
// setting says otherwise: the default's weights are those of the cosine, and not
// those of a rate that stays.
func TestTheDenoisersRateFallsAlongACosine(t *testing.T) {
	weights := func(s *train.Schedule) string {
		e, store := enginetest.WithStore(t)
		d := tiny()
		d.Fit.Schedule = s
		d = d.withDefaults()
		data, err := d.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d.Net.Channels, d.Net.Side = data.shape[0], data.shape[1]
		m, err := d.trained(t.Context(), &lab.Lab{Engine: e, Store: store}, data)
		if err != nil {
			t.Fatal(err)
		}
		return m.trained.Weights.Hash()
	}
	own := weights(nil)
	if own != weights(train.Cosine()) {
		t.Error("the default is not the cosine")
	}
	// In two epochs half a cosine multiplies the rate by 1 and 0.5.
	if own != weights(&train.Schedule{Kind: "steps", Milestones: []int{1}, Gamma: 0.5}) {
		t.Error("two epochs along half a cosine are not one at the full rate and one at half of it")
	}
	if own == weights(train.Steps()) {
		t.Error("a rate that stays gives the same weights")
	}
}
