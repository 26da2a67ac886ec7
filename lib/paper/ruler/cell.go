package ruler

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Row is the evidence on one model: one arm in one cell.
type Row struct {
	DataSet    string  `json:"data_set"`
	Arm        string  `json:"arm"`
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

	MIA       float64 `json:"mia"`     // balanced accuracy of the loss-threshold attack
	MIAAUC    float64 `json:"mia_auc"` // forget against held-out losses, no threshold; signed
	ForgetAcc float64 `json:"forget_accuracy"`
	RetainAcc float64 `json:"retain_accuracy"`
	TestAcc   float64 `json:"test_accuracy"`

	Displacement float64 `json:"displacement"` // of the weights, relative
	ZeroRows     int     `json:"zero_rows"`    // embeddings without a direction among those used
}

// DeltaM4 is M4 less that of the oracle, which never saw the forget set.
func (r Row) DeltaM4() float64 { return r.M4 - r.OracleM4 }

// trained returns the weights of a model trained on the given training rows.
func (e *Env) trained(ctx context.Context, p *audit.Problem, s Study, rows []int, seed int) (nn.Params, error) {
	return e.lab.Trained(ctx, p, s.Fit, rows, seed)
}

// unlearned returns the weights that an arm makes of the original.
func (e *Env) unlearned(ctx context.Context, c *cell, a Arm) (nn.Params, error) {
	if r, ok := a.Method.(unlearn.Retrain); ok {
		return e.retrained(ctx, c, r)
	}
	weights, _, err := e.lab.Unlearned(ctx, c.Problem, a.Method, c.request())
	return weights, err
}

// retrained is the oracle of the cell, or that of the study's next seed: the
// very runs that serve as oracles, so nothing is trained twice. A test shows
// that unlearn.Retrain gives the same bytes.
func (e *Env) retrained(ctx context.Context, c *cell, r unlearn.Retrain) (nn.Params, error) {
	if r.SeedShift == 0 {
		return c.oracle, nil
	}
	seeds := c.study.Seeds
	for i, s := range seeds {
		if s == c.seed && len(seeds) > 1 {
			return e.trained(ctx, c.Problem, c.study, c.retain, seeds[(i+r.SeedShift)%len(seeds)])
		}
	}
	return e.trained(ctx, c.Problem, c.study, c.retain, c.seed+r.SeedShift)
}

// cell is everything that the evidence of one cell is computed from.
type cell struct {
	cellKey
	*audit.Problem
	study            Study
	forget, retain   []int // rows of the training part
	original, oracle nn.Params
}

func (c *cell) request() unlearn.Request {
	fit := c.study.Fit.WithDefaults()
	fit.Seed = engine.Root(c.seed)
	return unlearn.Request{
		Runner: c.Runner, Original: c.original, Forget: c.Records(c.forget), Retain: c.Records(c.retain),
		Fit: fit, Seed: unlearnSeed, Batch: c.study.Fit.Batch,
	}
}

// evidenceConfig identifies the evidence of a cell in the store.
type evidenceConfig struct {
	Study      string             `json:"study"`
	Model      string             `json:"model"`
	Arch       model.Architecture `json:"arch"`
	Fit        train.Config       `json:"fit"`
	Arms       []armConfig        `json:"arms"`
	Others     []int              `json:"seeds"` // of the study: they decide the other-seed oracle
	Fraction   float64            `json:"fraction"`
	ForgetSeed uint32             `json:"forget_seed"`
	Gallery    int                `json:"gallery"`
}

type armConfig struct {
	Label   string         `json:"label"`
	Method  string         `json:"method"`
	Setting unlearn.Method `json:"setting"`
}

// evidence returns the rows of a cell, from the store or computed.
func (e *Env) evidence(ctx context.Context, s Study, k cellKey) ([]Row, string, error) {
	p, err := e.problem(ctx, s, k.dataSet)
	if err != nil {
		return nil, "", err
	}
	cfg := evidenceConfig{s.Name, p.Arch.Name(), p.Arch, s.Fit.WithDefaults(), nil, s.Seeds, k.fraction, k.forgetSeed, s.Gallery}
	for _, a := range s.Arms {
		cfg.Arms = append(cfg.Arms, armConfig{a.Label, a.Method.Name(), a.Method})
	}
	key := e.lab.Key("evidence/ruler", p, cfg, map[string]int64{"train": int64(k.seed), "unlearn": unlearnSeed, "split": splitSeed})
	run, err := e.Store.Do(ctx, key, func(ctx context.Context, w *store.Work) error {
		rows, err := e.compute(ctx, p, s, k)
		if err != nil {
			return err
		}
		return w.WriteJSON("rows.json", rows)
	})
	if err != nil {
		return nil, "", fmt.Errorf("%s, seed %d, fraction %g: %w", k.dataSet, k.seed, k.fraction, err)
	}
	var rows []Row
	return rows, run.ID, run.JSON("rows.json", &rows)
}

func (e *Env) compute(ctx context.Context, p *audit.Problem, s Study, k cellKey) ([]Row, error) {
	c := &cell{cellKey: k, Problem: p, study: s}
	var err error
	if c.forget, c.retain, err = datasets.ForgetSet(p.Train.X.Rows, k.fraction, k.forgetSeed); err != nil {
		return nil, err
	}
	if c.original, err = e.trained(ctx, p, s, upTo(p.Train.X.Rows), k.seed); err != nil {
		return nil, err
	}
	if c.oracle, err = e.trained(ctx, p, s, c.retain, k.seed); err != nil {
		return nil, err
	}
	ref, err := e.reference(c)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, a := range s.Arms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		weights, err := e.unlearned(ctx, c, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		row, err := e.measure(c, ref, a, weights)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// reference holds the embeddings that every arm of a cell is compared with.
type reference struct {
	original, oracle array.Matrix[float64]
	oracleM4         float64
}

func (e *Env) reference(c *cell) (*reference, error) {
	embed := func(w nn.Params) (array.Matrix[float64], error) {
		p, err := c.Runner.Predict(w, c.Train.X)
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
	own, _, err := ruler.M4(&r.oracle, c.forget, c.retain, e.options(c.study))
	if err != nil {
		return nil, fmt.Errorf("the oracle's own M4: %w", err)
	}
	r.oracleM4 = own.Value
	return &r, nil
}

func (e *Env) options(s Study) ruler.Options {
	return ruler.Options{GalleryCap: s.Gallery, PointOnly: true, ZeroNorm: ruler.AsPublished, Multiplier: e.multiplier}
}

// measure computes the evidence on the weights that an arm left.
func (e *Env) measure(c *cell, ref *reference, a Arm, weights nn.Params) (Row, error) {
	row := Row{
		DataSet: c.dataSet, Arm: a.Label, Control: a.Control, Fraction: c.fraction, Seed: c.seed, ForgetSeed: c.forgetSeed,
		Forget: len(c.forget), Retain: len(c.retain),
	}
	onTrain, err := c.Runner.Predict(weights, c.Train.X)
	if err != nil {
		return row, err
	}
	onTest, err := c.Runner.Predict(weights, c.Test.X)
	if err != nil {
		return row, err
	}
	u := array.Convert[float64](onTrain.Embedding)
	m, err := ruler.Measure(&u, &ref.oracle, &ref.original, c.forget, c.retain, e.options(c.study))
	if err != nil {
		return row, err
	}
	row.M1, row.M2, row.M2Mean, row.M3, row.M4 = m.M1.Value, m.M2.Value, m.M2Mean.Value, m.M3.Value, m.M4.Value
	row.OracleM4, row.ZeroRows = ref.oracleM4, m.ZeroRows.Unlearned
	if err := c.outputs(&row, onTrain.Logits(), onTest.Logits()); err != nil {
		return row, err
	}
	row.Displacement, err = weights.Displacement(c.original)
	return row, err
}

// outputs fills in what is judged from outputs: accuracies and the attack.
func (c *cell) outputs(row *Row, onTrain, onTest array.Matrix[float32]) error {
	pick := func(rows []int) (array.Matrix[float32], []int) {
		return onTrain.Gather(rows), c.Records(rows).Y
	}
	zf, yf := pick(c.forget)
	zr, yr := pick(c.retain)
	row.ForgetAcc, row.RetainAcc, row.TestAcc = train.Accuracy(zf, yf), train.Accuracy(zr, yr), train.Accuracy(onTest, c.Test.Y)
	res, err := attack.LossThreshold{}.Run(train.Losses(zr, yr), train.Losses(zf, yf), train.Losses(onTest, c.Test.Y))
	if err != nil {
		return err
	}
	row.MIA, row.MIAAUC = res.BalancedAccuracy.Value, res.AUC.Value
	return nil
}
