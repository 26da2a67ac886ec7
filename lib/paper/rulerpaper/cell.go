package rulerpaper

// Cells: one original, its oracle, and the evidence on every variant.

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Row is the evidence on one model: one variant in one cell.
type Row struct {
	DataSet    string  `json:"data_set"`
	Variant    string  `json:"arm"`
	Control    bool    `json:"control"`
	Fraction   float64 `json:"fraction"`
	Seed       int     `json:"seed"`
	ForgetSeed uint32  `json:"forget_seed"`
	Forget     int     `json:"n_forget"`
	Retain     int     `json:"n_retain"`

	M1       float64 `json:"m1"`
	M2       float64 `json:"m2"`
	M2Mean   float64 `json:"m2_mean"`
	M3       float64 `json:"m3"`
	M4       float64 `json:"m4"`
	OracleM4 float64 `json:"oracle_m4"` // M4 of the oracle itself

	M4AsCoded float64 `json:"m4_as_coded"` // ties are decided by rounding
	Copies    int     `json:"copies"`      // forget records with a copy among the retained ones that M4 searches

	MIA       float64 `json:"mia"`     // balanced accuracy of the loss-threshold attack
	MIAAUC    float64 `json:"mia_auc"` // forget against held-out losses, no threshold; signed
	ForgetAcc float64 `json:"forget_accuracy"`
	RetainAcc float64 `json:"retain_accuracy"`
	TestAcc   float64 `json:"test_accuracy"`

	Untouched *UntouchedPeople `json:"untouched,omitempty"` // nil for other data than faces

	Displacement float64 `json:"displacement"` // relative distance of the weights
	ZeroRows     int     `json:"zero_rows"`    // embeddings that are 0 and so have no direction

	*TextEvidence // nil: no texts

	// Diverged says how the method diverged, "" if it did not. Then every number above except
	// the counts is NaN.
	Diverged string `json:"diverged,omitempty"`

	study string `json:"-"` // that it is of; set when collected
}

// setNaN sets the numbers of a diverged row to NaN; JSON has them as zeros.
func (r *Row) setNaN() {
	for _, v := range []*float64{&r.M1, &r.M2, &r.M2Mean, &r.M3, &r.M4, &r.OracleM4, &r.M4AsCoded, &r.MIA, &r.MIAAUC,
		&r.ForgetAcc, &r.RetainAcc, &r.TestAcc, &r.Displacement} {
		*v = math.NaN()
	}
}

// DeltaM4 is M4 minus the oracle's M4. The oracle never saw the forget set.
func (r Row) DeltaM4() float64 { return r.M4 - r.OracleM4 }

// cell has the inputs of one cell's evidence.
type cell struct {
	cellKey
	*lab.Case
	study            Study
	original, oracle nn.Params
}

// evidenceKey is the configuration of a cell's evidence in the store.
type evidenceKey struct {
	Study string `json:"study"`
	lab.NetworkKey
	Fit        train.Config `json:"fit"`
	Variants   []variantKey `json:"arms"`
	Fraction   float64      `json:"fraction"`
	ForgetSeed uint32       `json:"forget_seed"`
	Gallery    int          `json:"gallery"`
	Measures   measures     `json:"measures"`
	// Unseen identifies the non-members of the attack: the records that no method of the study
	// uses, if those are not all held-out ones.
	Unseen string `json:"unseen,omitempty"`
}

type variantKey struct {
	Label string `json:"label"`
	lab.MethodKey
}

// measures are the versions of the measures. A version increases when a correction changes its
// numbers; cells are then measured anew from the stored models.
type measures struct {
	RULER  int `json:"ruler"`
	Attack int `json:"attack"`
}

var measuresNow = measures{RULER: ruler.Version, Attack: attack.Version}

// key is the key of a cell's evidence in the store.
func (e *Env) key(c *cell) store.Key {
	s := c.study
	config := evidenceKey{
		Study: s.Name, NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Fit: s.Fit.WithDefaults(),
		Fraction: c.fraction, ForgetSeed: c.forgetSeed, Gallery: s.Gallery, Measures: measuresNow,
	}
	for _, a := range s.Variants {
		config.Variants = append(config.Variants, variantKey{a.Label, lab.MethodKeyOf(a.Method)})
	}
	if unseen := c.unseen(); len(unseen) < c.Test.X.Rows {
		config.Unseen = lab.RowsKey(unseen)
	}
	return e.Lab().Key("evidence/ruler", c.Problem, config, map[string]int64{"train": int64(c.seed), "unlearn": lab.UnlearnSeed, "split": lab.SplitSeed})
}

// unseen are the rows of the test part that no method of the study uses.
func (c *cell) unseen() []int {
	var methods []unlearn.Method
	for _, a := range c.study.Variants {
		methods = append(methods, a.Method)
	}
	return c.NonMemberRows(methods...)
}

// measurements are those of a study's cells.
func (e *Env) measurements(s Study) (out []paper.Measurement[Row]) {
	for _, k := range s.cells() {
		out = append(out, e.measurement(s, k))
	}
	return out
}

// measurement is the evidence on a cell.
func (e *Env) measurement(s Study, k cellKey) paper.Measurement[Row] {
	methods := []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}}
	for _, a := range s.Variants {
		methods = append(methods, a.Method)
	}
	at := func(c *lab.Case) *cell { return &cell{cellKey: k, Case: c, study: s} }
	m := paper.Measurement[Row]{
		ID:      fmt.Sprintf("evidence/ruler/%s/%s/%g-%d/seed-%d", s.Name, k.dataSet, k.fraction, k.forgetSeed, k.seed),
		About:   fmt.Sprintf("%s: %s, seed %d, fraction %g", s.Name, k.dataSet, k.seed, k.fraction),
		Setting: s.setting(k), Methods: methods, Required: true, DataName: s.dataName(k),
		Key:     func(c *lab.Case) store.Key { return e.key(at(c)) },
		Cost:    func(c *lab.Case) int64 { return int64(c.Problem.Train.X.Rows * (2 + len(s.Variants))) },
		Measure: func(ctx context.Context, c *lab.Case) ([]Row, error) { return e.compute(ctx, at(c)) },
	}
	if s.countsOnly() {
		return e.countMeasurement(s, k, m)
	}
	return m
}

// trainEnds trains the original and the oracle, or finds them.
func (c *cell) trainEnds(ctx context.Context) (err error) {
	if c.original, _, err = c.Weights(ctx, unlearn.NoOp{}); err != nil {
		return err
	}
	c.oracle, _, err = c.Weights(ctx, unlearn.Retrain{})
	return err
}

func (e *Env) compute(ctx context.Context, c *cell) ([]Row, error) {
	if err := c.trainEnds(ctx); err != nil {
		return nil, err
	}
	ref, err := e.reference(c)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, a := range c.study.Variants {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row, err := e.row(ctx, c, ref, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// row measures one variant, or records that its method diverged. It is an error if the original
// or the oracle diverges.
func (e *Env) row(ctx context.Context, c *cell, ref *reference, a Variant) (Row, error) {
	weights, _, err := c.Weights(ctx, a.Method)
	var row Row
	if err == nil {
		row, err = e.measure(c, ref, a, weights)
	}
	if d := (*train.Diverged)(nil); errors.As(err, &d) && c.ModelSpec(a.Method).Method != nil {
		row = c.newRow(a)
		row.Diverged, err = d.Error(), nil
	}
	return row, err
}

// newRow is a variant's row before it is measured.
func (c *cell) newRow(a Variant) Row {
	return Row{
		DataSet: c.dataSet, Variant: a.Label, Control: a.Control, Fraction: c.fraction, Seed: c.seed, ForgetSeed: c.forgetSeed,
		Forget: len(c.Forget), Retain: len(c.Retain),
	}
}

// reference holds the embeddings that every variant of a cell is compared with.
type reference struct {
	original, oracle array.Matrix[float64]
	oracleM4         float64
}

func (e *Env) reference(c *cell) (*reference, error) {
	embed := func(w nn.Params) (array.Matrix[float64], error) {
		p, err := c.Problem.Predict(w, c.Train.X)
		if err != nil {
			return array.Matrix[float64]{}, err
		}
		return array.Convert[float64](p.Embedding), nil
	}
	var r reference
	var err error
	if r.original, err = embed(c.original); err != nil {
		return nil, err
	}
	if r.oracle, err = embed(c.oracle); err != nil {
		return nil, err
	}
	own, _, err := ruler.M4(ruler.Evidence{Unlearned: &r.oracle, Forget: c.Forget, Retain: c.Retain}, e.options(c.study))
	if err != nil {
		return nil, fmt.Errorf("the oracle's own M4: %w", err)
	}
	r.oracleM4 = own.Value
	return &r, nil
}

func (e *Env) options(s Study) ruler.Options {
	return ruler.Options{GalleryCap: s.Gallery, PointOnly: true, ZeroNorm: ruler.AsPublished}
}

// measure computes the evidence on a variant's weights.
func (e *Env) measure(c *cell, ref *reference, a Variant, weights nn.Params) (Row, error) {
	row := c.newRow(a)
	onTrain, err := c.Problem.Predict(weights, c.Train.X)
	if err != nil {
		return row, err
	}
	onTest, err := c.Problem.Predict(weights, c.Test.X)
	if err != nil {
		return row, err
	}
	if err := train.CheckOutputs(onTrain, onTest); err != nil {
		return row, err
	}
	u := array.Convert[float64](onTrain.Embedding)
	m, err := ruler.Measure(ruler.Evidence{
		Unlearned: &u, Oracle: &ref.oracle, Original: &ref.original, Forget: c.Forget, Retain: c.Retain,
	}, e.options(c.study))
	if err != nil {
		return row, err
	}
	row.M1, row.M2, row.M2Mean, row.M3, row.M4 = m.M1.Value, m.M2.Value, m.M2Mean.Value, m.M3.Value, m.M4.Value
	row.OracleM4, row.ZeroRows = ref.oracleM4, m.ZeroRows.Unlearned
	row.M4AsCoded, row.Copies = m.M4AsCoded.Value, m.Copies
	if row.Untouched, err = e.untouchedPeople(c, onTrain, onTest); err != nil {
		return row, fmt.Errorf("people nobody trained on: %w", err)
	}
	if c.study.Texts != nil {
		err = e.textEvidence(c, &row, u, weights)
	} else {
		err = c.outputs(&row, onTrain.Logits(), onTest.Logits())
	}
	if err != nil {
		return row, err
	}
	row.Displacement, err = weights.Displacement(c.original)
	return row, err
}

// outputs adds the accuracies and the attack.
func (c *cell) outputs(row *Row, onTrain, onTest array.Matrix[float32]) error {
	pick := func(rows []int) (array.Matrix[float32], []int) {
		d := make([]int, len(rows))
		for i, r := range rows {
			d[i] = c.Train.Y[r]
		}
		return onTrain.Gather(rows), d
	}
	zf, yf := pick(c.Forget)
	zr, yr := pick(c.Retain)
	row.ForgetAcc, row.RetainAcc, row.TestAcc = train.Accuracy(zf, yf), train.Accuracy(zr, yr), train.Accuracy(onTest, c.Test.Y)
	unseen := c.unseen()
	res, err := attack.LossThreshold{}.Run(attack.Losses{
		Retained: train.Losses(zr, yr), Forgotten: train.Losses(zf, yf), HeldOut: train.Losses(onTest.Gather(unseen), c.Test.Gather(unseen).Y),
	})
	if err != nil {
		return err
	}
	row.MIA, row.MIAAUC = res.BalancedAccuracy.Value, res.AUC.Value
	return nil
}
