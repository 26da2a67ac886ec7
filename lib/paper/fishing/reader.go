package fishing

// Functions that notebooks call to open a case of Fishing for Privacy and read its measured rows.

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// For notebooks: the functions use the first case of the scale that LETHE_SCALE names.

// Make makes a table or figure of the paper in the environment of Open: "table", "2".
func Make(ctx context.Context, kind, name string) (*paper.Output, error) {
	return Paper().Make(ctx, kind, name)
}

// OpenedCase is the first case with a seed, ready to be attacked.
type OpenedCase struct {
	*attackCase
	Study Study
	env   *paper.Env
}

// Open opens the first case of the scale with a seed. It trains the original and two retrained
// models, or finds them in the store.
func Open(ctx context.Context, seed int) (*OpenedCase, error) {
	e, s, err := openScale()
	if err != nil {
		return nil, err
	}
	c, err := e.Lab().Case(ctx, s.Cases[0].setting(seed))
	if err != nil {
		return nil, err
	}
	q, err := newAttackCase(ctx, c, s.Cases[0])
	return &OpenedCase{attackCase: q, Study: s, env: e}, err
}

func openScale() (*paper.Env, Study, error) {
	s, err := StudyAt(paper.ScaleName())
	if err != nil {
		return nil, s, err
	}
	e, err := paper.Open()
	return e, s, err
}

// Row measures a variant of the caller's.
func (a *OpenedCase) Row(ctx context.Context, variant lab.Variant) (*Row, error) {
	return a.measureRow(ctx, a.env.Engine, variant)
}

// Source is the source line of figures of the case.
func (a *OpenedCase) Source() string { return a.source(int64(a.Seed)) }

// SourceOfModels is the source line for the first models of the case.
func (a *OpenedCase) SourceOfModels(models int) string {
	var seeds []int64
	for k := range models {
		seeds = append(seeds, int64(a.Seed+k))
	}
	return a.source(seeds...)
}

func (a *OpenedCase) source(seeds ...int64) string {
	word := "seed"
	if len(seeds) > 1 {
		word = "seeds"
	}
	return fmt.Sprintf("%s; scale %s, %s %s, data %.12s", a.spec.Label, a.Study.Scale, word, report.Provenance{Seeds: seeds}.SeedList(), a.Hash)
}

// Negatives is the number of matched non-members.
func (a *OpenedCase) Negatives() int { return len(a.negatives) }

// Measure computes the rows of one seed, so that a notebook can show progress.
func Measure(ctx context.Context, seed int) error {
	e, s, err := openScale()
	if err != nil {
		return err
	}
	_, err = paper.Collect(ctx, e, []paper.Measurement[Row]{measurement(e, s.Cases[0], seed)})
	return err
}

// Rows are the rows of several models and variants.
type Rows []Row

// Measured are the rows of the first case.
func Measured(ctx context.Context) (Rows, error) {
	e, s, err := openScale()
	if err != nil {
		return nil, err
	}
	s.Cases = s.Cases[:1]
	ev, err := collect(ctx, e, s)
	if err != nil {
		return nil, err
	}
	return ev.Rows, nil
}

// Values are the values of a variant, one per model.
func (r Rows) Values(variant string, value func(Row) float64) []float64 {
	var out []float64
	for _, row := range r {
		if row.Variant == variant && row.Diverged == "" {
			out = append(out, value(row))
		}
	}
	return out
}

// Differences are a value of a variant minus that of another one, by model, where neither
// diverged.
func (r Rows) Differences(variant, other string, value func(Row) float64) []float64 {
	var out []float64
	for _, a := range r {
		for _, b := range r {
			if a.Case == b.Case && a.Seed == b.Seed && a.Variant == variant && b.Variant == other && a.Diverged == "" && b.Diverged == "" {
				out = append(out, value(a)-value(b))
			}
		}
	}
	return out
}

// ProtocolAUC is the AUC of a protocol over all cells that it scores.
func ProtocolAUC(name string) func(Row) float64 {
	return func(r Row) float64 { return r.Attacks[name].All.AUC.Value }
}

// SuiteAUC is the AUC of an attack without training.
func SuiteAUC(name string) func(Row) float64 {
	return func(r Row) float64 { return r.Suite[name].AUC.Value }
}

// Strips shows a value of several variants, a point per model.
func (r Rows) Strips(meta plot.Meta, axis string, null *plot.Null, value func(Row) float64, variants ...string) plot.Figure {
	f := plot.Strips{Meta: meta, Y: plot.Axis{Label: axis}, Null: null, Series: []plot.StripSeries{{Name: axis}}}
	for _, variant := range variants {
		f.Groups = append(f.Groups, variant)
		f.Series[0].Values = append(f.Series[0].Values, r.Values(variant, value))
	}
	return f
}
