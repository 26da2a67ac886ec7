package plot_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The figures below are made of invented numbers of a realistic kind. They are
// what the tests draw; with LETHE_PLOT_DEMO set to a folder they are written
// there at the width of a notebook, to be looked at.

var dataSets = []string{"Breast Cancer", "Pima Diabetes", "German Credit", "Heart Disease", "Adult", "Bank Marketing", "Electricity", "Magic Telescope", "Spambase", "Wine Quality"}

const demoSource = "made-up numbers · scale paper · seeds 0-9 · data 3fa1c2d49b07 · engine go, AVX2 · results 1"

func ptr(v float64) *float64 { return &v }

func normals(rng *rand.Rand, n int, mean, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + sd*rng.NormFloat64()
	}
	return out
}

func demoStrips() plot.Strips {
	rng := rand.New(rand.NewPCG(1, 2))
	s := plot.Strips{
		Meta: plot.Meta{
			Title:   "Rank of forgotten records among retained ones, per data set (5 % forgotten)",
			Caption: "One point per seed; box: quartiles, line: median. At the null a forgotten record is as close to the retained ones as any other. The oracle never saw the forgotten records: where it leaves the null, so must an honest method.",
			Source:  demoSource,
		},
		Y:      plot.Axis{Label: "M4 (rank, 0 to 1)"},
		X:      plot.Axis{Label: "data set"},
		Groups: dataSets,
		Null:   &plot.Null{Value: 0.5, Label: "null: 0.5", Low: ptr(0.46), High: ptr(0.54), BandLabel: "chance band (95 %)"},
	}
	for i, name := range []string{"NegGrad", "fine-tuning", "SCRUB", "Bad Teacher", "retrained oracle", "do nothing", "oracle, other seed"} {
		r := plot.StripSeries{Name: name, Control: i >= 4, Paper: make([]*float64, len(dataSets))}
		for g := range dataSets {
			r.Values = append(r.Values, normals(rng, 10, 0.5+0.012*float64(g)+0.01*float64(i), 0.025))
			if i == 2 {
				r.Paper[g] = ptr(0.51 + 0.011*float64(g))
			}
		}
		s.Series = append(s.Series, r)
	}
	s.Series[1].Values[3] = nil
	s.Series[2].Values[4] = s.Series[2].Values[4][:3]
	return s
}

func demoMeans() plot.Strips {
	rng := rand.New(rand.NewPCG(3, 4))
	s := plot.Strips{
		Meta:    plot.Meta{Title: "Membership attack, balanced accuracy", Caption: "Point and bar: mean and 95 % t interval over seeds.", Source: demoSource},
		Y:       plot.Axis{Label: "balanced accuracy"},
		Groups:  []string{"1 % forgotten", "5 % forgotten", "10 % forgotten"},
		Summary: plot.MeanInterval,
		GroupNulls: []plot.Null{
			{Value: 0.5, Low: ptr(0.38), High: ptr(0.62), Label: "null: 0.5", BandLabel: "chance floor at this sample size"},
			{Value: 0.5, Low: ptr(0.45), High: ptr(0.55)},
			{Value: 0.5, Low: ptr(0.465), High: ptr(0.535)},
		},
	}
	for i, name := range []string{"NegGrad", "fine-tuning", "SCRUB", "Bad Teacher", "do nothing", "oracle"} {
		r := plot.StripSeries{Name: name, Control: i >= 4}
		for g := range s.Groups {
			r.Values = append(r.Values, normals(rng, 10, 0.5+0.01*float64(i), 0.05/float64(g+1)))
		}
		s.Series = append(s.Series, r)
	}
	return s
}

func estimate(v, half float64) stats.Estimate {
	return stats.Estimate{Value: v, Low: v - half, High: v + half, Level: 0.95, Over: "data sets", Null: ptr(0), Better: stats.NearNull, N: 10}
}

func demoForest() plot.Forest {
	f := plot.Forest{
		Meta: plot.Meta{Title: "Residual similarity after unlearning (Table 1)", Caption: "Fixed effect of a mixed model over ten data sets. Zero: the unlearned model treats forgotten records as a model that never saw them.", Source: demoSource},
		X:    plot.Axis{Label: "M2: similarity to the oracle, forgotten minus retained"},
		Null: &plot.Null{Value: 0, Label: "null: 0"},
	}
	for g, group := range []string{"1 % forgotten", "5 % forgotten", "10 % forgotten"} {
		d := 0.004 * float64(g)
		f.Rows = append(f.Rows,
			plot.ForestRow{Group: group, Label: "NegGrad", Estimate: estimate(-0.031-d, 0.012), P: ptr(0.0002), Paper: ptr(-0.029)},
			plot.ForestRow{Group: group, Label: "fine-tuning", Estimate: estimate(-0.002-d, 0.003), P: ptr(0.21), Paper: ptr(-0.001)},
			plot.ForestRow{Group: group, Label: "SCRUB", Estimate: estimate(-0.012-d, 0.008), P: ptr(0.008), Paper: ptr(-0.019)},
			plot.ForestRow{Group: group, Label: "Bad Teacher", Estimate: estimate(-0.052-d, 0.02), P: ptr(0.00001), Paper: ptr(-0.049)},
			plot.ForestRow{Group: group, Label: "do nothing", Estimate: estimate(-0.0006, 0.002), P: ptr(0.6), Control: true},
			plot.ForestRow{Group: group, Label: "oracle, other seed", Estimate: estimate(0.0138, 0.010), P: ptr(0.04), Control: true},
		)
	}
	f.Rows[11] = plot.ForestRow{Group: "5 % forgotten", Label: "oracle, other seed", Control: true, Missing: "one seed only"}
	f.Rows[2].Estimate.Low, f.Rows[2].Estimate.High = math.NaN(), math.NaN()
	return f
}

func demoScores() (members, others []float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	others = normals(rng, 900, 0, 1)
	return append(normals(rng, 340, 0.3, 1), normals(rng, 30, 3.4, 0.6)...), others
}

func demoHistograms() plot.Histograms {
	members, others := demoScores()
	return plot.Histograms{
		Meta:    plot.Meta{Title: "Attack scores of members and non-members", Caption: "A model that remembers gives its members higher scores. The bins are shared; heights are shares of each sample.", Source: demoSource},
		X:       plot.Axis{Label: "score (higher: more like a member)"},
		Samples: []plot.Sample{{Name: "members", Values: members}, {Name: "non-members", Values: others}},
		Null:    &plot.Null{Value: 1.1, Label: "threshold"},
	}
}

func demoROC() plot.ROC {
	members, others := demoScores()
	rng := rand.New(rand.NewPCG(7, 8))
	r := plot.ROC{Meta: plot.Meta{Title: "Membership attack before and after unlearning", Caption: "Above the diagonal the attack beats chance; below it the model was pushed too far.", Source: demoSource}}
	r.Positives, r.Negatives = len(members), len(others)
	for i, name := range []string{"do nothing", "SCRUB", "NegGrad"} {
		pos := members
		if i > 0 {
			pos = normals(rng, 370, 0.2-0.4*float64(i-1), 1)
		}
		fpr, tpr, _, err := stats.ROC(pos, others)
		if err != nil {
			panic(err)
		}
		auc, err := stats.DeLong(pos, others, 0.95)
		if err != nil {
			panic(err)
		}
		r.Curves = append(r.Curves, plot.ROCCurve{Name: name, FPR: fpr, TPR: tpr, AUC: &auc, Control: i == 0})
	}
	return r
}

func demoCurves() plot.Curves {
	f := plot.Curves{
		Meta:  plot.Meta{Title: "Loss on the forgotten records while unlearning", Caption: "Line and band: mean and 95 % interval over ten seeds.", Source: demoSource},
		X:     plot.Axis{Label: "epoch"},
		Y:     plot.Axis{Label: "cross-entropy (nats)"},
		Null:  &plot.Null{Value: 0.62, Label: "retrained oracle", Low: ptr(0.58), High: ptr(0.66), BandLabel: "oracle over seeds"},
		Marks: []plot.Mark{{X: 40, Label: "unlearning starts"}},
		Paper: []plot.PaperPoint{{Label: "SCRUB, after 20 epochs", X: 60, Y: 0.66}},
	}
	for i, name := range []string{"NegGrad", "SCRUB", "fine-tuning", "do nothing"} {
		c := plot.Curve{Name: name, Control: i == 3}
		for e := range 61 {
			y := 0.25 + 0.6*math.Exp(-float64(e)/12)
			if e > 40 {
				y += []float64{0.9, 0.38, 0.12, 0}[i] * (1 - math.Exp(-float64(e-40)/6))
			}
			c.X = append(c.X, float64(e))
			c.Y = append(c.Y, y)
			c.Low = append(c.Low, y-0.02-0.01*float64(i))
			c.High = append(c.High, y+0.02+0.01*float64(i))
		}
		f.Curves = append(f.Curves, c)
	}
	return f
}

func demoHeatmap() plot.Heatmap {
	rng := rand.New(rand.NewPCG(9, 10))
	h := plot.Heatmap{
		Meta:    plot.Meta{Title: "Cosine similarity of oracles trained from different seeds", Caption: "One oracle per seed; the diagonal is left out.", Source: demoSource},
		Value:   "mean cosine similarity",
		X:       plot.Axis{Label: "seed of the second oracle"},
		Y:       plot.Axis{Label: "seed of the first oracle"},
		Rows:    []string{"0", "1", "2", "3", "4", "5"},
		Columns: []string{"0", "1", "2", "3", "4", "5"},
	}
	for i := range 6 {
		h.Values = append(h.Values, normals(rng, 6, 0.5, 0.2))
		h.Missing = append(h.Missing, make([]string, 6))
		h.Missing[i][i] = "the same model"
	}
	return h
}

func demoDiverging() plot.Heatmap {
	rng := rand.New(rand.NewPCG(11, 12))
	h := plot.Heatmap{
		Meta:    plot.Meta{Title: "M2 per data set and method", Caption: "Zero is the null: blue below, orange above.", Source: demoSource},
		Value:   "M2 (similarity, forgotten minus retained)",
		Null:    ptr(0),
		Digits:  3,
		Rows:    []string{"NegGrad", "fine-tuning", "SCRUB", "Bad Teacher", "do nothing"},
		Columns: dataSets,
	}
	for range h.Rows {
		h.Values = append(h.Values, normals(rng, len(dataSets), -0.01, 0.02))
	}
	return h
}

func demoPanels() plot.Panels {
	s := demoStrips()
	p := plot.Panels{Meta: plot.Meta{Title: "M4 per data set", Caption: "One panel per data set, one axis for all.", Source: demoSource}, Columns: 4, ShareY: true}
	for g := range 8 {
		one := s
		one.Meta = plot.Meta{Title: s.Groups[g]}
		one.X.Label = ""
		one.Groups = []string{"5 %"}
		one.Series = nil
		for _, r := range s.Series {
			one.Series = append(one.Series, plot.StripSeries{Name: r.Name, Control: r.Control, Values: r.Values[g : g+1], Paper: r.Paper[g : g+1]})
		}
		p.Figures = append(p.Figures, one)
	}
	return p
}

// demoPoints are two half circles, each tenth point to be forgotten.
func demoPoints(rng *rand.Rand, n int) (x, y []float64, class []int) {
	for i := range n {
		angle := math.Pi * rng.Float64()
		cx, cy := math.Cos(angle), math.Sin(angle)
		if i%2 == 1 {
			cx, cy = 1-cx, 0.5-cy
		}
		x, y, class = append(x, cx+0.15*rng.NormFloat64()), append(y, cy+0.15*rng.NormFloat64()), append(class, i%2)
	}
	return x, y, class
}

// demoDecision is an invented classifier of two moons; bump is how much it
// remembers of a corner.
func demoDecision(title string, bump float64) plot.Decision {
	rng := rand.New(rand.NewPCG(13, 14))
	x, y, class := demoPoints(rng, 120)
	hx, hy, hclass := demoPoints(rng, 30)
	d := plot.Decision{
		Meta:    plot.Meta{Title: title, Caption: "Colour: the class that the model says, stronger where it is surer. A model that forgot looks like the retrained one around the triangles.", Source: demoSource},
		X:       plot.Axis{Label: "first feature"},
		Y:       plot.Axis{Label: "second feature"},
		Classes: []string{"upper", "lower"},
		Points: []plot.DecisionPoints{
			{X: x[12:], Y: y[12:], Class: class[12:]},
			{Kind: plot.Forgotten, X: x[:12], Y: y[:12], Class: class[:12]},
			{Kind: plot.HeldOut, X: hx, Y: hy, Class: hclass},
		},
	}
	d.Grid = plot.GridAround(d.Points...)
	d.Probabilities = onGrid(d.Grid, func(x, y float64) []float64 {
		z := 6*(y-0.25) - 5*math.Sin(2.6*(x-0.5)-math.Pi)*0.4 + bump*math.Exp(-((x-0.1)*(x-0.1)+(y-0.2)*(y-0.2))*8)
		p := 1 / (1 + math.Exp(-z))
		return []float64{p, 1 - p}
	})
	return d
}

func onGrid(g plot.Grid, f func(x, y float64) []float64) array.Matrix[float32] {
	pts, err := g.Points()
	if err != nil {
		panic(err)
	}
	var out array.Matrix[float32]
	for i := range pts.Rows {
		p := f(float64(pts.Row(i)[0]), float64(pts.Row(i)[1]))
		for _, v := range p {
			out.Data = append(out.Data, float32(v))
		}
		out.Rows, out.Cols = i+1, len(p)
	}
	return out
}

// demoThree has three classes around the origin, and points without classes.
func demoThree() plot.Decision {
	rng := rand.New(rand.NewPCG(15, 16))
	d := plot.Decision{
		Meta:    plot.Meta{Title: "Three classes", Source: demoSource},
		Grid:    plot.Grid{XMin: -2, XMax: 2, YMin: -2, YMax: 2},
		Classes: []string{"north", "south-west", "south-east"},
		Points:  []plot.DecisionPoints{{X: normals(rng, 40, 0, 1), Y: normals(rng, 40, 0, 1)}},
	}
	d.Probabilities = onGrid(d.Grid, func(x, y float64) []float64 {
		sum, p := 0.0, make([]float64, 3)
		for c := range p {
			angle := math.Pi/2 + 2*math.Pi*float64(c)/3
			p[c] = math.Exp(2 * (x*math.Cos(angle) + y*math.Sin(angle)))
			sum += p[c]
		}
		for c := range p {
			p[c] /= sum
		}
		return p
	})
	return d
}

func demoSides() plot.Panels {
	p := plot.Panels{Meta: plot.Meta{Title: "What the model says before and after forgetting", Caption: "The forgotten points pulled the line; after retraining it runs without them.", Source: demoSource}, Columns: 3}
	for i, title := range []string{"before", "after NegGrad", "retrained"} {
		d := demoDecision(title, []float64{5, -2, 0}[i])
		p.Figures = append(p.Figures, d)
	}
	return p
}

// demoImages are invented digits: rings and bars of 12 x 12 pixels.
func demoImages() plot.Images {
	rng := rand.New(rand.NewPCG(17, 18))
	const side, n = 12, 10
	f := plot.Images{
		Meta:   plot.Meta{Title: "What the attack found first", Caption: "Framed images were in the forget set.", Source: demoSource},
		Pixels: array.New[float32](n, side*side), Shape: [3]int{side, side, 1}, Black: 1, White: 0,
		FlagLabel: "forgotten", Flagged: make([]bool, n),
	}
	for i := range n {
		for k := range side * side {
			x, y := float64(k%side)-5.5, float64(k/side)-5.5
			far := math.Abs(x)
			if i%2 == 0 {
				far = math.Abs(math.Hypot(x, y) - 3.6)
			}
			f.Pixels.Data[i*side*side+k] = float32(math.Max(0, math.Min(1, 1.5-far+0.1*rng.NormFloat64())))
		}
		f.Labels = append(f.Labels, fmt.Sprintf("%s, score %.2f", []string{"ring", "bar"}[i%2], 0.98-0.05*float64(i)))
		f.Flagged[i] = i%3 == 0
	}
	return f
}

// demoColours are invented colour images.
func demoColours() plot.Images {
	rng := rand.New(rand.NewPCG(19, 20))
	const side, n = 16, 8
	f := plot.Images{Meta: plot.Meta{Title: "Reconstructions", Source: demoSource}, Pixels: array.New[float32](n, side*side*3), Shape: [3]int{side, side, 3}, White: 255, Columns: 4}
	for i := range f.Pixels.Data {
		at, image := i%(side*side*3), i/(side*side*3)
		x, y, ch := at/3%side, at/3/side, at%3
		f.Pixels.Data[i] = float32(128 + 100*math.Sin(0.4*float64(x+image)+2*float64(ch))*math.Cos(0.3*float64(y)) + 8*rng.NormFloat64())
	}
	for i := range n {
		f.Labels = append(f.Labels, []string{"record 4711", "a very long label that needs more lines than there is room for under a small image"}[i%2])
	}
	return f
}

// demoScatter is a plane of eight kinds of points, some of them rare.
func demoScatter() plot.Scatter {
	rng := rand.New(rand.NewPCG(21, 22))
	f := plot.Scatter{
		Meta: plot.Meta{Title: "Cells by type, first two components", Caption: "Rare types lie on top.", Source: demoSource},
		X:    plot.Axis{Label: "component 1"}, Y: plot.Axis{Label: "component 2"},
	}
	for i, n := range []int{700, 480, 480, 340, 270, 160, 30, 14} {
		f.Clouds = append(f.Clouds, plot.Cloud{
			Name: fmt.Sprintf("type %d", i+1), X: normals(rng, n, 4*math.Cos(float64(i)), 0.8), Y: normals(rng, n, 4*math.Sin(float64(i)), 0.8), Control: i == 0,
		})
	}
	return f
}

// demos are all kinds by name.
func demos() map[string]plot.Figure {
	return map[string]plot.Figure{
		"strips":     demoStrips(),
		"means":      demoMeans(),
		"forest":     demoForest(),
		"histograms": demoHistograms(),
		"roc":        demoROC(),
		"rocpair":    plot.ROCLinearAndLog(demoROC()),
		"curves":     demoCurves(),
		"heatmap":    demoHeatmap(),
		"diverging":  demoDiverging(),
		"panels":     demoPanels(),
		"decision":   demoDecision("Two moons before forgetting", 5),
		"three":      demoThree(),
		"sides":      demoSides(),
		"images":     demoImages(),
		"colours":    demoColours(),
		"scatter":    demoScatter(),
	}
}

func TestDemosAreWrittenWhereAsked(t *testing.T) {
	dir := os.Getenv("LETHE_PLOT_DEMO")
	if dir == "" {
		t.Skip("LETHE_PLOT_DEMO names no folder")
	}
	for name, f := range demos() {
		png, err := plot.WithWidth(f, plot.NotebookWidth).PNG()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(f.Text()), 0o644); err != nil {
			t.Fatal(err)
		}
		v, ok := f.(plot.Interactive)
		if !ok {
			continue
		}
		spec, err := v.VegaLite()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".vl.json"), spec, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
