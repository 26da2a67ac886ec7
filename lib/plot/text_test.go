package plot_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The numbers in these drawings are placed by hand: with limits 0 and 1 and 41
// columns, the value v is in column 40 v.

func wantText(t *testing.T, f plot.Figure, want string) {
	t.Helper()
	if got := f.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStripsPrintOneLinePerSeries(t *testing.T) {
	wantText(t, plot.Strips{
		Meta:   plot.Meta{Title: "T", Caption: "C", Source: "S"},
		Y:      plot.Axis{Label: "score", Min: ptr(0), Max: ptr(1)},
		Groups: []string{"Adult"},
		Series: []plot.StripSeries{
			{Name: "SCRUB", Values: [][]float64{{0.25, 0.5, 0.5, 0.75, 1}}, Paper: []*float64{ptr(0.9)}},
			{Name: "none", Values: [][]float64{nil}, Control: true},
		},
		Null: &plot.Null{Value: 0.5, Low: ptr(0.4), High: ptr(0.6)},
	}, `T
         score
         0                                       1  median [quartiles], n
Adult
  SCRUB            •     ░░░░●░░░░     •     ◇   •  0.500 [0.500, 0.750], 5, paper 0.900
  none                   ░░░░┊░░░░                  no points
• one point   ● several   ◇ printed in the paper   ┊ null   ░ chance band
C
S
`)
}

func TestForestPrintsIntervalsAndNumbers(t *testing.T) {
	wantText(t, plot.Forest{
		X: plot.Axis{Min: ptr(0), Max: ptr(1)},
		Rows: []plot.ForestRow{
			{Group: "5 %", Label: "SCRUB", Estimate: stats.Estimate{Value: 0.5, Low: 0.25, High: 0.75}, P: ptr(0.01), Paper: ptr(0.9)},
			{Group: "5 %", Label: "oracle", Estimate: stats.Estimate{Value: 0.1, Low: -1, High: 2}, Control: true},
			{Group: "5 %", Label: "x", Missing: "not run"},
			{Group: "5 %", Label: "y", Estimate: stats.Estimate{Value: 0, Low: math.NaN(), High: math.NaN()}},
		},
		Null:   &plot.Null{Value: 0.2},
		Digits: 2,
	}, `          0                                       1            estimate      p  paper
5 %
  SCRUB           ┊ ├─────────●─────────┤     ◇       0.50 [0.25, 0.75]  0.010   0.90
  oracle  ◂───■───┼───────────────────────────────▸  0.10 [−1.00, 2.00]
  x               ┊                                           (not run)
  y       ●       ┊                                  0.00 [no interval]
● method   ■ control   ◇ printed in the paper   ┊ null   ░ chance band
`)
}

func TestHistogramsPrintSharesPerBin(t *testing.T) {
	wantText(t, plot.Histograms{
		X:       plot.Axis{Label: "score", Min: ptr(0), Max: ptr(4)},
		Bins:    2,
		Samples: []plot.Sample{{Name: "a", Values: []float64{0, 1, 1, 4}}, {Name: "b", Values: []float64{3, 9}}},
	}, `score
        a (n = 4)                       b (n = 2)
0 to 2  ████████████████████████ 0.750   0.000
2 to 4  ████████ 0.250                  ████████████████ 0.500
`)
}

func TestHeatmapPrintsATableAndItsGaps(t *testing.T) {
	wantText(t, plot.Heatmap{
		Value: "similarity", Rows: []string{"one", "b"}, Columns: []string{"x", "long name"},
		Values:  [][]float64{{1, -0.5}, {0.25, 0}},
		Missing: [][]string{{"", ""}, {"", "same model"}},
	}, `similarity
        x  long name
one  1.00      −0.50
b    0.25          –
– b, long name: same model
`)
}

func TestCurvesPrintTheirEnds(t *testing.T) {
	wantText(t, plot.Curves{
		X: plot.Axis{Label: "epoch", Min: ptr(0), Max: ptr(63)}, Y: plot.Axis{Label: "loss", Min: ptr(0), Max: ptr(15)},
		Curves: []plot.Curve{
			{Name: "up", X: []float64{0, 63}, Y: []float64{0, 15}, Low: []float64{0, 14}, High: []float64{1, 15}},
			{Name: "flat", X: []float64{10, 20}, Y: []float64{14, 14}},
		},
		Null:  &plot.Null{Value: 5},
		Marks: []plot.Mark{{X: 30, Label: "starts"}},
	}, `loss
15 │                                                             aaa
   │          bbbbbbbbbbb                                    aaaa
   │                                                     aaaa
   │                                                 aaaa
   │                                             aaaa
   │                                        aaaaa
   │                                    aaaa
   │                                aaaa
   │                            aaaa
   │                        aaaa
   │┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄aaaaa┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
   │               aaaa
   │           aaaa
   │       aaaa
   │   aaaa
 0 │aaa
   └────────────────────────────────────────────────────────────────
    0                                                             63
    epoch
a up: ends at 15.00 [14.00, 15.00]
b flat: ends at 14.00
starts: at 30
`)
}

// A forest plot for the terminal; PNG draws the same figure as a picture.
func ExampleForest() {
	f := plot.Forest{
		X:    plot.Axis{Label: "M2", Min: ptr(-0.1), Max: ptr(0.1)},
		Null: &plot.Null{Value: 0},
		Rows: []plot.ForestRow{
			{Label: "SCRUB", Estimate: stats.Estimate{Value: -0.04, Low: -0.06, High: -0.02, Level: 0.95}, Paper: ptr(-0.05)},
			{Label: "do nothing", Estimate: stats.Estimate{Value: 0.01, Low: -0.01, High: 0.03, Level: 0.95}, Control: true},
		},
	}
	fmt.Print(f.Text())
	// Output:
	//             M2
	//             −0.1                                  0.1                 estimate   paper
	// SCRUB               ├─◇─●───┤   ┊                      −0.040 [−0.060, −0.020]  −0.050
	// do nothing                    ├─┼─■───┤                  0.010 [−0.010, 0.030]
	// ● method   ■ control   ◇ printed in the paper   ┊ null   ░ chance band
}

// Points over seeds for two methods on one data set.
func ExampleStrips() {
	f := plot.Strips{
		Y:      plot.Axis{Label: "M4", Min: ptr(0.4), Max: ptr(0.6)},
		Groups: []string{"Breast Cancer"},
		Series: []plot.StripSeries{
			{Name: "SCRUB", Values: [][]float64{{0.52, 0.53, 0.55}}},
			{Name: "oracle", Values: [][]float64{{0.51, 0.53, 0.56}}, Control: true},
		},
		Null: &plot.Null{Value: 0.5},
	}
	fmt.Print(f.Text())
	// Output:
	//           M4
	//           0.4                                   0.6  median [quartiles], n
	// Breast Cancer
	//   SCRUB                       ┊   • •   •            0.530 [0.525, 0.540], 3
	//   oracle                      ┊ •   •     •          0.530 [0.520, 0.545], 3
	// • one point   ● several   ◇ printed in the paper   ┊ null   ░ chance band
}
