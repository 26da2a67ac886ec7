package plot_test

import (
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/plot"
)

// halfPlane says class 0 left of x = 0.5 with the probability 1 - x.
func halfPlane(points ...plot.DecisionPoints) plot.Decision {
	d := plot.Decision{Grid: plot.Grid{XMax: 1, YMax: 1, Columns: 64, Rows: 16}, Classes: []string{"left", "right"}, Points: points}
	d.Probabilities = onGrid(d.Grid, func(x, _ float64) []float64 { return []float64{1 - x, x} })
	return d
}

func TestDecisionPrintsItsHalvesAndCountsItsPoints(t *testing.T) {
	f := halfPlane(
		plot.DecisionPoints{X: []float64{0, 1, 1, 7}, Y: []float64{0, 0, 1, 0}, Class: []int{0, 1, 0, 1}},
		plot.DecisionPoints{Kind: plot.Forgotten, X: []float64{0}, Y: []float64{1}, Class: []int{1}},
		plot.DecisionPoints{Kind: plot.HeldOut, Name: "test", X: []float64{0.5}, Y: []float64{0.5}},
	)
	half, other := strings.Repeat("\u00b7", 32), strings.Repeat("-", 32)
	lines := strings.Split(f.Text(), "\n")
	for j, want := range map[int]string{
		0:  "1 \u2502B" + half[2:] + other[1:] + "a",
		3:  "  \u2502" + half + other,
		15: "0 \u2502a" + half[2:] + other[1:] + "b",
		19: "- decided right (class b): 50 % of the area",
		18: "\u00b7 decided left (class a): 50 % of the area",
		20: "retained (small letters): 4 points, 1 outside; on the side of their class: left 1 of 2, right 1 of 1",
		21: "forgotten (capitals): 1 points; on the side of their class: right 0 of 1",
		22: "test (+): 1 points",
	} {
		if lines[j] != want {
			t.Errorf("line %d is\n%s\nwant\n%s", j, lines[j], want)
		}
	}
	if n := strings.Count(f.Text(), "+"); n != 2 {
		t.Errorf("%d plus signs, want one in the drawing and one below it\n%s", n, f.Text())
	}
}

func TestTheBoundaryRunsWhereBothClassesAreEqual(t *testing.T) {
	f := halfPlane()
	f.Scale = 1
	img := decode(t, f)
	b := img.Bounds()
	// In the middle row the only black is the boundary, halfway between the
	// outermost colours of the field.
	y := b.Dy() / 2
	first, last, black := 0, 0, []int{}
	for x := range b.Dx() {
		c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
		if first == 0 && int(c.B) > int(c.R)+60 {
			first = x
		}
		if int(c.R) > int(c.B)+60 {
			last = x
		}
		if c.R < 0x50 && c.G < 0x50 && c.B < 0x50 {
			black = append(black, x)
		}
	}
	if len(black) < 1 || len(black) > 3 {
		t.Fatalf("black pixels at %v, want the boundary alone", black)
	}
	if middle := (first + last) / 2; black[0] < middle-2 || black[0] > middle+2 {
		t.Errorf("the boundary is at %d, the middle of the field from %d to %d is %d", black[0], first, last, middle)
	}
}

func TestGridPointsRunAlongTheLinesFromTheLowest(t *testing.T) {
	g := plot.Grid{XMin: -1, XMax: 1, YMin: 10, YMax: 20, Columns: 3, Rows: 2}
	got, err := g.Points()
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{-1, 10, 0, 10, 1, 10, -1, 20, 0, 20, 1, 20}
	for i, v := range want {
		if got.Rows != 6 || got.Cols != 2 || got.Data[i] != v {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if standard, err := (plot.Grid{XMax: 1, YMax: 1}).Points(); err != nil || standard.Rows != 81*61 {
		t.Errorf("a grid of standard size has %d points: %v", standard.Rows, err)
	}
}

func TestAGridAroundPointsHoldsThemAll(t *testing.T) {
	for name, s := range map[string]plot.DecisionPoints{
		"none": {}, "one": {X: []float64{3}, Y: []float64{-2}},
		"level": {X: []float64{1, 2}, Y: []float64{5, 5}}, "huge": {X: []float64{-1e149, 1e149}, Y: []float64{0, 1}},
	} {
		g := plot.GridAround(s)
		if _, err := g.Points(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range s.X {
			if s.X[i] <= g.XMin || s.X[i] >= g.XMax || s.Y[i] <= g.YMin || s.Y[i] >= g.YMax {
				t.Errorf("%s: %v, %v is not inside %+v", name, s.X[i], s.Y[i], g)
			}
		}
	}
}

func TestOddDecisionsRender(t *testing.T) {
	grid := plot.Grid{XMax: 1, YMax: 1, Columns: 9, Rows: 9}
	even := onGrid(grid, func(_, _ float64) []float64 { return []float64{0.5, 0.5} })
	sure := onGrid(grid, func(_, _ float64) []float64 { return []float64{0, 1, 0} })
	saddle := onGrid(grid, func(x, y float64) []float64 {
		p := 0.5 + 0.5*math.Copysign(1, (x-0.44)*(y-0.44))
		return []float64{p, 1 - p}
	})
	long := strings.Repeat("long name ", 40)
	for name, f := range map[string]plot.Decision{
		"undecided everywhere": {Grid: grid, Classes: []string{"a", "b"}, Probabilities: even},
		"one class only":       {Grid: grid, Classes: []string{"a", "b", "c"}, Probabilities: sure},
		"saddles":              {Grid: grid, Classes: []string{"a", "b"}, Probabilities: saddle},
		"empty points":         {Grid: grid, Classes: []string{"a", "b"}, Probabilities: even, Points: []plot.DecisionPoints{{}, {Kind: plot.Forgotten, Class: []int{}}}},
		"long names":           {Meta: plot.Meta{Title: long, Width: 300}, X: plot.Axis{Label: long}, Grid: grid, Classes: []string{long, long + "b"}, Probabilities: even, Points: []plot.DecisionPoints{{Name: long, X: []float64{0.5}, Y: []float64{0.5}}}},
		"two by two":           {Grid: plot.Grid{XMax: 1, YMax: 1, Columns: 2, Rows: 2}, Classes: []string{"a", "b"}, Probabilities: array.Matrix[float32]{Rows: 4, Cols: 2, Data: []float32{1, 0, 0, 1, 0, 1, 1, 0}}},
	} {
		if _, err := f.PNG(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s := f.Text(); strings.HasPrefix(s, "(figure") {
			t.Errorf("%s as text: %s", name, s)
		}
	}
}

func TestBadDecisionsAndImagesAreRefusedByName(t *testing.T) {
	nan := math.NaN()
	decision := func(change func(*plot.Decision)) plot.Figure {
		d := demoDecision("d", 0)
		change(&d)
		return d
	}
	images := func(change func(*plot.Images)) plot.Figure { f := demoImages(); change(&f); return f }
	for _, c := range []struct {
		f    plot.Figure
		want string
	}{
		{plot.Decision{}, "no data"},
		{decision(func(d *plot.Decision) { d.Classes = d.Classes[:1] }), "1 classes; there can be 2 to 6"},
		{decision(func(d *plot.Decision) { d.Classes = make([]string, 7) }), "7 classes"},
		{decision(func(d *plot.Decision) { d.Classes = append(d.Classes, "c") }), "probabilities are 4941 x 2; a grid of 81 x 61 and 3 classes need 4941 x 3"},
		{decision(func(d *plot.Decision) { d.Grid.Rows = 60 }), "need 4860 x 2"},
		{decision(func(d *plot.Decision) { d.Grid.Columns = 100_000 }), "each side can have 2 to 1000"},
		{decision(func(d *plot.Decision) { d.Grid.Columns = -1 }), "the grid has -1 columns"},
		{decision(func(d *plot.Decision) { d.Grid.XMax = d.Grid.XMin }), "the grid runs from"},
		{decision(func(d *plot.Decision) { d.Grid.XMax = nan }), "grid: limit, value 2 is NaN"},
		{decision(func(d *plot.Decision) { d.Probabilities.Data[5] = float32(nan) }), "probabilities: row 2, column 1 is NaN"},
		{decision(func(d *plot.Decision) { d.Probabilities.Data[4] = -3 }), "probabilities: row 2, column 0 is -3"},
		{decision(func(d *plot.Decision) { d.Probabilities.Data[4], d.Probabilities.Data[5] = 0.9, 0.9 }), "row 2 adds up to 1.8, not 1"},
		{decision(func(d *plot.Decision) { d.Probabilities.Data = d.Probabilities.Data[:7] }), "7 values do not fill"},
		{decision(func(d *plot.Decision) { d.Points[0].X[3] = nan }), `points "retained", point 4, x is NaN`},
		{decision(func(d *plot.Decision) { d.Points[1].Y = d.Points[1].Y[1:] }), `points "forgotten" have 12 x and 11 y`},
		{decision(func(d *plot.Decision) { d.Points[2].Class = d.Points[2].Class[1:] }), `30 points "held out" have 29 classes`},
		{decision(func(d *plot.Decision) { d.Points[2].Class[0] = 2 }), `points "held out", point 1 has class 2 of 2`},
		{decision(func(d *plot.Decision) { d.Points[2].Kind = 9 }), "points 3 are of the unknown kind 9"},
		{decision(func(d *plot.Decision) {
			d.Points[0] = plot.DecisionPoints{X: make([]float64, 50_001), Y: make([]float64, 50_001)}
		}), "more than 50000 points"},
		{plot.Images{}, "no data"},
		{images(func(f *plot.Images) { f.Pixels.Data[3] = float32(nan) }), "pixels: row 0, column 3 is NaN"},
		{images(func(f *plot.Images) { f.Shape = [3]int{12, 12, 3} }), "an image has 144 values; 12 x 12 pixels with 3 channels need 432"},
		{images(func(f *plot.Images) { f.Shape = [3]int{12, 6, 2} }), "with 2 channels"},
		{images(func(f *plot.Images) { f.Shape = [3]int{1 << 40, 1 << 40, 1} }), "sides can be 1 to 1024"},
		{images(func(f *plot.Images) { f.Pixels.Rows = 1000 }), "1000 images"},
		{images(func(f *plot.Images) { f.Pixels.Rows = 11 }), "do not fill 11 x 144"},
		{images(func(f *plot.Images) { f.Columns = -1 }), "-1 columns"},
		{images(func(f *plot.Images) { f.White = f.Black }), "black and white are both 1"},
		{images(func(f *plot.Images) { f.White = nan }), "white is NaN"},
		{images(func(f *plot.Images) { f.Labels = f.Labels[1:] }), "9 labels for 10 images"},
		{images(func(f *plot.Images) { f.Flagged = f.Flagged[1:] }), "9 flags for 10 images"},
		{plot.ROC{Curves: []plot.ROCCurve{{FPR: []float64{0}, TPR: []float64{0}}}, Positives: -1}, "samples of -1 and 0"},
		{plot.Curves{Curves: []plot.Curve{{X: []float64{1}, Y: []float64{1}}}, Paper: []plot.PaperPoint{{Label: "T1", Y: nan}}}, `paper value "T1", y is NaN`},
		{plot.ROC{Curves: []plot.ROCCurve{{FPR: []float64{0}, TPR: []float64{0}}}, Paper: []plot.PaperPoint{{Label: "T1", X: 2}}}, `paper value "T1" has the rates 2 and 0`},
	} {
		b, err := c.f.PNG()
		if err == nil || !strings.Contains(err.Error(), c.want) || b != nil {
			t.Errorf("error %v, want %q in it", err, c.want)
			continue
		}
		if s := c.f.Text(); !strings.Contains(s, c.want) {
			t.Errorf("text %q, want %q in it", s, c.want)
		}
	}
}
