package plot_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/plot"
)

func cloud(name string, xs, ys []float64) plot.Cloud { return plot.Cloud{Name: name, X: xs, Y: ys} }

// Two kinds of points; the smaller one is on top.
func ExampleScatter() {
	many := plot.Cloud{Name: "common", Control: true}
	for i := range 64 {
		many.X, many.Y = append(many.X, float64(i)), append(many.Y, float64(i%16))
	}
	f := plot.Scatter{
		X: plot.Axis{Min: plot.Limit(0), Max: plot.Limit(63)}, Y: plot.Axis{Min: plot.Limit(0), Max: plot.Limit(15)},
		Clouds: []plot.Cloud{{Name: "rare", X: []float64{0, 63}, Y: []float64{0, 15}}, many},
	}
	lines := strings.Split(f.Text(), "\n")
	fmt.Println(strings.TrimRight(lines[0], " "))
	fmt.Println(strings.Join(lines[len(lines)-3:], "\n"))
	// Output:
	// 15 │               b               b               b               a
	// a rare: 2 points
	// b common: 64 points
}

// A point of the smaller cloud is seen where a larger one has its points too, in
// whatever order they are given; one of a control never covers another.
func TestSmallerCloudsLieOnTopOfLargerOnesAndControlsBelowAll(t *testing.T) {
	small, large := cloud("small", []float64{0, 1}, []float64{0, 1}), cloud("large", []float64{0, 1, 0.5}, []float64{0, 1, 0.5})
	control := plot.Cloud{Name: "control", X: []float64{0}, Y: []float64{0}, Control: true}
	for _, clouds := range [][]plot.Cloud{{small, large, control}, {control, large, small}, {large, control, small}} {
		sign := map[string]string{}
		for i, c := range clouds {
			sign[c.Name] = string(rune('a' + i))
		}
		lines := strings.Split(plot.Scatter{Clouds: clouds}.Text(), "\n")
		drawing := strings.Join(lines[:16], "")
		if n := strings.Count(drawing, sign["small"]); n != 2 {
			t.Errorf("the small cloud shows %d of 2 points:\n%s", n, strings.Join(lines, "\n"))
		}
		if strings.Contains(drawing, sign["control"]) {
			t.Errorf("a control covers a point:\n%s", strings.Join(lines, "\n"))
		}
	}
}

func TestAScatterShowsItsNull(t *testing.T) {
	f := plot.Scatter{Clouds: []plot.Cloud{cloud("genes", []float64{1, 2}, []float64{0, 4})}, Null: &plot.Null{Value: 1, Label: "as expected"}}
	if !strings.Contains(f.Text(), "\u2504") {
		t.Errorf("no level line in\n%s", f.Text())
	}
	with, err := f.PNG()
	if err != nil {
		t.Fatal(err)
	}
	f.Null = nil
	if without, err := f.PNG(); err != nil || bytes.Equal(with, without) {
		t.Errorf("the picture is the same without its null (%v)", err)
	}
}

func TestAScatterRefusesWhatCannotBeDrawn(t *testing.T) {
	for _, c := range []struct {
		f    plot.Scatter
		want string
	}{
		{plot.Scatter{}, "no data"},
		{plot.Scatter{Clouds: []plot.Cloud{{Name: "none"}}}, `cloud "none" is empty`},
		{plot.Scatter{Clouds: []plot.Cloud{cloud("short", []float64{1, 2}, []float64{1})}}, `"short" has 2 x and 1 y`},
		{plot.Scatter{Clouds: []plot.Cloud{cloud("odd", []float64{1, math.NaN()}, []float64{1, 2})}}, `"odd", x of point 2 is NaN`},
		{plot.Scatter{Y: plot.Axis{Log: true}, Clouds: []plot.Cloud{cloud("zero", []float64{1}, []float64{0})}}, "a log axis needs more than 0"},
		{plot.Scatter{Clouds: []plot.Cloud{cloud("many", make([]float64, 50_001), make([]float64, 50_001))}}, "more than 50000 points"},
	} {
		if _, err := c.f.PNG(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one that holds %q", err, c.want)
		}
	}
}
