package tofu

// Forget quality, as published and for pairs.

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

const qualityID = "tofu/forget-quality"

func qualityTable() paper.Recipe {
	return newRecipe(paper.Recipe{
		ID: qualityID, Title: "TOFU's forget quality, as published and for pairs",
		Doc: "Forget quality is the p-value of a Kolmogorov-Smirnov test of two models' truth ratios, as if they were of different questions. " +
			"They are of the same ones. Look at what the test says of two retrained models, and of numbers into which a share of the full " +
			"model's was mixed; and at what a test of pairs says of the same.",
	}, showQuality)
}

// neededModels is the number of retrained models from which a p-value of 0.05 is possible: 1/(m+1).
const neededModels = 19

// shares are those of the full model that are mixed into a retrained one's numbers. 0 is the retrained
// model itself and 1 the full one.
var shares = []float64{0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1}

// comparison is a full and a retrained model of one weight decay against the retrained model of the
// other.
type comparison struct {
	model                  string
	full, other, reference run
	language.PowerEvidence
	ratios language.Ratios // of the reference
}

func (c comparison) name() string { return c.model + ", against " + c.reference.label() }

func comparisons(all []run) (out []comparison, err error) {
	for _, m := range models {
		for _, decay := range [][2]string{{"0.01", "0"}, {"0", "0.01"}} {
			c := comparison{model: m.name, full: find(all, m.name, full, decay[0]), other: find(all, m.name, retain90, decay[0]),
				reference: find(all, m.name, retain90, decay[1])}
			var errs [4]error
			_, c.Original, errs[0] = c.full.logRatios()
			_, c.Other, errs[1] = c.other.logRatios()
			c.ratios, c.Retrained, errs[2] = c.reference.logRatios()
			var by stats.Clusters
			by, errs[3] = authors(c.reference.Forget)
			c.Group = by
			if err := errors.Join(errors.Join(errs[:]...), logs.SameQuestions(c.full.Forget, c.reference.Forget),
				logs.SameQuestions(c.other.Forget, c.reference.Forget)); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name(), err)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// mixed returns ln R with a share of the full model's mixed in.
func (c comparison) mixed(share float64) language.PairedEvidence {
	values := make([]float64, len(c.Other))
	for q, v := range c.Other {
		values[q] = float64((1-share)*v) + float64(share*c.Original[q])
	}
	return language.PairedEvidence{Unlearned: values, Retrained: c.Retrained, Group: c.Group}
}

// label names what a share of memory is: one of two models, or numbers that no model gave.
func (c comparison) label(share float64) string {
	switch share {
	case 0:
		return c.other.label()
	case 1:
		return c.full.label()
	}
	return fmt.Sprintf("numbers, not a model: %g %% of %s in %s", 100*share, c.full.label(), c.other.label())
}

// powers are the curves of the two tests.
type powers struct{ published, paired language.PowerCurve }

func (c comparison) powers(draws int, seed engine.Root, number int) (p powers, err error) {
	power := language.Power{Shares: shares, Draws: draws}
	if p.published, err = power.Curve(c.PowerEvidence, language.PublishedDetector, seed.Stream(engine.StreamAuthors, uint64(number), 0)); err != nil {
		return p, err
	}
	p.paired, err = power.Curve(c.PowerEvidence, language.PairedDetector, seed.Stream(engine.StreamAuthors, uint64(number), 1))
	return p, err
}

func showQuality(ctx context.Context, e *paper.Env, s study) (*paper.Output, error) {
	all, hashes, err := load(ctx)
	if err != nil {
		return nil, err
	}
	list, err := comparisons(all)
	if err != nil {
		return nil, err
	}
	t, f := &report.Table{Columns: qualityColumns()}, plot.Panels{Columns: 2}
	_, task := progress.Start(ctx, "power of forget quality", len(list))
	defer task.Done()
	for i, c := range list {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p, err := c.powers(s.draws, engine.Root(e.Shift), i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name(), err)
		}
		for k, share := range shares {
			row, err := c.row(share, p.published.Points[k].Power, p.paired.Points[k].Power)
			if err != nil {
				return nil, fmt.Errorf("%s, share %v: %w", c.name(), share, err)
			}
			t.Rows = append(t.Rows, row)
		}
		t.Notes = append(t.Notes, c.note(p))
		f.Figures = append(f.Figures, c.figure(p))
		task.Add(1)
	}
	t.Notes = append(t.Notes,
		"Mixed rows are arithmetic on the logs of two models: (1 - s) ln R of the retrained one + s ln R of the full one. No model gave these "+
			"numbers, and a "+
			"model that forgot in part need not look like them.",
		fmt.Sprintf("The sign-flip p says whether two models differ, not whether one of them remembers: two retrained models differ, too. It would be "+
			"a verdict "+
			"only if retrained models of other seeds were as far apart more rarely, which at 5 %% takes %d of them. Here are two, of two weight "+
			"decays.", neededModels),
		"Two runs of one recipe are no seeds: how far retrained models of other seeds are apart is not known here, and it may be further.")
	t.Provenance = provenance(e, qualityID, s.scale, []int{e.Shift}, perModel(hashes))
	f.Meta = plot.Meta{Title: "How much memory the tests find", Caption: "Share of draws of authors in which a test rejects, by the share of the full " +
		"model's ln R " +
		"that is mixed into a retrained model's: numbers, not models. The paired test is adjusted for size.", Source: t.Provenance.Line(), Width: 1080}
	return &paper.Output{Table: t, Figure: f}, nil
}

// perModel leaves out the logs of other forgotten people, which forget quality does not use.
func perModel(hashes map[string]string) map[string]string {
	out := map[string]string{}
	for _, r := range runs() {
		if r.people == full || r.people == retain90 {
			out[r.fileName()] = hashes[r.fileName()]
		}
	}
	return out
}

func qualityColumns() []report.Column {
	return []report.Column{{Name: "model or numbers"},
		{Name: "p, as published", Note: "forget quality: two-sample Kolmogorov-Smirnov test of R, which takes the two models' questions for different ones"},
		{Name: "distance", Note: "of the two distributions of R: Kolmogorov-Smirnov's"},
		{Name: "correlation", Note: "of the two models' ln R; 0 if they were independent, as the published test takes them to be"},
		{Name: "difference of ln R", Note: "mean over questions of ln R less the retrained model's, 95 % interval over authors; null 0, below it memory"},
		{Name: "design effect", Note: "of authors, for the difference"},
		{Name: "authors"},
		{Name: "sign-flip p, uncalibrated", Note: "exact test of the difference, with all signs of authors; no verdict, see the column beside it"},
		{Name: "verdict"},
		{Name: "power, as published", Note: "share of draws of authors in which the published test has p of 0.05 or less; Wilson's interval over draws"},
		{Name: "power, paired", Note: "the same of the sign-flip test, adjusted so that it rejects at most 5 % of draws without mixed memory"}}
}

func (c comparison) row(share float64, published, paired stats.Estimate) (report.Row, error) {
	e := c.mixed(share)
	ks, distance, err := c.published(share, e)
	if err != nil {
		return report.Row{}, err
	}
	r, err := language.PairedQuality{Level: level}.Test(e, nil)
	if err != nil {
		return report.Row{}, err
	}
	correlation, err := stats.Pearson(e.Unlearned, e.Retrained)
	if err != nil {
		return report.Row{}, err
	}
	verdict, err := c.verdict(share)
	if err != nil {
		return report.Row{}, err
	}
	return report.Row{Group: c.name(), Cells: []report.Cell{report.Str(c.label(share)), report.PVal(ks), report.Num(distance, 3),
		report.Num(correlation, 3), report.Est(r.Difference, 3), report.Num(r.Difference.Clustered.DesignEffect, 2),
		report.Num(float64(r.Test.Clusters), 0), report.PVal(r.Test.P), verdict, report.Est(published, 2), report.Est(paired, 2)}}, nil
}

// published returns forget quality of a model as published, and of mixed numbers by the same test.
func (c comparison) published(share float64, e language.PairedEvidence) (p, distance float64, err error) {
	if share != 0 && share != 1 {
		distance, p, err = stats.KSTwoSample(e.Unlearned, e.Retrained)
		return p, distance, err
	}
	of := c.other
	if share == 1 {
		of = c.full
	}
	ratios, _, err := of.logRatios()
	if err != nil {
		return 0, 0, err
	}
	v, err := language.ForgetQuality{}.Value(language.RatioEvidence{Unlearned: ratios, Retrained: c.ratios})
	return v.P, v.Distance, err
}

// verdict says why there is none.
func (c comparison) verdict(share float64) (report.Cell, error) {
	if share != 1 {
		return report.Str(fmt.Sprintf("none: uncalibrated, 1 retrained model, %d needed", neededModels)), nil
	}
	k, err := language.Calibrate(language.CalibrationEvidence{Unlearned: c.Original, Retrained: [][]float64{c.Other, c.Retrained}}, language.MeanContrast)
	if err != nil {
		return report.Cell{}, err
	}
	return report.Str(fmt.Sprintf("none: p is %.2f among 2 retrained models, which give no less than %.2f, %d needed", k.P, k.Smallest, neededModels)), nil
}

// note says from which share on each test finds the memory.
func (c comparison) note(p powers) string {
	found := func(curve language.PowerCurve) string {
		if !curve.Found {
			return "at no share"
		}
		return fmt.Sprintf("from %g %% on", 100*curve.Smallest)
	}
	return fmt.Sprintf("%s: of mixed memory the published test finds it in 80 %% of draws %s, the paired test %s. Without any memory the paired test "+
		"rejects at its "+
		"level of 5 %% in %.0f %% of draws, since the two retrained models differ; adjusted, it rejects where p is below %.2g.",
		c.name(), found(p.published), found(p.paired), 100*p.paired.FalseAlarms.Value, p.paired.Threshold)
}

// figure shows the power by share, up to a half.
func (c comparison) figure(p powers) plot.Figure {
	low, high := 0.0, 1.0
	f := plot.Curves{Meta: plot.Meta{Title: c.name()}, X: plot.Axis{Label: "share of the full model's ln R"},
		Y: plot.Axis{Label: "share of draws found", Min: &low, Max: &high}, Null: &plot.Null{Value: 0.8, Label: "80 of 100"}}
	for _, of := range []struct {
		name  string
		curve language.PowerCurve
	}{{"as published", p.published}, {"paired, by author", p.paired}} {
		curve := plot.Curve{Name: of.name}
		for _, at := range of.curve.Points[:len(of.curve.Points)-1] {
			curve.X, curve.Y = append(curve.X, at.Share), append(curve.Y, at.Power.Value)
			curve.Low, curve.High = append(curve.Low, at.Power.Low), append(curve.High, at.Power.High)
		}
		f.Curves = append(f.Curves, curve)
	}
	return f
}
