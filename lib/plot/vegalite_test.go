package plot_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// vega is a specification taken apart.
type vega struct {
	raw     string
	numbers map[float64]int // all numbers in the tables
	words   map[string]int  // all texts in the specification
	marks   []map[string]any
	spec    map[string]any
}

func specOf(t *testing.T, f plot.Interactive) vega {
	t.Helper()
	b, err := f.VegaLite()
	if err != nil {
		t.Fatal(err)
	}
	v := vega{raw: string(b), numbers: map[float64]int{}, words: map[string]int{}}
	if err := json.Unmarshal(b, &v.spec); err != nil {
		t.Fatal(err)
	}
	var walk func(x any, inData bool)
	walk = func(x any, inData bool) {
		switch x := x.(type) {
		case map[string]any:
			for key, inner := range x {
				walk(inner, inData || key == "values" || key == "datasets")
			}
		case []any:
			for _, inner := range x {
				walk(inner, inData)
			}
		case float64:
			if inData {
				v.numbers[x]++
			}
		case string:
			v.words[x]++
		}
	}
	walk(v.spec, false)
	for _, l := range v.spec["layer"].([]any) {
		v.marks = append(v.marks, l.(map[string]any))
	}
	return v
}

func (v vega) wants(t *testing.T, what string, values ...float64) {
	t.Helper()
	for _, x := range values {
		if v.numbers[x] == 0 {
			t.Errorf("%s: %v is not in the specification", what, x)
		}
	}
}

// layers are the parts whose mark is of the type.
func (v vega) layers(mark string) []map[string]any {
	var out []map[string]any
	for _, l := range v.marks {
		if l["mark"].(map[string]any)["type"] == mark {
			out = append(out, l)
		}
	}
	return out
}

// intervals counts the parts of the mark that run from low to high.
func (v vega) intervals(mark string) int {
	n := 0
	for _, l := range v.layers(mark) {
		enc := l["encoding"].(map[string]any)
		for _, axis := range []string{"x", "y"} {
			if field(enc[axis]) == "low" && field(enc[axis+"2"]) == "high" {
				n++
			}
		}
	}
	return n
}

// field is the column that a channel shows.
func field(channel any) any {
	c, _ := channel.(map[string]any)
	return c["field"]
}

func interactive() map[string]plot.Interactive {
	log := demoROC()
	log.Log = true
	log.Paper = []plot.PaperPoint{{Label: "SCRUB", X: 0.0001, Y: 0.04}}
	return map[string]plot.Interactive{
		"curves": demoCurves(), "roc": demoROC(), "log roc": log,
		"strips": demoStrips(), "means": demoMeans(), "forest": demoForest(),
	}
}

func TestEverySpecificationIsWholeAndAlwaysTheSame(t *testing.T) {
	for name, f := range interactive() {
		v := specOf(t, f)
		if v.spec["$schema"] != "https://vega.github.io/schema/vega-lite/v5.json" {
			t.Errorf("%s: schema %v", name, v.spec["$schema"])
		}
		if strings.Count(v.raw, "http") != 1 || strings.Contains(v.raw, `"url"`) {
			t.Errorf("%s names another address than its schema", name)
		}
		for _, word := range []string{demoSource, "#0072B2"} {
			if v.words[word] == 0 {
				t.Errorf("%s: no %q", name, word)
			}
		}
		if !strings.Contains(v.raw, `"tooltip":[`) {
			t.Errorf("%s has no tooltips", name)
		}
		again, err := f.VegaLite()
		if err != nil || string(again) != v.raw {
			t.Errorf("%s: other bytes the second time, error %v", name, err)
		}
		if len(v.raw) > 300_000 {
			t.Errorf("%s has %d bytes", name, len(v.raw))
		}
	}
}

func TestCurvesKeepTheirValuesBandsAndNull(t *testing.T) {
	f := demoCurves()
	v := specOf(t, f)
	for _, s := range f.Curves {
		for _, part := range [][]float64{s.X, s.Y, s.Low, s.High} {
			v.wants(t, s.Name, part...)
		}
	}
	v.wants(t, "null", 0.62, 0.58, 0.66)
	v.wants(t, "mark and paper", 40, 60)
	if v.intervals("area") != 1 || v.intervals("rule") != 1 || v.intervals("rect") != 1 {
		t.Errorf("%d bands, %d rules and %d null bands from low to high, want one of each", v.intervals("area"), v.intervals("rule"), v.intervals("rect"))
	}
	if v.words["hollow diamond: printed in the paper"] == 0 && !strings.Contains(v.raw, "hollow diamond: printed in the paper") {
		t.Error("nothing explains the paper's value")
	}
	f.Null, f.Paper = nil, nil
	for i := range f.Curves {
		f.Curves[i].Low, f.Curves[i].High = nil, nil
	}
	if v := specOf(t, f); v.intervals("area")+v.intervals("rule")+v.intervals("rect") != 0 || strings.Contains(v.raw, "diamond") {
		t.Error("bands without bounds, or a paper's mark without a value")
	}
}

func TestAROCSpecificationKeepsEveryCorner(t *testing.T) {
	f := plot.ROC{Curves: []plot.ROCCurve{{Name: "a", FPR: []float64{0, 0, 0, 0.25, 0.5, 1}, TPR: []float64{0, 0.125, 0.375, 0.375, 0.75, 1}}}}
	rows := specOf(t, f).spec["datasets"].(map[string]any)["points"].([]any)
	var got []float64
	for _, r := range rows {
		got = append(got, r.(map[string]any)["x"].(float64), r.(map[string]any)["y"].(float64))
	}
	want := []float64{0, 0, 0, 0.375, 0.25, 0.375, 0.5, 0.75, 1, 1}
	if !slices.Equal(got, want) {
		t.Errorf("points %v, want %v: all but the one inside an upright piece", got, want)
	}
	f.Log = true
	v := specOf(t, f)
	v.wants(t, "log axes", 0, 0.001, 0.375)
}

func TestStripsKeepEveryValueAndSummary(t *testing.T) {
	for name, f := range map[string]plot.Strips{"boxes": demoStrips(), "means": demoMeans()} {
		v := specOf(t, f)
		for _, s := range f.Series {
			for g, vs := range s.Values {
				v.wants(t, name+" "+s.Name, vs...)
				if s.Paper != nil && s.Paper[g] != nil {
					v.wants(t, name+" paper", *s.Paper[g])
				}
			}
		}
		rules, bars := v.intervals("rule"), v.intervals("bar")
		if f.Summary == plot.MeanInterval && (rules != 1 || bars != 0) || f.Summary == plot.Box && (rules != 0 || bars != 1) {
			t.Errorf("%s: intervals as %d rules and %d bars", name, rules, bars)
		}
	}
	means := demoMeans()
	e := stats.MeanInterval(means.Series[2].Values[1], 0.95, "seeds")
	v := specOf(t, means)
	v.wants(t, "interval of SCRUB", e.Value, e.Low, e.High)
	v.wants(t, "null of each group", 0.38, 0.62, 0.45, 0.55, 0.465, 0.535)
}

func TestForestKeepsItsIntervalsAsRulesAndThePaperHollow(t *testing.T) {
	f := demoForest()
	v := specOf(t, f)
	for _, r := range f.Rows {
		if r.Paper != nil {
			v.wants(t, r.Label+" paper", *r.Paper)
		}
		if r.Missing != "" {
			continue
		}
		v.wants(t, r.Label, r.Estimate.Value, *r.P)
		if !math.IsNaN(r.Estimate.Low) {
			v.wants(t, r.Label, r.Estimate.Low, r.Estimate.High)
		}
	}
	if v.intervals("rule") != 1 {
		t.Errorf("%d rules from low to high, want 1", v.intervals("rule"))
	}
	hollow := 0
	for _, l := range v.layers("point") {
		m := l["mark"].(map[string]any)
		if m["shape"] == "diamond" && m["fill"] == "#FFFFFF" && m["stroke"] == "#000000" {
			hollow++
		}
	}
	if hollow != 1 || v.words["(one seed only)"] == 0 || v.words["95 % interval over data sets"] == 0 {
		t.Errorf("%d hollow diamonds; reason %d, level %d", hollow, v.words["(one seed only)"], v.words["95 % interval over data sets"])
	}
}

func TestASpecificationRefusesBadDataAndTooMuchOfIt(t *testing.T) {
	long := make([]float64, 20_001)
	bad := demoCurves()
	bad.Curves[0].Y[3] = math.NaN()
	for _, c := range []struct {
		f    plot.Interactive
		want string
	}{
		{plot.Curves{}, "no data"}, {plot.ROC{}, "no data"}, {plot.Strips{}, "no data"}, {plot.Forest{}, "no data"},
		{bad, `curve "NegGrad", y of point 4 is NaN`},
		{plot.Curves{Meta: plot.Meta{Title: "T"}, Curves: []plot.Curve{{X: long, Y: long}}}, `figure "T" has 20001 values; a Vega-Lite picture holds 20000`},
		{plot.Strips{Groups: []string{"a"}, Series: []plot.StripSeries{{Values: [][]float64{long}}}}, "20001 values"},
	} {
		if b, err := c.f.VegaLite(); err == nil || b != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
}

func TestOddSpecificationsAreStillJSON(t *testing.T) {
	odd := "a\n'];\x00\xff\"\\" + strings.Repeat("long ", 100)
	one := stats.Estimate{Value: 3, Low: math.NaN(), High: math.NaN()}
	for name, f := range map[string]plot.Interactive{
		"one point":   plot.Curves{Meta: plot.Meta{Title: odd, Width: 120}, Curves: []plot.Curve{{Name: odd, X: []float64{1}, Y: []float64{1}}}},
		"equal names": plot.Curves{Curves: []plot.Curve{{X: []float64{1, 2}, Y: []float64{1, 2}}, {X: []float64{1, 2}, Y: []float64{3, 2}}}},
		"one row":     plot.Forest{Meta: plot.Meta{Width: 120}, Rows: []plot.ForestRow{{Group: odd, Label: odd, Estimate: one}}},
		"none there":  plot.Forest{Rows: []plot.ForestRow{{Label: "x", Missing: "not run"}}},
		"one value":   plot.Strips{Groups: []string{odd, odd}, Series: []plot.StripSeries{{Values: [][]float64{{1}, nil}}}},
		"log means":   plot.Strips{Y: plot.Axis{Log: true}, Summary: plot.MeanInterval, Groups: []string{"a"}, Series: []plot.StripSeries{{Values: [][]float64{{1, 1000}}}}},
		"perfect":     plot.ROC{Log: true, Curves: []plot.ROCCurve{{FPR: []float64{0, 0, 1}, TPR: []float64{0, 1, 1}}}},
	} {
		v := specOf(t, f)
		for _, side := range []string{"width", "height"} {
			if n := v.spec[side].(float64); n < 20 {
				t.Errorf("%s: %s %v", name, side, n)
			}
		}
	}
}
