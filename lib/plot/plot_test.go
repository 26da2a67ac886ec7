package plot_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

func decode(t *testing.T, f plot.Figure) image.Image {
	t.Helper()
	b, err := f.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestEveryKindRendersInEveryFormat(t *testing.T) {
	for name, f := range demos() {
		t.Run(name, func(t *testing.T) {
			if img := decode(t, f); img.Bounds().Dx() != pixelsWide(name) {
				t.Errorf("%d pixels wide, want %d", img.Bounds().Dx(), pixelsWide(name))
			}
			var svg, txt bytes.Buffer
			if err := f.Render(&svg, "svg"); err != nil || !strings.Contains(svg.String(), "<svg") {
				t.Errorf("svg: %v", err)
			}
			if err := f.Render(&txt, "txt"); err != nil || txt.String() != f.Text() {
				t.Errorf("txt: %v", err)
			}
			if strings.HasPrefix(f.Text(), "(") || !strings.Contains(f.Text(), demoSource) {
				t.Errorf("text without its source:\n%s", f.Text())
			}
			for _, l := range strings.Split(f.Text(), "\n") {
				if strings.TrimRight(l, " ") != l {
					t.Errorf("space at the end of %q", l)
				}
			}
			if err := f.Render(io.Discard, "bmp"); err == nil || !strings.Contains(err.Error(), `"bmp"`) {
				t.Errorf("unknown format: %v", err)
			}
		})
	}
}

// pixelsWide is the standard width of a kind on a picture of scale 2.
func pixelsWide(name string) int {
	if name == "roc" || name == "decision" || name == "three" {
		return 1240
	}
	return 1800
}

func TestTheSameFigureGivesTheSameBytes(t *testing.T) {
	for name, f := range map[string]plot.Figure{"forest": demoForest(), "diverging": demoDiverging(), "curves": demoCurves()} {
		for _, format := range []string{"png", "svg", "txt"} {
			var a, b bytes.Buffer
			if err := f.Render(&a, format); err != nil {
				t.Fatal(err)
			}
			if err := f.Render(&b, format); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%s as %s: bytes differ", name, format)
			}
		}
	}
}

func TestSizeFollowsWidthAndScale(t *testing.T) {
	f := demoMeans()
	f.Width, f.Height, f.Scale = 500, 200, 1
	small := decode(t, f).Bounds()
	f.Scale = 3
	large := decode(t, f).Bounds()
	if small.Dx() != 500 || large.Dx() != 1500 || small.Dy() < 250 || large.Dy() < 3*small.Dy()-3 || large.Dy() > 3*small.Dy()+3 {
		t.Errorf("%v at scale 1, %v at scale 3", small, large)
	}
}

// countColour counts the pixels of a colour, with a small tolerance.
func countColour(img image.Image, want color.NRGBA) int {
	n := 0
	b := img.Bounds()
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 6 }
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			if near(c.R, want.R) && near(c.G, want.G) && near(c.B, want.B) {
				n++
			}
		}
	}
	return n
}

// The yellow of the chance band on white.
var bandOnWhite = color.NRGBA{0xFA, 0xF6, 0xBD, 0xFF}

func TestTheChanceBandIsOnThePicture(t *testing.T) {
	f := demoStrips()
	f.Scale = 1
	with := countColour(decode(t, f), bandOnWhite)
	f.Null = &plot.Null{Value: 0.5}
	without := countColour(decode(t, f), bandOnWhite)
	if with < 10000 || without > 50 {
		t.Errorf("%d yellow pixels with a band, %d without", with, without)
	}
}

func TestTheNullLineRunsAcrossThePicture(t *testing.T) {
	f := plot.Strips{Groups: []string{"a"}, Series: []plot.StripSeries{{Name: "s", Values: [][]float64{{0.2}}}}, Null: &plot.Null{Value: 0.7}}
	f.Scale = 1
	row, most := 0, 0
	img := decode(t, f)
	for y := range img.Bounds().Dy() {
		n := 0
		for x := range img.Bounds().Dx() {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			if c.R == c.G && c.G == c.B && c.R < 0xA0 && c.R > 0x28 {
				n++
			}
		}
		// The axis line at the foot is longer; the null is the highest long line.
		if n > 400 && row == 0 {
			row, most = y, n
		}
	}
	if row == 0 || row > img.Bounds().Dy()/2 || most > 800 {
		t.Errorf("a long line in row %d of %d with %d dark pixels; the dashed null belongs into the upper half", row, img.Bounds().Dy(), most)
	}
}

func TestMethodsAndControlsHaveTheirColours(t *testing.T) {
	f := plot.Forest{Rows: []plot.ForestRow{{Label: "x", Estimate: stats.Estimate{Value: 1, Low: 0, High: 2}}}}
	blue := color.NRGBA{0x00, 0x72, 0xB2, 0xFF}
	if n := countColour(decode(t, f), blue); n < 200 {
		t.Errorf("a method has %d blue pixels", n)
	}
	f.Rows[0].Control = true
	if n := countColour(decode(t, f), blue); n != 0 {
		t.Errorf("a control has %d blue pixels", n)
	}
}

func TestSparseFiguresRender(t *testing.T) {
	one := stats.Estimate{Value: 3, Low: math.NaN(), High: math.NaN()}
	for name, f := range map[string]plot.Figure{
		"an empty group":    plot.Strips{Groups: []string{"a", "b"}, Series: []plot.StripSeries{{Name: "s", Values: [][]float64{nil, {1, 2}}}}},
		"a single point":    plot.Strips{Groups: []string{""}, Series: []plot.StripSeries{{Values: [][]float64{{1}}}}},
		"mean of one":       plot.Strips{Summary: plot.MeanInterval, Groups: []string{"a"}, Series: []plot.StripSeries{{Values: [][]float64{{1}}}}},
		"equal points":      plot.Strips{Groups: []string{"a"}, Series: []plot.StripSeries{{Values: [][]float64{{2, 2, 2, 2, 2, 2}}}}},
		"log with low mean": plot.Strips{Summary: plot.MeanInterval, Y: plot.Axis{Log: true}, Groups: []string{"a"}, Series: []plot.StripSeries{{Values: [][]float64{{1e-4, 1, 20}}}}},
		"no interval":       plot.Forest{Rows: []plot.ForestRow{{Label: "x", Estimate: one}}},
		"all missing":       plot.Forest{Rows: []plot.ForestRow{{Label: "x", Missing: "not run"}}},
		"clipped interval":  plot.Forest{X: plot.Axis{Min: ptr(0), Max: ptr(1)}, Rows: []plot.ForestRow{{Label: "x", Estimate: stats.Estimate{Value: 0.5, Low: -4, High: 9}}}},
		"outside the axis":  plot.Forest{X: plot.Axis{Min: ptr(0), Max: ptr(1)}, Rows: []plot.ForestRow{{Label: "x", Estimate: stats.Estimate{Value: 5, Low: 4, High: 9}, Paper: ptr(7)}}},
		"limit above all":   plot.Forest{X: plot.Axis{Min: ptr(10)}, Rows: []plot.ForestRow{{Label: "x", Estimate: one}}},
		"one value":         plot.Histograms{Samples: []plot.Sample{{Values: []float64{7}}}},
		"log histogram":     plot.Histograms{X: plot.Axis{Log: true}, Samples: []plot.Sample{{Values: []float64{1e-6, 1, 100}}}},
		"one point":         plot.Curves{Curves: []plot.Curve{{X: []float64{1}, Y: []float64{1}}}},
		"one cell":          plot.Heatmap{Rows: []string{"a"}, Columns: []string{"b"}, Values: [][]float64{{1}}},
		"no cell":           plot.Heatmap{Rows: []string{"a"}, Columns: []string{"b"}, Values: [][]float64{{math.NaN()}}, Missing: [][]string{{"not run"}}},
		"log ROC":           plot.ROC{Log: true, Curves: []plot.ROCCurve{{FPR: []float64{0, 1}, TPR: []float64{0, 1}}}},
		"perfect ROC":       plot.ROC{Log: true, Curves: []plot.ROCCurve{{FPR: []float64{0, 0, 1}, TPR: []float64{0, 1, 1}}}},
		"tiny differences":  plot.Curves{Curves: []plot.Curve{{X: []float64{0, 1}, Y: []float64{1, 1 + 1e-15}}}},
		"huge numbers":      plot.Curves{Curves: []plot.Curve{{X: []float64{0, 1}, Y: []float64{-1e149, 1e149}}}},
		"tiny numbers":      plot.Curves{Curves: []plot.Curve{{X: []float64{0, 1}, Y: []float64{0, 5e-324}}}},
		"odd letters":       plot.Curves{Meta: plot.Meta{Title: "a\nb\x00\xff\U0001f52c" + strings.Repeat("x", 400)}, Curves: []plot.Curve{{Name: "\n", X: []float64{1, 2}, Y: []float64{1, 2}}}},
	} {
		if _, err := f.PNG(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s := f.Text(); strings.HasPrefix(s, "(figure") {
			t.Errorf("%s as text: %s", name, s)
		}
	}
}

func TestBadDataIsRefusedByName(t *testing.T) {
	nan := math.NaN()
	strips := func(change func(*plot.Strips)) plot.Figure { f := demoStrips(); change(&f); return f }
	forest := func(change func(*plot.Forest)) plot.Figure { f := demoForest(); change(&f); return f }
	curves := func(change func(*plot.Curves)) plot.Figure { f := demoCurves(); change(&f); return f }
	for _, c := range []struct {
		f    plot.Figure
		want string
	}{
		{plot.Strips{}, "no data"},
		{plot.Strips{Groups: []string{"a"}, Series: []plot.StripSeries{{Values: [][]float64{nil}}}}, "no data"},
		{strips(func(f *plot.Strips) { f.Series[2].Values[4][1] = nan }), `series "SCRUB", group "Adult", value 2 is NaN`},
		{strips(func(f *plot.Strips) { f.Series[1].Values = f.Series[1].Values[:3] }), `series "fine-tuning" has values for 3 groups, there are 10`},
		{strips(func(f *plot.Strips) { f.Series[2].Paper[0] = &nan }), `series "SCRUB", group "Breast Cancer", paper value is NaN`},
		{strips(func(f *plot.Strips) { f.Y.Log = true; f.Series[0].Values[0][0] = 0 }), `series "NegGrad", group "Breast Cancer", value 1 is 0, a log axis needs more than 0`},
		{strips(func(f *plot.Strips) { f.Null.High = nil }), "the null band needs both limits"},
		{strips(func(f *plot.Strips) { f.GroupNulls = make([]plot.Null, 2) }), "2 null values for 10 groups"},
		{strips(func(f *plot.Strips) { f.Y.Min, f.Y.Max = ptr(1), ptr(0) }), "y axis: the lower limit 1 is not below the upper limit 0"},
		{strips(func(f *plot.Strips) { f.Width = 5 }), "width 5 is outside"},
		{strips(func(f *plot.Strips) { f.Scale = 9 }), "scale 9 is outside"},
		{strips(func(f *plot.Strips) { f.Width, f.Height, f.Scale = 6000, 6000, 4 }), "pixels are more than"},
		{plot.Forest{}, "no data"},
		{forest(func(f *plot.Forest) { f.Rows[3].Estimate.Value = nan }), `row "Bad Teacher" of "1 % forgotten": value is NaN`},
		{forest(func(f *plot.Forest) { f.Rows[3].Estimate.Low = math.Inf(-1) }), `row "Bad Teacher" of "1 % forgotten": lower bound is -Inf`},
		{forest(func(f *plot.Forest) { f.Rows[3].Estimate.Low = 4 }), "the interval runs from 4 to"},
		{forest(func(f *plot.Forest) { f.Rows[0].P = ptr(1.2) }), "p is 1.2"},
		{forest(func(f *plot.Forest) { f.X.Max = &nan }), "x axis: limit is NaN"},
		{plot.Histograms{}, "no data"},
		{plot.Histograms{Samples: []plot.Sample{{Name: "members"}}}, `sample "members" is empty`},
		{plot.Histograms{Samples: []plot.Sample{{Name: "members", Values: []float64{1, nan}}}}, `sample "members", value 2 is NaN`},
		{plot.Histograms{Bins: -1, Samples: []plot.Sample{{Values: []float64{1}}}}, "-1 bins"},
		{plot.Curves{}, "no data"},
		{curves(func(f *plot.Curves) { f.Curves[1].Y = f.Curves[1].Y[1:] }), `curve "SCRUB" has 61 x and 60 y`},
		{curves(func(f *plot.Curves) { f.Curves[1].High = nil }), `curve "SCRUB" has 61 points and a band of 61 and 0`},
		{curves(func(f *plot.Curves) { f.Curves[0].Y[7] = 1e200 }), `curve "NegGrad", y of point 8 is 1e+200, too large`},
		{curves(func(f *plot.Curves) { f.Marks[0].X = nan }), `mark "unlearning starts" is NaN`},
		{plot.ROC{}, "no data"},
		{plot.ROC{Curves: []plot.ROCCurve{{Name: "a", FPR: []float64{0}, TPR: []float64{0, 1}}}}, `curve "a" has 1 false and 2 true positive rates`},
		{plot.ROC{Curves: []plot.ROCCurve{{Name: "a", FPR: []float64{0, 2}, TPR: []float64{0, 1}}}}, `curve "a", false positive rate 2 is 2`},
		{plot.ROC{Curves: []plot.ROCCurve{{Name: "a", FPR: []float64{0, 1}, TPR: []float64{1, 0}}}}, "falls from 1 to 0"},
		{plot.ROC{Curves: []plot.ROCCurve{{Name: "a", FPR: []float64{0, nan}, TPR: []float64{0, 1}}}}, `curve "a", false positive rate 2 is NaN`},
		{plot.Heatmap{}, "no data"},
		{plot.Heatmap{Rows: []string{"r"}, Columns: []string{"c"}, Values: [][]float64{{nan}}}, `row "r", column "c" is NaN`},
		{plot.Heatmap{Rows: []string{"r"}, Columns: []string{"c"}, Values: [][]float64{{1, 2}}}, `row "r" has 2 values for 1 columns`},
		{plot.Panels{}, "no data"},
		{plot.Panels{Figures: []plot.Figure{nil}}, "panel 1 is empty"},
		{plot.Panels{Figures: []plot.Figure{demoForest(), plot.Panels{}}}, "panel 2 holds panels itself"},
		{plot.Panels{Figures: []plot.Figure{plot.Forest{Meta: plot.Meta{Title: "inner"}}}}, `panel 1: figure "inner": no data`},
		{plot.Panels{Figures: []plot.Figure{demoCurves(), curves(func(f *plot.Curves) {
			f.Curves[0].Low, f.Curves[0].High = nil, nil
			f.Null = &plot.Null{Label: f.Curves[0].Name}
		})}}, "in another style"},
	} {
		b, err := c.f.PNG()
		if err == nil || !strings.Contains(err.Error(), c.want) || b != nil {
			t.Errorf("error %v, want %q in it", err, c.want)
			continue
		}
		if s := c.f.Text(); !strings.Contains(s, c.want) && c.want != "pixels are more than" {
			t.Errorf("text %q, want %q in it", s, c.want)
		}
	}
}

func TestSharedAxesHaveOneRange(t *testing.T) {
	curve := func(top float64) plot.Curves {
		return plot.Curves{Curves: []plot.Curve{{Name: "c", X: []float64{0, 1}, Y: []float64{0, top}}}}
	}
	p := plot.Panels{Figures: []plot.Figure{curve(1), curve(100)}}
	if n := strings.Count(p.Text(), "105 "); n != 1 {
		t.Errorf("%d panels reach 105 without a shared axis, want 1\n%s", n, p.Text())
	}
	p.ShareY = true
	if n := strings.Count(p.Text(), "105 "); n != 2 {
		t.Errorf("%d panels reach 105 with a shared axis, want 2\n%s", n, p.Text())
	}
}

func TestFiguresRenderSideBySide(t *testing.T) {
	f := demoMeans()
	f.Scale = 1
	want, err := f.PNG()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := f.PNG(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("error %v, same bytes %v", err, bytes.Equal(got, want))
			}
		})
	}
	all.Wait()
}

func BenchmarkStripsPNG(b *testing.B) {
	f := demoStrips()
	for b.Loop() {
		if _, err := f.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkForestText(b *testing.B) {
	f := demoForest()
	for b.Loop() {
		_ = f.Text()
	}
}
