package plot_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Scores of members and non-members in shared bins.
func ExampleHistograms() {
	f := plot.Histograms{
		X:    plot.Axis{Label: "score", Min: ptr(0), Max: ptr(3)},
		Bins: 3,
		Samples: []plot.Sample{
			{Name: "members", Values: []float64{1.5, 2.5, 2.5, 2.9}},
			{Name: "non-members", Values: []float64{0.5, 0.5, 1.5, 2.5}},
		},
	}
	fmt.Print(f.Text())
	// Output:
	// score
	//         members (n = 4)                 non-members (n = 4)
	// 0 to 1   0.000                          ████████████████ 0.500
	// 1 to 2  ████████ 0.250                  ████████ 0.250
	// 2 to 3  ████████████████████████ 0.750  ████████ 0.250
}

// Two small maps under one title; the map with a null has colours both ways.
func ExamplePanels() {
	zero := 0.0
	one := plot.Heatmap{Meta: plot.Meta{Title: "similarity"}, Rows: []string{"a", "b"}, Columns: []string{"x", "y"}, Values: [][]float64{{1, 0.5}, {0.5, 1}}}
	two := plot.Heatmap{Meta: plot.Meta{Title: "difference"}, Null: &zero, Rows: []string{"a", "b"}, Columns: []string{"x", "y"}, Values: [][]float64{{0, -0.5}, {0.5, 0}}}
	fmt.Print(plot.Panels{Meta: plot.Meta{Title: "Both"}, Figures: []plot.Figure{one, two}}.Text())
	// Output:
	// Both
	// similarity
	//       x     y
	// a  1.00  0.50
	// b  0.50  1.00
	//
	// difference
	//       x      y
	// a  0.00  −0.50
	// b  0.50   0.00
}

// A curve is built point by point, and compared with a level line; the axis
// goes from 0 to 1 and the null has a band.
func ExampleCurve_Add() {
	c := plot.Curve{Name: "judged out"}
	for k, hits := range []int{4, 7, 10} {
		c.Add(float64(k), stats.Wilson(float64(hits)/10, 10, 0.95))
	}
	f := plot.Curves{
		X: plot.Axis{Label: "per cent wider"}, Y: plot.ShareAxis("judged out"),
		Curves: []plot.Curve{c, plot.HorizontalLine("oracle", 0.2, 0, 2)}, Null: plot.NullBand(0.5, 0.1),
	}
	fmt.Printf("%.2f to %.2f, band %.2f to %.2f\n", c.Low[0], c.High[2], *f.Null.Low, *f.Null.High)
	fmt.Println(f.Render(io.Discard, "png"))
	// Output:
	// 0.17 to 1.00, band 0.40 to 0.60
	// <nil>
}

// What cannot be drawn is an error with the name of the series.
func ExampleCurves() {
	var b bytes.Buffer
	f := plot.Curves{
		Meta:   plot.Meta{Title: "Loss"},
		Curves: []plot.Curve{{Name: "SCRUB", X: []float64{1, 2, 3}, Y: []float64{0.4, 0.2}}},
	}
	fmt.Println(f.Render(&b, "png"))
	// Output: figure "Loss": curve "SCRUB" has 3 x and 2 y
}

// The same attack on linear and on log axes.
func ExampleROCLinearAndLog() {
	r := plot.ROC{Curves: []plot.ROCCurve{{Name: "do nothing", FPR: []float64{0, 0, 0.5, 1}, TPR: []float64{0, 0.5, 1, 1}}}}
	png, err := plot.ROCLinearAndLog(r).PNG()
	fmt.Println(len(png) > 0, err)
	// Output: true <nil>
}

// A figure that a notebook can show in a browser as well.
func ExampleInteractive() {
	var f plot.Figure = plot.Curves{Curves: []plot.Curve{{Name: "loss", X: []float64{1, 2}, Y: []float64{0.7, 0.4}}}}
	if v, ok := f.(plot.Interactive); ok {
		spec, err := v.VegaLite()
		fmt.Println(bytes.Contains(spec, []byte("vega-lite/v5")), err)
	}
	// Output: true <nil>
}
