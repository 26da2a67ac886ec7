package sdepaper

// Functions that notebooks call to open a case of SDE, judge its models and read its measured rows.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Open is OpenCase in the environment of paper.Open, at the scale of LETHE_SCALE.
func Open(ctx context.Context, seed int) (*Case, error) {
	e, err := paper.Open()
	if err != nil {
		return nil, err
	}
	return OpenCase(ctx, e, paper.ScaleName(), seed)
}

// Make makes a table or figure of the paper there: "table", "4b".
func Make(ctx context.Context, kind, name string) (*paper.Output, error) {
	return Paper().Make(ctx, kind, name)
}

// LateModel is the retrained model at the time at which the paper judges.
func (c *Case) LateModel() (*Network, error) { return c.Retrained(JudgedAt) }

// LargestSize is the largest |S| of the scale.
func (c *Case) LargestSize() int { return slices.Max(c.Sizes) }

// AllSeeds are the cases of all seeds.
func (c *Case) AllSeeds(ctx context.Context) ([]*Case, error) {
	out := make([]*Case, c.Seeds)
	for seed := range out {
		var err error
		if out[seed], err = openCase(ctx, c.env, c.Study, seed); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Histograms show the draws of one verdict, times a thousand.
func Histograms(title string, r *sde.Result) plot.Histograms {
	sample := func(name string, d *sde.Distribution, control bool) plot.Sample {
		s := plot.Sample{Name: name, Control: control}
		for _, v := range d.Values {
			s.Values = append(s.Values, 1000*v)
		}
		return s
	}
	return plot.Histograms{Meta: plot.Meta{Title: title}, X: plot.Axis{Label: "H × 1000"}, Samples: []plot.Sample{
		sample("target", r.Target, false), sample("retained reference", r.In, false), sample("test reference", r.Out, true)}}
}

// JudgeDraws judges a model several times, with other references and targets each time.
func (c *Case) JudgeDraws(n *Network, m sde.Method, layer string, size, draws int) ([]Draw, error) {
	defer func(before int) { c.Draw = before }(c.Draw)
	var out []Draw
	for c.Draw = range draws {
		r, err := c.Judge(n, m, layer, size, c.Bandwidth(layer))
		if err != nil {
			return nil, err
		}
		out = append(out, drawOf(r))
	}
	return out, nil
}

// Accuracies are those of the draws, counting ties as out.
func Accuracies(draws []Draw) []float64 {
	var out []float64
	for _, d := range draws {
		out = append(out, d.Accuracy())
	}
	return out
}

// Verdicts is a table of one draw of references: the verdicts of SDE and of the spread alone on
// sets with known truth, in the late model of every case, layer hp.
func Verdicts(cases []*Case) (*report.Table, error) {
	t := &report.Table{
		ID: "sde/verdicts", Title: "Verdicts on targets of which the truth is known",
		Columns: report.Columns("judge", "retained, judged in", "forgotten, judged out", "ties", "F1", "F1, decided", "accuracy", "gate"),
		Notes:   []string{cases[0].SourceOfAll()},
		Caption: "Retrained models after 80 % of the epochs, last hidden layer, one draw of references. A tie is out, as in algorithm 2; " +
			"'decided' leaves ties away. Chance: 0.5; always saying in: F1 0.67, accuracy 0.5.",
	}
	for _, c := range cases {
		n, err := c.LateModel()
		if err != nil {
			return nil, err
		}
		for _, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}, sde.SpreadMatched{}} {
			r, err := c.Judge(n, m, "hp", c.LargestSize(), c.Bandwidth("hp"))
			if err != nil {
				return nil, err
			}
			row := verdictRow(m.Name(), r)
			row.Group = fmt.Sprintf("model %d, |S| = %d, %d targets of either kind", c.Seed, c.LargestSize(), c.Subsets)
			t.Rows = append(t.Rows, row)
		}
	}
	return t, nil
}

func verdictRow(name string, r *sde.ControlledResult) report.Row {
	v := r.Confusion()
	gate := report.Gap("it has none")
	if g := r.Outside.Gate; g != nil {
		gate = report.Str(map[bool]string{true: "passed", false: "failed"}[g.Valid])
	}
	row := report.Row{Kind: report.Control, Cells: []report.Cell{report.Str(name), report.Num(1-v.Inside.RateOut(), 2), report.Num(v.Outside.RateOut(), 2),
		report.Num(v.RateTies(), 2), report.Num(v.F1(), 2), report.Num(v.F1Decided(), 2), report.Num(v.Accuracy(), 2), gate}}
	if name == (sde.SDE{}).Name() {
		row.Kind = report.Method
	}
	return row
}

// Setup is how models are judged: the size of the sets, the per cent of the epochs, and sigma
// relative to sqrt(dim).
type Setup struct {
	Size, Moment int
	Sigma        float64
}

// Forest shows F1 and accuracy of three methods in a setup, means over the cases.
func (s Setup) Forest(cases []*Case) (plot.Forest, error) {
	f := plot.Forest{
		Meta: plot.Meta{Title: fmt.Sprintf("|S| = %d, after %d %% of the epochs, sigma = %.2g sqrt(dim)", s.Size, s.Moment, s.Sigma),
			Source: cases[0].SourceOfAll(), Caption: fmt.Sprintf("Means over %d models, Student's intervals over models.", len(cases))},
		X: plot.Axis{Label: "F1 and accuracy"}, Null: &plot.Null{Value: 0.5, Label: "chance"}, Digits: 2,
	}
	for k, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}, sde.SpreadMatched{}} {
		var f1, accuracy []float64
		for _, c := range cases {
			v, err := s.judge(c, m)
			if err != nil {
				return f, err
			}
			f1, accuracy = append(f1, v.F1()), append(accuracy, v.Accuracy())
		}
		f.Rows = append(f.Rows,
			plot.ForestRow{Label: "F1, " + m.Name(), Control: k > 0, Estimate: OverModels(f1)},
			plot.ForestRow{Label: "accuracy, " + m.Name(), Control: k > 0, Estimate: OverModels(accuracy)})
	}
	return f, nil
}

func (s Setup) judge(c *Case, m sde.Method) (v sde.Confusion, err error) {
	n, err := c.Retrained(s.Moment)
	if err != nil {
		return v, err
	}
	a, err := n.layerData(c, "hp")
	if err != nil {
		return v, err
	}
	r, err := c.Judge(n, m, "hp", s.Size, sde.Fixed(s.Sigma*math.Sqrt(float64(a.train.Cols))))
	if err != nil {
		return v, err
	}
	return r.Confusion(), nil
}

// OverModels is the mean of shares over models with Student's 95 % interval, cut
// to 0 ... 1.
func OverModels(shares []float64) stats.Estimate {
	return meanOf(shares, func(v float64) float64 { return v })
}

// Rows are measurements of several models and variants.
type Rows []Unlearned

// Value is one number of a measurement.
type Value func(Unlearned) float64

// Values of a measurement: the accuracy on forgotten images, and the attack's shares of
// forgotten and of held-out images.
var (
	AccForget  Value = func(u Unlearned) float64 { return u.Forget }
	ASR        Value = func(u Unlearned) float64 { return u.ASR.Value }
	ASRHeldOut Value = func(u Unlearned) float64 { return u.HeldOut.Value }
)

// OTR is the out-of-training rate of a method in a layer, "sde/hp", by the paper's rule.
func OTR(judge string) Value { return func(u Unlearned) float64 { return u.OTR(judge).Rule } }

// Measured are the rows behind table 4, in the environment of Open.
func Measured(ctx context.Context) (Rows, error) {
	e, err := paper.Open()
	if err != nil {
		return nil, err
	}
	p, err := plannedAt(paper.ScaleName(), unlearnedCells(tenth))
	if err != nil {
		return nil, err
	}
	found, err := paper.Collect(ctx, e, measurementsOf[Unlearned](everyVariant).in(e, p))
	if err != nil {
		return nil, err
	}
	return found.Rows, nil
}

// Measure computes the rows of one of the models behind table 4, so that a notebook can show
// progress.
func Measure(ctx context.Context, model int) error {
	return precompute(ctx, model, unlearnedCells(tenth), everyVariant)
}

// Judge computes the verdicts on one of the models behind tables 1, 3 and 3b, for the same
// purpose.
func Judge(ctx context.Context, model int) error {
	return precompute(ctx, model, allCells, judgedBy(partMain, partSpread))
}

// precompute computes the measurements on one model.
func precompute[R any](ctx context.Context, model int, choose func(Study) []cell, measure measurementsOf[R]) error {
	e, err := paper.Open()
	if err != nil {
		return err
	}
	p, err := plannedAt(paper.ScaleName(), choose)
	if err != nil {
		return err
	}
	p.cells = filter(p.cells, func(k cell) bool { return k.seed == model })
	_, err = paper.Collect(ctx, e, measure.in(e, p))
	return err
}

// rowsOf are the rows of a variant, one per model.
func (r Rows) rowsOf(variant string) Rows {
	return filter(r, func(u Unlearned) bool { return u.Variant == variant })
}

// Values are the values of a variant, one per model.
func (r Rows) Values(variant string, v Value) []float64 {
	var out []float64
	for _, row := range r.rowsOf(variant) {
		out = append(out, v(row))
	}
	return out
}

// Differences are one value of a variant minus another, by model.
func (r Rows) Differences(variant string, a, b Value) []float64 {
	return r.Values(variant, func(u Unlearned) float64 { return a(u) - b(u) })
}

// OracleDistances are the distances of a variant's values to those of the oracle of the same
// seed.
func (r Rows) OracleDistances(variant string, v Value) []float64 {
	out, oracle := r.Values(variant, v), r.Values(Retrain, v)
	for i := range out {
		out[i] = math.Abs(out[i] - oracle[i])
	}
	return out
}

// Ranks is a table of variants ranked by SDE's rate and by the distance to the oracle; controls
// are below without a rank, and a method that diverged has none.
func (r Rows) Ranks(methods, controls []string) *report.Table {
	columns := r.rankColumns(methods)
	t := &report.Table{
		ID: "sde/ranks", Title: "Rank by OTR, and distance to the oracle", Columns: paper.Headings("model", columns),
		Caption: "Means over models with Student's intervals. A distance is never below 0; 'Retrain, other seed' shows how large it is between two " +
			"models that never saw the images.",
	}
	for _, variant := range slices.Concat(methods, controls) {
		l := paper.Line[Unlearned]{Label: variant, Control: !slices.Contains(methods, variant), Models: r.rowsOf(variant), Diverged: Unlearned.diverged}
		t.Rows = append(t.Rows, l.Row(columns))
	}
	return t
}

// rankColumns are the columns of Ranks.
func (r Rows) rankColumns(methods []string) []paper.Column[Unlearned] {
	otr, ranked := OTR("sde/hp"), filter(methods, func(variant string) bool {
		return !slices.ContainsFunc(r.rowsOf(variant), func(u Unlearned) bool { return u.Diverged != "" })
	})
	share := func(name string, values func(variant string) []float64) paper.Column[Unlearned] {
		return paper.Column[Unlearned]{Name: name, Cell: func(l paper.Line[Unlearned]) report.Cell { return report.Est(OverModels(values(l.Label)), 2) }}
	}
	apart := func(name string, v Value) paper.Column[Unlearned] {
		return share(name, func(variant string) []float64 { return r.OracleDistances(variant, v) })
	}
	rank := func(name, note string, by func(variant string) float64) paper.Column[Unlearned] {
		places := ranks(ranked, by)
		return paper.Column[Unlearned]{Name: name, Note: note, Cell: func(l paper.Line[Unlearned]) report.Cell {
			if l.Control {
				return report.Gap("control")
			}
			return report.Num(float64(places[l.Label]), 0)
		}}
	}
	return []paper.Column[Unlearned]{
		share("OTR hp", func(variant string) []float64 { return r.Values(variant, otr) }),
		rank("rank", "among the methods, by OTR, the highest first; equal means share a rank",
			func(variant string) float64 { return -OverModels(r.Values(variant, otr)).Value }),
		apart("Acc_f, apart", AccForget), apart("ASR, apart", ASR), apart("OTR, apart", otr),
		rank("rank, OTR apart", "the nearest to the oracle first",
			func(variant string) float64 { return OverModels(r.OracleDistances(variant, otr)).Value }),
	}
}

// ranks are the ranks of variants, the smallest first; ties share a rank.
func ranks(variants []string, of func(string) float64) map[string]int {
	sorted := slices.Clone(variants)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(of(a), of(b)) })
	out := map[string]int{}
	for i, variant := range sorted {
		out[variant] = i + 1
		if i > 0 && of(variant) == of(sorted[i-1]) {
			out[variant] = out[sorted[i-1]]
		}
	}
	return out
}

// Spreads are the spreads of the first forgotten set and of the test reference of a model,
// relative to that of the retained reference, one per case.
func Spreads(cases []*Case, network func(*Case) (*Network, error)) (forgotten, test []float64, err error) {
	for _, c := range cases {
		n, err := network(c)
		if err != nil {
			return nil, nil, err
		}
		s, err := c.Sets(n, "hp", c.LargestSize())
		if err != nil {
			return nil, nil, err
		}
		var spread [3]float64
		for k, m := range []*sde.Matrix{s.Retained, s.Removed, s.Test} {
			if spread[k], err = sde.Spread(m, c.Bandwidth("hp")); err != nil {
				return nil, nil, err
			}
		}
		forgotten, test = append(forgotten, spread[1]/spread[0]), append(test, spread[2]/spread[0])
	}
	return forgotten, test, nil
}

// CompareForest shows the attack and the verdicts for two measurements of one seed, the second
// being the oracle's.
func CompareForest(unlearned, oracle Unlearned) plot.Forest {
	f := plot.Forest{X: plot.Axis{Label: "share"}, Digits: 2}
	for k, u := range []Unlearned{unlearned, oracle} {
		add := func(label string, e stats.Estimate) {
			f.Rows = append(f.Rows, plot.ForestRow{Group: []string{"unlearned", "oracle"}[k], Label: label, Estimate: e, Control: k > 0})
		}
		for _, judge := range []string{"sde/hp", "spread-only/hp"} {
			add("OTR, "+judge, overDraws(u.Out[judge], Sample.RateOut))
		}
		add("ties, sde/hp", overDraws(u.Out["sde/hp"], Sample.RateTies))
		add("ASR, forgotten", u.ASR)
		add("ASR, held out", u.HeldOut)
	}
	return f
}

// overDraws is the mean of a share over draws of references in one model.
func overDraws(samples []Sample, share func(Sample) float64) stats.Estimate {
	var x []float64
	for _, s := range samples {
		x = append(x, share(s))
	}
	return stats.MeanInterval(x, 0.95, "draws of references").ClampedTo(0, 1)
}
