package attacks

// The table of distances between ensembles of unlearned and retrained models.

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ensemble"
)

const (
	distancesID    = "attacks/distances"
	distancesTitle = "How far unlearned models are from retrained ones"
	distancesDoc   = "Ensembles of models that differ in their seed, and forgot the same records by the method of the row, against retrained ones, on what " +
		"they say of the forgotten records. Each cell: the distance, an interval as wide as what exchanging models at random moves it, and p of " +
		"that permutation test. The row 'retrained' has the same distance for as many other retrained models: no method can be asked for less. " +
		"How large it is shows what a distance without it is worth."
)

// Distances are the distances of one variant's ensemble.
type Distances struct {
	Case    string             `json:"case"`
	Variant string             `json:"arm"`
	Control bool               `json:"control"`
	Records int                `json:"n_records"`
	Judged  []*ensemble.Result `json:"judged,omitempty"`
	Lost    string             `json:"lost,omitempty"` // why there is no result
}

func distancesTable() paper.Recipe {
	r := paper.Recipe{ID: distancesID, Title: distancesTitle, Doc: distancesDoc}
	return paper.StudyRecipe(r, StudyAt, distanceMeasurements, showDistances)
}

// wholeClass forgets a whole class of glyphs; no retained record is of that class.
func wholeClass() Case {
	c := drawings()
	c.Label, c.Forget = "a class of drawings", lab.Class("cross")
	return c
}

func distanceMeasurements(e *paper.Env, s Study) (out []paper.Measurement[Distances]) {
	l := e.Lab()
	for _, of := range append(s.Cases, wholeClass()) {
		p := paper.Measurement[Distances]{
			ID:    fmt.Sprintf("evidence/attacks-distances/%s/%s/models-%d", of.DataSet(), of.ForgetSetName(), s.Ensemble),
			About: of.Label, Setting: of.Setting, File: "distances.json",
			Key:  func(first *lab.Case) store.Key { return of.key(l, first, "attacks-distances", s.Ensemble) },
			Cost: func(first *lab.Case) int64 { return int64(len(first.Forget) * s.Ensemble) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]Distances, error) {
				return of.distances(ctx, l, s.Ensemble)
			},
		}
		for k := range 2 * s.Ensemble {
			methods := of.methods()
			if k >= s.Ensemble {
				methods = []unlearn.Method{unlearn.Retrain{}}
			}
			p.Others = append(p.Others, paper.Models{Setting: of.settingAt(k), Methods: methods})
		}
		out = append(out, p)
	}
	return out
}

// settingAt is the setting of model k of an ensemble.
func (c Case) settingAt(k int) lab.Setting {
	s := c.Setting
	s.Seed += k
	return s
}

// distances measures every variant. Retrained models with the unlearned models' seeds are the
// null; retrained models with other seeds are the reference.
func (c Case) distances(ctx context.Context, l *lab.Lab, models int) ([]Distances, error) {
	var cases []*lab.Case
	for k := range 2 * models {
		one, err := l.Case(ctx, c.settingAt(k))
		if err != nil {
			return nil, err
		}
		cases = append(cases, one)
	}
	mine, others := cases[:models], cases[models:]
	var tasks []func(context.Context) error
	for k, one := range cases {
		methods := c.methods()
		if k >= models {
			methods = []unlearn.Method{unlearn.Retrain{}}
		}
		tasks = append(tasks, func(ctx context.Context) error {
			for _, m := range methods {
				if _, _, err := one.Weights(ctx, m); err != nil && !errors.As(err, new(*train.Diverged)) {
					return fmt.Errorf("model %d: %s: %w", k, m.Info().Name, err)
				}
			}
			return nil
		})
	}
	if err := l.RunParallel(ctx, tasks...); err != nil {
		return nil, err
	}
	reference, err := probabilities(ctx, others, unlearn.Retrain{})
	if err != nil {
		return nil, err
	}
	second, err := probabilities(ctx, mine, unlearn.Retrain{})
	if err != nil {
		return nil, err
	}
	var out []Distances
	for _, a := range c.variants() {
		if a.Label == Retrained {
			continue
		}
		d := Distances{Case: c.Label, Variant: a.Label, Control: a.Control, Records: len(mine[0].Forget)}
		unlearned, err := probabilities(ctx, mine, a.Method)
		if lost := (*train.Diverged)(nil); errors.As(err, &lost) {
			d.Lost = lost.Error()
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		} else if d.Judged, err = c.measureDistances(ensembleOutputs{unlearned, reference, second}, l.Shift); err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		out = append(out, d)
	}
	return out, nil
}

// modelOutputs are one model's outputs on the forgotten records.
type modelOutputs struct {
	margins       []float64
	probabilities array.Matrix[float64]
	class         int // of the first record
}

type ensembleOutputs struct{ unlearned, reference, second []modelOutputs }

func probabilities(ctx context.Context, cases []*lab.Case, m unlearn.Method) (out []modelOutputs, err error) {
	for k, c := range cases {
		w, _, err := c.Weights(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("model %d: %w", k, err)
		}
		v, err := forgetOutputs(c, w)
		if err != nil {
			return nil, fmt.Errorf("model %d: %w", k, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func forgetOutputs(c *lab.Case, w nn.Params) (v modelOutputs, err error) {
	records := c.Problem.Train.Gather(c.Forget)
	p, err := c.Runner.Predict(w, records.X)
	if err != nil {
		return v, err
	}
	v.class, v.probabilities = records.Y[0], array.Convert[float64](train.Softmax(p.Logits(), 1))
	v.margins, err = shadow.ScaledConfidences(p.Logits(), records.Y)
	return v, err
}

// measureDistances computes every distance that the case permits.
func (c Case) measureDistances(s ensembleOutputs, shift int) (out []*ensemble.Result, err error) {
	for i, d := range ensemble.Distances() {
		e := ensemble.Evidence{Unlearned: margins(s.unlearned), Retrained: margins(s.reference), Second: margins(s.second)}
		if _, is := d.(ensemble.ClassMembership); is {
			if _, whole := c.Forget.(lab.Class); !whole {
				continue
			}
			if e, err = neighbours(s); err != nil {
				return nil, err
			}
		}
		j, err := ensemble.Compare(d, e, ensemble.Options{Rng: engine.Root(shift).Stream(engine.StreamExchange, uint64(i))})
		if err != nil {
			return nil, err
		}
		j.Each = nil
		out = append(out, j)
	}
	return out, nil
}

func margins(of []modelOutputs) (m array.Matrix[float64]) {
	for _, v := range of {
		appendRow(&m, v.margins)
	}
	return m
}

func neighbours(s ensembleOutputs) (e ensemble.Evidence, err error) {
	matrices := func(of []modelOutputs) (out []array.Matrix[float64]) {
		for _, v := range of {
			out = append(out, v.probabilities)
		}
		return out
	}
	reference := matrices(s.reference)
	for _, part := range []struct {
		of []modelOutputs
		to *array.Matrix[float64]
	}{{s.unlearned, &e.Unlearned}, {s.reference, &e.Retrained}, {s.second, &e.Second}} {
		if *part.to, _, err = ensemble.NearestClassShares(matrices(part.of), reference, part.of[0].class); err != nil {
			return e, err
		}
	}
	return e, nil
}

func showDistances(e *paper.Env, s Study, ev *paper.Evidence[Distances]) *paper.Output {
	t := &report.Table{
		ID: distancesID, Title: distancesTitle, Caption: distancesDoc,
		Columns:    []report.Column{{Name: "models"}},
		Provenance: ev.Provenance(e, distancesID, s.Scale, Results, 2*s.Ensemble),
	}
	for _, d := range ensemble.Distances() {
		t.Columns = append(t.Columns, report.Column{Name: d.Name(), Note: d.About()})
	}
	for i, r := range ev.Rows {
		group := fmt.Sprintf("%s (%d)", r.Case, r.Records)
		row := report.Row{Group: group, Cells: []report.Cell{report.Str(r.Variant)}}
		if r.Control {
			row.Kind = report.Control
		}
		if r.Lost != "" {
			t.Rows = append(t.Rows, report.GapRow("diverged", group, r.Variant, len(t.Columns)))
			t.Notes = append(t.Notes, fmt.Sprintf("%s, %s: %s.", group, r.Variant, r.Lost))
			continue
		}
		null := report.Row{Group: group, Kind: report.Control, Cells: []report.Cell{report.Str(Retrained)}}
		for _, d := range ensemble.Distances() {
			value, at := distanceCells(r.Judged, d.Name())
			row.Cells, null.Cells = append(row.Cells, value), append(null.Cells, at)
		}
		t.Rows = append(t.Rows, row)
		if i == 0 || ev.Rows[i-1].Case != r.Case {
			t.Rows = append(t.Rows, null)
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%d models in each ensemble, with as many retrained ones for reference and as many more for the null. "+
		"A p-value is 1/400 at least.", s.Ensemble), "class-membership is asked where a whole class is to be forgotten.")
	t.Notes = append(t.Notes, ev.MissingNotes()...)
	return &paper.Output{Table: t}
}

// distanceCells are a distance with its interval and p, and the value of retraining.
func distanceCells(judged []*ensemble.Result, name string) (value, null report.Cell) {
	for _, j := range judged {
		if j.Distance != name {
			continue
		}
		value = report.Est(j.Estimate, 3)
		value.Text += fmt.Sprintf(" p=%.3f", j.P)
		return value, report.Num(*j.Null, 3)
	}
	return report.Gap("not asked"), report.Gap("not asked")
}
