package blindu

// The evidence on the models: accuracies, backdoor, masking.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// evidence is the data behind the tables of one scale.
type evidence struct {
	Study
	env *paper.Env
	*paper.Evidence[Row]
}

func collect(ctx context.Context, e *paper.Env, s Study) (*evidence, error) {
	found, err := paper.Collect(ctx, e, measurements(e, s))
	return &evidence{s, e, found}, err
}

// Measure finds or computes the rows of a study, also of the caller's own cases.
func (s Study) Measure(ctx context.Context, e *paper.Env) (Rows, error) {
	ev, err := collect(ctx, e, s)
	if err != nil {
		return nil, err
	}
	return ev.Rows, nil
}

func (ev *evidence) provenance(id string) report.Provenance {
	return ev.Provenance(ev.env, id, ev.Scale, Results, ev.Seeds)
}

// rowsOf are the rows of a variant of a case, in the order of their seeds.
func (ev *evidence) rowsOf(label, variant string) (out []Row) {
	for _, r := range ev.Rows {
		if r.Case == label && r.Variant == variant {
			out = append(out, r)
		}
	}
	return out
}

// line is a variant of a case, and column a column of a table of lines.
type (
	line   = paper.Line[Row]
	column = paper.Column[Row]
)

// lineOf is the line of a variant's models.
func lineOf(group, label string, control bool, rows []Row) line {
	return line{Group: group, Label: label, Control: control, Models: rows, Diverged: func(r Row) string { return r.Diverged }}
}

// table starts a recipe's table of lines.
func (ev *evidence) table(r paper.Recipe, columns []column) *report.Table {
	return &report.Table{
		ID: r.ID, Title: r.Title, Caption: r.Doc, Provenance: ev.provenance(r.ID), Notes: ev.notes(), Columns: paper.Headings("model", columns),
	}
}

// variantTable is a table of every variant of every case.
func (ev *evidence) variantTable(r paper.Recipe, columns []column) *report.Table {
	t := ev.table(r, columns)
	for _, c := range ev.Cases {
		for _, a := range c.variants() {
			if rows := ev.rowsOf(c.Label, a.Label); len(rows) > 0 {
				t.Rows = append(t.Rows, lineOf(c.Label, a.Label, a.Control, rows).Row(columns))
			}
		}
	}
	return t
}

// caseOf is a line's case.
func (ev *evidence) caseOf(l line) Case {
	return ev.Cases[slices.IndexFunc(ev.Cases, func(c Case) bool { return c.Label == l.Models[0].Case })]
}

// Columns of several tables.
var (
	erasedColumn = paper.ShareColumn("erased", "share of the forget set whose label the model gives, records as they are; nearest to 'retrained' is best",
		func(r Row) float64 { return r.Erased })
	erasedMeanColumn = paper.ShareColumn("erased", "share of the forget set whose label the model gives, records as they are; "+
		"mean over models with its 95 % interval; nearest to 'retrained' is best", func(r Row) float64 { return r.Erased })
	maskedColumn = paper.ShareColumn("masked", "the same with the records masked uniformly without replacement, 60 % in clear, whatever the row's own mask",
		func(r Row) float64 { return r.Masked })
	triggeredColumn = paper.ShareColumn("triggered", "share of unseen records with the trigger that are taken for the backdoor's class",
		func(r Row) float64 { return r.Open })
	retainColumn = paper.ShareColumn("retain", "share of right answers on the retain set", func(r Row) float64 { return r.Retain })
	testColumn   = paper.ShareColumn("test", "share of right answers on unseen records that no method may look at; higher is better",
		func(r Row) float64 { return r.Test })
	drawnColumn = paper.ShareColumn("test, drawn", "the same with a draw of every code, as coded", func(r Row) float64 { return r.Drawn })
)

// measurements are the cases of a study with their seeds.
func measurements(e *paper.Env, s Study) []paper.Measurement[Row] {
	return paper.ForSeeds(s.Cases, s.Seeds, func(of Case, seed int) paper.Measurement[Row] { return measurement(e, of, seed) })
}

func measurement(e *paper.Env, of Case, seed int) paper.Measurement[Row] {
	l := e.Lab()
	return paper.Measurement[Row]{
		ID:    fmt.Sprintf("evidence/blindu/%s/%s/seed-%d", of.DataSet(), of.coordinates(), seed),
		About: fmt.Sprintf("%s, seed %d", of.Label, seed), Setting: of.setting(seed),
		Methods: of.methods(),
		Key:     func(c *lab.Case) store.Key { return key(l, c, of) },
		Cost:    func(c *lab.Case) int64 { return int64(c.Problem.Train.X.Rows * len(of.variants())) },
		Measure: func(ctx context.Context, c *lab.Case) ([]Row, error) { return measure(ctx, c, of) },
	}
}

// evidenceKey is the configuration of a case's rows in the store.
type evidenceKey struct {
	lab.NetworkKey
	Case     string       `json:"case"` // as in the rows
	Goal     lab.Goal     `json:"goal"`
	Fit      train.Config `json:"fit"`
	Forget   string       `json:"forget"`
	Rate     float64      `json:"rate"` // of the masks that models are measured on
	Variants []variantKey `json:"arms"`
	Shards   *lab.User    `json:"shards,omitempty"`
	Results  int          `json:"results"`
}

type variantKey struct {
	Label string `json:"label"`
	lab.MethodKey
}

func key(l *lab.Lab, c *lab.Case, of Case) store.Key {
	k := evidenceKey{
		NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Case: of.Label, Goal: c.Goal, Fit: c.Fit,
		Forget: lab.RowsKey(c.Forget), Rate: of.rate(), Shards: c.User(), Results: Results,
	}
	for _, a := range of.variants() {
		k.Variants = append(k.Variants, variantKey{a.Label, lab.MethodKeyOf(a.Method)})
	}
	return l.Key("evidence/blindu", c.Problem, k, map[string]int64{"train": int64(c.Seed), "unlearn": lab.UnlearnSeed, "split": lab.SplitSeed})
}

// Row is the evidence on one model: one variant of one case with one seed.
type Row struct {
	Case    string `json:"case"`
	Variant string `json:"arm"`
	Control bool   `json:"control"`
	Seed    int    `json:"seed"`
	// Numbers of records: to be forgotten, trained on by the original, and unseen ones that no
	// method uses, for evaluation.
	Forget int `json:"n_forget"`
	Train  int `json:"n_train"`
	Judged int `json:"n_judged"`
	// Weights is the number of weights of the network.
	Weights int `json:"n_weights"`
	// Features is the number of maskable features: columns, or positions of an image.
	Features int `json:"n_features"`

	// Accuracies with the mean of a record's code, not a draw. Erased: on the records to be
	// forgotten as they are (for a backdoor, with the label that it gave them). Masked: on the
	// same, masked uniformly without replacement at the case's rate, whatever the method's mask.
	Erased float64 `json:"erased"`
	Masked float64 `json:"masked"`
	Retain float64 `json:"retain"`
	Test   float64 `json:"test"`
	Drawn  float64 `json:"test_drawn"` // with a draw of each code, as coded
	Open   float64 `json:"triggered"`  // of the unseen records with the trigger: the success rate of the backdoor
	Opened int     `json:"n_triggered"`

	// Of a federation: the rounds of a method or a training, and the records of the users with
	// fewest and most.
	Rounds int `json:"rounds"`
	Least  int `json:"least"`
	Most   int `json:"most"`

	Displacement float64 `json:"displacement"`
	Steps        int     `json:"steps"`
	Note         string  `json:"note,omitempty"`
	Diverged     string  `json:"diverged,omitempty"` // if set, the numbers above are invalid
}

// measure computes the rows of a case.
func measure(ctx context.Context, c *lab.Case, of Case) ([]Row, error) {
	var rows []Row
	for _, a := range of.variants() {
		row, err := rowOf(ctx, c, of, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		rows = append(rows, *row)
	}
	return rows, nil
}

// rowOf measures one variant.
func rowOf(ctx context.Context, c *lab.Case, of Case, a lab.Variant) (*Row, error) {
	row := &Row{
		Case: of.Label, Variant: a.Label, Control: a.Control, Seed: c.Seed,
		Forget: len(c.Forget), Train: len(c.Forget) + len(c.Retain), Judged: len(c.EvalRows()),
	}
	weights, rep, err := c.Weights(ctx, a.Method)
	if d := (*train.Diverged)(nil); errors.As(err, &d) && !a.Control {
		row.Diverged = d.Error()
		return row, nil
	}
	if err != nil {
		return nil, err
	}
	if rep != nil {
		row.Displacement, row.Steps, row.Note = rep.Displacement, rep.Steps, rep.Note
	}
	if c.Holders != nil {
		if err := row.addRounds(ctx, c, a, rep); err != nil {
			return nil, err
		}
	}
	return row, row.addAccuracies(c, of, weights)
}

// addAccuracies adds a model's accuracies.
func (r *Row) addAccuracies(c *lab.Case, of Case, w nn.Params) error {
	r.Features, r.Weights = c.Problem.Train.X.Cols/of.channels(), sizeOf(w)
	forget, test := c.Problem.Train.Gather(c.Forget), c.Test.Gather(c.EvalRows())
	masked, err := maskForgetRecords(c, of, forget)
	if err != nil {
		return err
	}
	parts := []struct {
		to *float64
		of datasets.Part
	}{{&r.Erased, forget}, {&r.Masked, masked}, {&r.Retain, c.Problem.Train.Gather(c.Retain)}, {&r.Test, test}}
	if c.Backdoor() != nil {
		triggered, err := c.TriggeredRecords()
		if err != nil {
			return err
		}
		r.Opened = triggered.X.Rows
		parts = append(parts, struct {
			to *float64
			of datasets.Part
		}{&r.Open, triggered})
	}
	for _, p := range parts {
		prediction, err := c.Runner.Predict(w, p.of.X)
		if err != nil {
			return err
		}
		*p.to = train.Accuracy(prediction.Logits(), p.of.Y)
	}
	return r.addSampledAccuracy(c, w, test)
}

// maskForgetRecords are records of the forget set, masked uniformly without replacement at the case's rate.
func maskForgetRecords(c *lab.Case, of Case, p datasets.Part) (datasets.Part, error) {
	x, err := maskRecords(c, of.masking(false), unlearn.Data{X: p.X, IDs: c.Forget})
	p.X = x
	return p, err
}

// maskRecords are records as masked by their owner.
func maskRecords(c *lab.Case, m privacy.Masking, d unlearn.Data) (array.Matrix[float32], error) {
	seed := engine.Root(lab.UnlearnSeed + c.Shift)
	x, _, err := m.Mask(d.X, d.IDs, func(record int) *rand.Rand { return seed.Stream(engine.StreamMask, uint64(record)) })
	return x, err
}

// addSampledAccuracy adds the accuracy with a draw of every code.
func (r *Row) addSampledAccuracy(c *lab.Case, w nn.Params, test datasets.Part) error {
	logits, err := predictSampled(c, w, test)
	if err == nil {
		r.Drawn = train.Accuracy(logits, test.Y)
	}
	return err
}

// predictSampled are a model's outputs for a draw of every code.
func predictSampled(c *lab.Case, w nn.Params, test datasets.Part) (none array.Matrix[float32], err error) {
	e, err := unlearn.NewErasure(c.Runner, w, unlearn.Data{X: test.X, Y: test.Y, IDs: test.IDs}, nil, engine.Root(lab.UnlearnSeed+c.Shift))
	if err != nil {
		return none, err
	}
	half, err := c.Lab.Join(c.Prepared, ib.Approximator{Of: defaults.Fill(c.Problem.Arch).(ib.Bottleneck)})
	if err != nil {
		return none, err
	}
	_, back := ib.SplitWeights(w)
	prediction, err := half.Runner.Predict(back, e.Codes)
	if err != nil {
		return none, err
	}
	return prediction.Logits(), nil
}
