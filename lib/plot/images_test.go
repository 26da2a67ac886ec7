package plot_test

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/plot"
)

// four is one image of 2 x 2 pixels: red, green, blue, white.
func four() plot.Images {
	return plot.Images{
		Pixels: array.Matrix[float32]{Rows: 1, Cols: 12, Data: []float32{255, 0, 0, 0, 255, 0, 0, 0, 255, 300, 255, 255}},
		Shape:  [3]int{2, 2, 3}, White: 255,
	}
}

func TestAnImageHasItsPixelsInTheirPlaces(t *testing.T) {
	f := four()
	f.Width = 200
	img := decode(t, f)
	// Where a colour's pixels are on average tells the quarter it fills.
	centre := func(match func(c color.NRGBA) bool) (x, y, n int) {
		for j := range img.Bounds().Dy() {
			for i := range img.Bounds().Dx() {
				if match(color.NRGBAModel.Convert(img.At(i, j)).(color.NRGBA)) {
					x, y, n = x+i, y+j, n+1
				}
			}
		}
		return x / max(n, 1), y / max(n, 1), n
	}
	rx, ry, r := centre(func(c color.NRGBA) bool { return c.R > 250 && c.G < 5 && c.B < 5 })
	gx, gy, g := centre(func(c color.NRGBA) bool { return c.G > 250 && c.R < 5 && c.B < 5 })
	bx, by, b := centre(func(c color.NRGBA) bool { return c.B > 250 && c.G < 5 && c.R < 5 })
	if r < 1000 || g < 1000 || b < 1000 {
		t.Fatalf("%d red, %d green and %d blue pixels", r, g, b)
	}
	if rx+20 > gx || ry+20 > by || gy > ry+3 || bx > rx+3 {
		t.Errorf("red at %d,%d, green at %d,%d, blue at %d,%d", rx, ry, gx, gy, bx, by)
	}
}

func TestInkOnPaperIsTheSameImageTurnedRound(t *testing.T) {
	f := plot.Images{Pixels: array.Matrix[float32]{Rows: 1, Cols: 2, Data: []float32{0, 0.25}}, Shape: [3]int{1, 2, 1}}
	if s := f.Text(); !strings.Contains(s, "light 0.12") {
		t.Errorf("mean light of 0 and 0.25:\n%s", s)
	}
	f.Black, f.White = 1, 0
	if s := f.Text(); !strings.Contains(s, "light 0.88") {
		t.Errorf("mean light of 0 and 0.25 as ink:\n%s", s)
	}
}

func TestOnlyFlaggedImagesHaveTheFrame(t *testing.T) {
	f := demoImages()
	f.Scale = 1
	orange := color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}
	all := countColour(decode(t, f), orange)
	for i := range f.Flagged {
		f.Flagged[i] = i == 0
	}
	one := countColour(decode(t, f), orange)
	f.Flagged = nil
	if none := countColour(decode(t, f), orange); none != 0 || one < 300 || all < 3*one {
		t.Errorf("%d pixels of the frame's colour with four flags, %d with one, %d without", all, one, none)
	}
}

func TestOddImagesRender(t *testing.T) {
	long := strings.Repeat("long label ", 30) + strings.Repeat("x", 300)
	for name, f := range map[string]plot.Images{
		"one pixel":    {Pixels: array.New[float32](1, 1), Shape: [3]int{1, 1, 1}, Labels: []string{long}},
		"very tall":    {Pixels: array.New[float32](2, 1000), Shape: [3]int{1000, 1, 1}},
		"very wide":    {Pixels: array.New[float32](2, 1000), Shape: [3]int{1, 1000, 1}},
		"many columns": {Meta: plot.Meta{Width: 120}, Pixels: array.New[float32](400, 1), Shape: [3]int{1, 1, 1}, Columns: 400, Labels: make([]string, 400)},
		"many images":  {Meta: plot.Meta{Width: 300}, Pixels: array.New[float32](100, 4), Shape: [3]int{2, 2, 1}},
	} {
		if _, err := f.PNG(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := (plot.Panels{Figures: []plot.Figure{f}}).PNG(); err != nil {
			t.Errorf("%s in panels: %v", name, err)
		}
	}
}

func TestAFigureFitsItsPlaceUnlessItNamesAWidth(t *testing.T) {
	for _, c := range []struct {
		f    plot.Figure
		want int
	}{
		{demoMeans(), plot.NotebookWidth * plot.NotebookDPI / 96},
		{demoROC(), 620 * plot.NotebookDPI / 96},
		{plot.Strips{Meta: plot.Meta{Width: 500, Scale: 1}, Groups: []string{"a"}, Series: []plot.StripSeries{{Values: [][]float64{{1}}}}}, 500},
	} {
		f := plot.WithWidth(c.f, plot.NotebookWidth)
		if got := decode(t, f).Bounds().Dx(); got != c.want {
			t.Errorf("%d pixels wide, want %d", got, c.want)
		}
		if f.Text() != c.f.Text() {
			t.Error("the text changed with the width")
		}
	}
	if plot.WithWidth(nil, 100) != nil {
		t.Error("no figure became one")
	}
}

// The text of an image grid says what is shown.
func ExampleImages() {
	f := plot.Images{
		Pixels:  array.Matrix[float32]{Rows: 2, Cols: 4, Data: []float32{0, 1, 1, 0, 0, 0, 0, 0.5}},
		Shape:   [3]int{2, 2, 1},
		Labels:  []string{"record 7", "record 12"},
		Flagged: []bool{true, false}, FlagLabel: "forgotten",
	}
	fmt.Print(f.Text())
	// Output:
	// 2 grey images, 2 pixels high and 2 wide; light: mean from 0 (black) to 1 (white)
	//   1  record 7   light 0.50  forgotten
	//   2  record 12  light 0.12
}

// A grid gives the points that a classifier is asked about; here its answer is
// the distance to the left edge.
func ExampleDecision() {
	grid := plot.Grid{XMax: 1, YMax: 1, Columns: 5, Rows: 5}
	points, err := grid.Points()
	if err != nil {
		fmt.Println(err)
		return
	}
	p := array.New[float32](points.Rows, 2)
	for i := range p.Rows {
		x := points.Row(i)[0]
		p.Row(i)[0], p.Row(i)[1] = 1-x, x
	}
	d := plot.Decision{
		Grid: grid, Classes: []string{"left", "right"}, Probabilities: p,
		Points: []plot.DecisionPoints{{Kind: plot.Forgotten, X: []float64{0.2, 0.9}, Y: []float64{0.5, 0.5}, Class: []int{0, 0}}},
	}
	png, err := d.PNG()
	fmt.Println(len(png) > 0, err)
	// Output: true <nil>
}
