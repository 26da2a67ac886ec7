package audit

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// What a zero in a Setting stands for. All are RULER's main experiment
// (section 4), so that cases and the paper's tables share their models.
const (
	defaultDataSet  = "breast_cancer"
	defaultFraction = 0.05
	defaultSeed     = 999 // of the split and of the forget set
	unlearnSeed     = 100
	testFraction    = 0.2
)

// Setting says which model is to forget what. The zero value is RULER's: its
// network on Breast Cancer, 50 epochs of Adam, and 5 % of the train part, drawn
// at random, to be forgotten.
type Setting struct {
	DataSet string // "": breast_cancer
	MaxRows int    // at most so many rows of it, 0: all; of an image set, so many training images
	// TestRows is the number of test images of an image set, 0: all. A table has
	// a fifth of its rows.
	TestRows int
	// Fraction of the train part is forgotten, drawn with ForgetSeed.
	Fraction   float64 // 0: 0.05
	ForgetSeed uint32  // 0: 999
	// Planted names a group that the data set's generator planted, such as
	// "outliers"; its rows in the train part are forgotten instead.
	Planted string
	// Seed draws the initial weights and dropout.
	Seed int
	Fit  train.Config // its seed is Seed
	// Arch builds the network for a number of features and classes; nil is
	// RULER's MLP.
	Arch func(features, classes int) model.Architecture
}

func (s Setting) withDefaults() Setting {
	if s.DataSet == "" {
		s.DataSet = defaultDataSet
	}
	if s.Fraction == 0 {
		s.Fraction = defaultFraction
	}
	if s.ForgetSeed == 0 {
		s.ForgetSeed = defaultSeed
	}
	if s.Arch == nil {
		s.Arch = func(f, c int) model.Architecture { return tabular.MLP{Features: f, Outputs: c} }
	}
	s.Fit = s.Fit.WithDefaults()
	s.Fit.Seed = engine.Root(s.Seed)
	return s
}

// Case is a trained model, the records that it is to forget, and the oracle that
// never saw them. Forget and Retain are ascending rows of the train part.
type Case struct {
	Setting
	*Problem
	Forget, Retain   []int
	Original, Oracle *Model
	// Through are the lenses of Readings, Compare and Figure; nil: FirstLenses.
	Through []Lens

	lab        *Lab
	multiplier ruler.Multiplier
	earlier    *unlearn.Checkpoint // of the original, where it was kept
}

// Model is one model of a case. Its outputs are computed once.
type Model struct {
	Label   string
	Control bool // not a method: it is there to be compared with
	Weights nn.Params
	// Report is what the method did; nil for the original and the oracle.
	Report *unlearn.Report

	outputs func() (*outputs, error)
}

// outputs are a model's predictions for both parts of the data.
type outputs struct{ train, test *model.Prediction }

// Case prepares a case: it loads the data and trains the original and the
// oracle, or finds both in the store. Original and oracle start from the same
// weights.
func (l *Lab) Case(ctx context.Context, s Setting) (*Case, error) {
	s = s.withDefaults()
	p, err := l.problem(ctx, s)
	if err != nil {
		return nil, err
	}
	data := p.Prepared
	c := &Case{Setting: s, Problem: p, lab: l}
	if c.multiplier, err = l.Engine.NewMultiplier(); err != nil {
		return nil, err
	}
	if c.Forget, c.Retain, err = s.request(data); err != nil {
		return nil, err
	}
	original, err := c.train(ctx)
	if err != nil {
		return nil, err
	}
	oracle, err := l.Trained(ctx, p, s.Fit, c.Retain, s.Seed)
	if err != nil {
		return nil, err
	}
	c.Original, c.Oracle = c.Model("original (do nothing)", original), c.Model("retrained (oracle)", oracle)
	c.Original.Control, c.Oracle.Control = true, true
	return c, nil
}

// train returns the original. Of a network for images the weights at the start
// of the last epoch are kept too, for methods that go back to them.
func (c *Case) train(ctx context.Context) (nn.Params, error) {
	rows, last := everyRow(c.Prepared), c.Fit.Epochs-1
	if !c.ofImages() || last < 1 {
		return c.lab.Trained(ctx, c.Problem, c.Fit, rows, c.Seed)
	}
	course, err := c.lab.TrainedCourse(ctx, c.Problem, c.Fit, rows, c.Seed, []int{last})
	if err != nil {
		return nil, err
	}
	c.earlier = &unlearn.Checkpoint{Params: course.At[last], Epoch: last}
	return course.Final, nil
}

// ofImages reports whether the case's data are images.
func (c *Case) ofImages() bool {
	_, err := images.Lookup(c.DataSet)
	return err == nil
}

// request returns the rows of the train part to forget and the others.
func (s Setting) request(p *datasets.Prepared) (forget, retain []int, err error) {
	if s.Planted == "" {
		return datasets.ForgetSet(p.Train.X.Rows, s.Fraction, s.ForgetSeed)
	}
	group, ok := p.About.Planted[s.Planted]
	if !ok {
		return nil, nil, fmt.Errorf("data set %s has no planted group %q", s.DataSet, s.Planted)
	}
	for i, id := range p.Train.IDs {
		if slices.Contains(group, id) {
			forget = append(forget, i)
		} else {
			retain = append(retain, i)
		}
	}
	if len(forget) == 0 {
		return nil, nil, fmt.Errorf("data set %s: no row of the planted group %q is in the train part", s.DataSet, s.Planted)
	}
	return forget, retain, nil
}

func everyRow(p *datasets.Prepared) []int {
	out := make([]int, p.Train.X.Rows)
	for i := range out {
		out[i] = i
	}
	return out
}

// Model makes a model of the case out of weights, under a label.
func (c *Case) Model(label string, weights nn.Params) *Model {
	m := &Model{Label: label, Weights: weights}
	m.outputs = sync.OnceValues(func() (*outputs, error) {
		var o outputs
		var err error
		if o.train, err = c.Runner.Predict(weights, c.Train.X); err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		if o.test, err = c.Runner.Predict(weights, c.Test.X); err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		return &o, nil
	})
	return m
}

// Request is what an unlearning method is asked.
func (c *Case) Request() unlearn.Request {
	return unlearn.Request{
		Runner: c.Runner, Original: c.Original.Weights, Forget: c.Records(c.Forget), Retain: c.Records(c.Retain),
		Fit: c.Fit, Seed: unlearnSeed, Batch: c.Fit.Batch, Earlier: c.earlier,
	}
}

// Unlearn lets the original forget, or finds the result in the store. The label
// is the method's name.
func (c *Case) Unlearn(ctx context.Context, method unlearn.Method) (*Model, error) {
	weights, rep, err := c.lab.Unlearned(ctx, c.Problem, method, c.Request())
	if err != nil {
		return nil, err
	}
	m := c.Model(method.Name(), weights)
	m.Report, m.Control = rep, isControl(method)
	return m, nil
}

// isControl reports whether a method is there to be compared with.
func isControl(m unlearn.Method) bool {
	switch m.(type) {
	case unlearn.DoNothing, unlearn.RandomWeights, unlearn.Retrain:
		return true
	}
	return false
}

// Watch unlearns like Unlearn, computed here and now, and calls each, which may
// be nil, with the model as it is after every epoch. An error of each stops the
// work. The result is not kept in the store, which knows a method by its name
// and fields only: use Watch while you change a method's code.
func (c *Case) Watch(ctx context.Context, method unlearn.Method, each func(train.Epoch, *Model) error) (*Model, error) {
	r := c.Request()
	r.Hooks = train.Hooks{SaveEvery: 1, Save: func(s *train.State) error {
		if each == nil || ctx.Err() != nil { // stopped: nobody looks any more
			return nil
		}
		return each(s.History[len(s.History)-1], c.Model(method.Name(), s.Params.Clone()))
	}}
	weights, rep, err := unlearn.Apply(ctx, method, r)
	if err != nil {
		return nil, err
	}
	m := c.Model(method.Name(), weights)
	m.Report, m.Control = rep, isControl(method)
	return m, nil
}

// embedding is the penultimate activation of every row of the train part.
func (c *Case) embedding(m *Model) (array.Matrix[float64], error) {
	o, err := m.outputs()
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	return array.Convert[float64](o.train.Embedding), nil
}

// Losses returns the cross-entropy of a model on every forgotten, retained and
// held-out record.
func (c *Case) Losses(m *Model) (forget, retain, test []float64, err error) {
	o, err := m.outputs()
	if err != nil {
		return nil, nil, nil, err
	}
	pick := func(rows []int) []float64 {
		return train.Losses(o.train.Logits().Gather(rows), c.Records(rows).Y)
	}
	return pick(c.Forget), pick(c.Retain), train.Losses(o.test.Logits(), c.Test.Y), nil
}

// Accuracy is a model's share of right answers on three sets of records, with
// Wilson's 95 % interval over records.
type Accuracy struct{ Forget, Retain, Test stats.Estimate }

// Accuracy counts a model's right answers.
func (c *Case) Accuracy(m *Model) (Accuracy, error) {
	o, err := m.outputs()
	if err != nil {
		return Accuracy{}, err
	}
	on := func(rows []int) stats.Estimate {
		return share(o.train.Logits().Gather(rows), c.Records(rows).Y)
	}
	return Accuracy{on(c.Forget), on(c.Retain), share(o.test.Logits(), c.Test.Y)}, nil
}

func share(logits array.Matrix[float32], y []int) stats.Estimate {
	e := stats.Wilson(train.Accuracy(logits, y), len(y), 0.95)
	e.Better = stats.HigherIsBetter
	return e
}

// Controls are the models that every judgement needs beside it: the original,
// of which nothing was unlearned, the oracle, another oracle from another seed,
// and random weights.
func (c *Case) Controls(ctx context.Context) ([]*Model, error) {
	other, err := c.lab.Trained(ctx, c.Problem, c.Fit, c.Retain, c.Seed+1)
	if err != nil {
		return nil, err
	}
	destroyed, err := c.Unlearn(ctx, unlearn.RandomWeights{})
	if err != nil {
		return nil, err
	}
	second := c.Model("retrained, other seed", other)
	second.Control = true
	return []*Model{c.Original, c.Oracle, second, destroyed}, nil
}
