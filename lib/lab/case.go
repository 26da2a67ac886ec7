// Cases: a model, its forget set, and the models that it is compared with.

package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// Case is a model, the records that it has to forget, and every model that the protocol
// compares it with; Lab.Case makes it. Forget and Retain are ascending rows of the train
// part. A Case must be used by one goroutine at a time.
type Case struct {
	Lab     *Lab
	Setting // with defaults, and shifted by the lab's Shift
	*Problem
	Forget, Retain []int
	Out            []int            // rows assigned to the other model of a pair of shadow models: in none of this one's trainings
	Holders        []federated.User // which user held which rows before any request; nil: no federation (User)
	Shift          int              // of the lab

	trained map[ModelSpec]*Trajectory
}

// Case prepares a case: it loads the data and draws the forget set. It trains nothing.
func (l *Lab) Case(ctx context.Context, s Setting) (*Case, error) {
	if l == nil || l.Engine == nil || l.Store == nil {
		return nil, errors.New("lab: the lab has no engine or no store; make it with lab.Open")
	}
	s = s.withDefaults()
	if err := s.checkInherited(); err != nil { // before a seed is shifted
		return nil, fmt.Errorf("data set %s: %w", s.DataSet(), err)
	}
	s = s.reseeded(l.Shift)
	p, err := l.Problem(ctx, s)
	if err != nil {
		return nil, err
	}
	c := &Case{Lab: l, Setting: s, Problem: p, Shift: l.Shift, trained: map[ModelSpec]*Trajectory{}}
	if c.Forget, c.Retain, err = s.Divide(p.Prepared); err == nil && s.ShadowSplit != nil {
		err = s.ShadowSplit.removeOthers(c)
	}
	if err == nil {
		c.Holders, err = s.holders(p.Prepared)
	}
	return c, err
}

// check returns an error for a case that was put together by hand and lacks something.
func (c *Case) check() error {
	switch {
	case c.Lab == nil || c.Lab.Engine == nil || c.Lab.Store == nil:
		return errors.New("lab: the case has no lab with an engine and a store; make it with Lab.Case")
	case c.Problem == nil || c.Problem.Prepared == nil || c.Runner == nil:
		return errors.New("lab: the case has no data or no compiled network; make it with Lab.Case")
	}
	n := c.Problem.Train.X.Rows
	for what, rows := range map[string][]int{"forgotten": c.Forget, "retained": c.Retain} {
		if len(rows) == 0 {
			return fmt.Errorf("lab: no record is to be %s", what)
		}
		for i, r := range rows {
			if r < 0 || r >= n || i > 0 && r <= rows[i-1] {
				return fmt.Errorf("lab: the %s rows must be ascending and below %d; entry %d is %d", what, n, i, r)
			}
		}
	}
	for _, r := range c.Forget {
		if _, both := slices.BinarySearch(c.Retain, r); both {
			return fmt.Errorf("lab: row %d is to be forgotten and retained", r)
		}
	}
	return nil
}

// ReleaseModels gives back the memory of the models that the case has used; the store keeps them.
func (c *Case) ReleaseModels() { clear(c.trained) }

// TrainedModel returns the model of a training, with the checkpoints that were kept, from
// the store or trained now.
func (c *Case) TrainedModel(ctx context.Context, o ModelSpec) (*Trajectory, error) {
	if o.Method != nil {
		return nil, fmt.Errorf("lab: %s is an unlearning method, not a training", o.Method.Info().Name)
	}
	if t := c.trained[o]; t != nil {
		return t, nil
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	job, err := c.ID(o)
	if err != nil {
		return nil, err
	}
	t, err := c.Lab.train(ctx, c.training(o), job)
	if err != nil {
		return nil, err
	}
	if c.trained == nil {
		c.trained = map[ModelSpec]*Trajectory{}
	}
	c.trained[o] = t
	return t, nil
}

// Request returns the request that a method gets. It loads or trains the original first.
func (c *Case) Request(ctx context.Context, m unlearn.Method) (unlearn.Request, error) {
	original, err := c.TrainedModel(ctx, c.Original())
	if err != nil {
		return unlearn.Request{}, err
	}
	r := c.request(m, original)
	if m.Info().Sees.Refusals {
		if r.Refusals, err = c.refusals(r.Seed); err != nil {
			return unlearn.Request{}, fmt.Errorf("%s: %w", m.Info().Name, err)
		}
	}
	return r, nil
}

// Weights returns the weights of a method's model, from the store or computed now, and the
// method's report. The report is nil where the model is one of the case's trainings. A
// method that diverged is the error train.Diverged, which the store keeps too.
func (c *Case) Weights(ctx context.Context, m unlearn.Method) (nn.Params, *unlearn.Report, error) {
	o := c.ModelSpec(m)
	if o.Method == nil {
		t, err := c.TrainedModel(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return t.Final, nil, nil
	}
	r, err := c.Request(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	job, err := c.ID(o)
	if err != nil {
		return nil, nil, err
	}
	return c.Lab.unlearn(ctx, c.Problem, c.unlearningGoal(m), m, r, job)
}

// modelRun returns the stored run of a model, computing it if needed.
func (c *Case) modelRun(ctx context.Context, o ModelSpec) (*store.Run, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	job, err := c.ID(o)
	if err != nil {
		return nil, err
	}
	if o.Method == nil {
		return c.Lab.trainRun(ctx, c.training(o), job)
	}
	r, err := c.Request(ctx, o.Method)
	if err != nil {
		return nil, err
	}
	return c.Lab.unlearnRun(ctx, c.Problem, c.unlearningGoal(o.Method), o.Method, r, job)
}

// Precompute computes the models of several methods in parallel (see Lab.RunParallel), so
// that later calls find them in the store.
func (c *Case) Precompute(ctx context.Context, methods ...unlearn.Method) error {
	name := fmt.Sprintf("%d models of %s", len(methods), c.About.Name)
	if len(methods) == 1 {
		name = "" // the model says what it is
	}
	ctx, all := progress.Start(ctx, name, len(methods))
	defer all.Done()
	var tasks []func(context.Context) error
	for _, m := range methods {
		tasks = append(tasks, func(ctx context.Context) error {
			own := *c
			own.trained = map[ModelSpec]*Trajectory{}
			defer all.Add(1)
			return own.precompute(ctx, m)
		})
	}
	return c.Lab.RunParallel(ctx, tasks...)
}

// PrecomputeEach is Precompute that goes on where a method fails: it returns the error of each, nil if there is none, and
// calls done after each unless it is nil. err is that of ctx, or of the store's files.
func (c *Case) PrecomputeEach(ctx context.Context, done func(), methods ...unlearn.Method) (failed []error, err error) {
	failed = make([]error, len(methods))
	var tasks []func(context.Context) error
	for k, m := range methods {
		tasks = append(tasks, func(ctx context.Context) error {
			failed[k] = c.Precompute(ctx, m)
			if done != nil {
				done()
			}
			if file := (*fs.PathError)(nil); errors.As(failed[k], &file) {
				return failed[k]
			}
			return ctx.Err()
		})
	}
	return failed, c.Lab.RunParallel(ctx, tasks...)
}

// WhyFailed says in a few words why a method left no model: what the method says, without the run of the store that it was.
func WhyFailed(m unlearn.Method, err error) string {
	if d := (*train.Diverged)(nil); errors.As(err, &d) {
		return "diverged"
	}
	text := err.Error()
	if _, says, ok := strings.Cut(text, " "+m.Info().Name+": "); ok {
		return says
	}
	return text
}

// precompute computes the model of one method. A method that diverged is not an error.
func (c *Case) precompute(ctx context.Context, m unlearn.Method) error {
	_, _, err := c.Weights(ctx, m)
	if d := (*train.Diverged)(nil); errors.As(err, &d) && c.ModelSpec(m).Method != nil {
		return nil // the store keeps the divergence and reports it to later callers
	}
	return err
}

// storeKey returns the store key of a model, and whether it is known yet: the key of an
// unlearning contains the hash of the original's weights.
func (c *Case) storeKey(ctx context.Context, o ModelSpec) (store.Key, bool, error) {
	if err := c.check(); err != nil {
		return store.Key{}, false, err
	}
	if o.Method == nil {
		return c.Lab.TrainKey(c.training(o)), true, nil
	}
	if c.trained[c.Original()] == nil {
		if there, err := c.Ready(ctx, unlearn.NoOp{}); err != nil || !there {
			return store.Key{}, false, err
		}
	}
	r, err := c.Request(ctx, o.Method)
	return c.Lab.unlearnKey(c.Problem, c.unlearningGoal(o.Method), o.Method, r), err == nil, err
}

// Ready reports whether the model of a method is in the store.
func (c *Case) Ready(ctx context.Context, m unlearn.Method) (bool, error) {
	key, known, err := c.storeKey(ctx, c.ModelSpec(m))
	if err != nil || !known {
		return false, err
	}
	_, there, err := c.Lab.Store.Lookup(key)
	if errors.Is(err, store.ErrDamaged) {
		return false, nil
	}
	return there, err
}

// Model is one model of a case. Its outputs are computed once.
type Model struct {
	Label   string
	Control bool // a baseline, not an unlearning method
	Weights nn.Params
	// Report says what the method did; nil for the original and the retrained models.
	Report *unlearn.Report

	outputs func() (*Outputs, error)
	tokens  func() (*language.Tokens, error)
}

// Outputs are a model's predictions for the train and the test part.
type Outputs struct{ Train, Test *model.Prediction }

// Outputs returns the model's predictions. They are computed on the first call.
func (m *Model) Outputs() (*Outputs, error) { return m.outputs() }

// Tokens returns a decoder's numbers of the tokens of every record, of the train part and after it of
// the test part. They are computed on the first call.
func (m *Model) Tokens() (*language.Tokens, error) { return m.tokens() }

// Embedding returns the activations before the output layer for every row of the train
// part, one record per row.
func (m *Model) Embedding() (array.Matrix[float64], error) {
	o, err := m.Outputs()
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	return array.Convert[float64](o.Train.Embedding), nil
}

// NewModel returns a model of the case with the given weights and label.
func (c *Case) NewModel(label string, weights nn.Params) *Model {
	m := &Model{Label: label, Weights: weights}
	m.outputs = sync.OnceValues(func() (*Outputs, error) {
		var o Outputs
		var err error
		if o.Train, err = c.Problem.Predict(weights, c.Problem.Train.X); err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		if o.Test, err = c.Problem.Predict(weights, c.Test.X); err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		return &o, nil
	})
	m.tokens = sync.OnceValues(func() (*language.Tokens, error) {
		x, after := c.Problem.Train.X, c.Test.X
		x.Rows, x.Data = x.Rows+after.Rows, slices.Concat(x.Data, after.Data)
		tokens, err := text.Measure(c.Runner, weights, x)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		return (*language.Tokens)(tokens), nil
	})
	return m
}

// Variant returns the model of a variant, from the store or computed now.
func (c *Case) Variant(ctx context.Context, a Variant) (*Model, error) {
	weights, rep, err := c.Weights(ctx, a.Method)
	if err != nil {
		return nil, err
	}
	m := c.NewModel(a.Label, weights)
	m.Report, m.Control = rep, a.Control
	return m, nil
}

// Unlearn applies a method to the original, or finds the result in the store. The model's
// label is the method's name.
func (c *Case) Unlearn(ctx context.Context, method unlearn.Method) (*Model, error) {
	switch {
	case c == nil:
		return nil, errors.New("lab: there is no case; make it with Lab.Case")
	case method == nil:
		return nil, errors.New("lab: no method is named")
	}
	return c.Variant(ctx, Variant{method.Info().Name, method, IsControl(method)})
}

// Watch unlearns without the store and calls each after every epoch with the model as it
// then is. each may be nil; an error of it stops the work. Use Watch while you change a
// method of this module: the store knows such a method only by its name, version and
// fields. A method from another module is stored under the hash of its code (store.CodeOf).
func (c *Case) Watch(ctx context.Context, method unlearn.Method, each func(train.Epoch, *Model) error) (*Model, error) {
	r, err := c.Request(ctx, method)
	if err != nil {
		return nil, err
	}
	r.Hooks = train.Hooks{SaveEvery: 1, Save: func(s *train.State) error {
		if each == nil || ctx.Err() != nil { // stopped
			return nil
		}
		return each(s.History[len(s.History)-1], c.NewModel(method.Info().Name, s.Params[:len(r.Original)].Clone()))
	}}
	weights, rep, err := unlearn.Apply(ctx, method, r)
	if err != nil {
		return nil, err
	}
	m := c.NewModel(method.Info().Name, weights)
	m.Report, m.Control = rep, IsControl(method)
	return m, nil
}

// Losses returns the loss of a model on every retained and every forgotten record and on
// the held-out records that no method may see (EvalRows). The loss is that of the training
// goal: for a classifier the cross-entropy.
func (c *Case) Losses(m *Model) (attack.Losses, error) {
	goal := goalWithDefaults(c.Goal)
	if g, is := goal.(WeightsLoss); is {
		return c.lossesOf(g, m)
	}
	g, ok := goal.(PerRecordLoss)
	if !ok {
		return attack.Losses{}, fmt.Errorf("lab: the goal %s has no loss of a single record", c.Goal.Name())
	}
	o, err := m.Outputs()
	if err != nil {
		return attack.Losses{}, err
	}
	onTrain, err := g.RecordLosses(o.Train, c.Problem.Train)
	if err != nil {
		return attack.Losses{}, err
	}
	heldOut, err := g.RecordLosses(o.Test, c.Test)
	if err != nil {
		return attack.Losses{}, err
	}
	return attack.Losses{Retained: valuesAt(onTrain, c.Retain), Forgotten: valuesAt(onTrain, c.Forget), HeldOut: valuesAt(heldOut, c.EvalRows())}, nil
}

// lossesOf is Losses for a goal whose losses need the weights.
func (c *Case) lossesOf(g WeightsLoss, m *Model) (out attack.Losses, err error) {
	for _, of := range []struct {
		part datasets.Part
		to   *[]float64
	}{
		{c.Problem.Train.Gather(c.Retain), &out.Retained}, {c.Problem.Train.Gather(c.Forget), &out.Forgotten},
		{c.Test.Gather(c.EvalRows()), &out.HeldOut},
	} {
		if *of.to, err = g.LossesOf(c.Problem, m.Weights, of.part); err != nil {
			return out, fmt.Errorf("%s: %w", m.Label, err)
		}
	}
	return out, nil
}

// valuesAt returns the values of the given rows.
func valuesAt(values []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = values[i]
	}
	return out
}

// Accuracy is a model's accuracy on three sets of records, each with a 95 % interval: Wilson's, or
// that of stats.ClusterShare over groups of records.
type Accuracy struct{ Forget, Retain, Test stats.Estimate }

// ErrNoAnswers is the error for a model that was not trained to predict labels.
var ErrNoAnswers = errors.New("the model is not a classifier: it predicts no labels")

// Accuracy returns the model's accuracies with intervals over records, or ErrNoAnswers.
func (c *Case) Accuracy(m *Model) (Accuracy, error) { return c.AccuracyOver(m, nil, "") }

// AccuracyOver is Accuracy with intervals over groups of records, such as those of Groups: of every
// record of the train part, and after it of the test part. unit names groups in the plural.
func (c *Case) AccuracyOver(m *Model, groups []int, unit string) (Accuracy, error) {
	if _, is := c.Problem.Arch.(model.Classifier); !is {
		return Accuracy{}, ErrNoAnswers
	}
	o, err := m.Outputs()
	if err != nil {
		return Accuracy{}, err
	}
	var a Accuracy
	test := make([]int, c.Test.X.Rows)
	for i := range test {
		test[i] = c.Train.X.Rows + i
	}
	for _, set := range []struct {
		to     *stats.Estimate
		logits array.Matrix[float32]
		y      []int
		rows   []int
	}{
		{&a.Forget, o.Train.Logits().Gather(c.Forget), c.Records(c.Forget).Y, c.Forget},
		{&a.Retain, o.Train.Logits().Gather(c.Retain), c.Records(c.Retain).Y, c.Retain},
		{&a.Test, o.Test.Logits(), c.Test.Y, test},
	} {
		var of stats.Clusters
		for _, i := range set.rows {
			if groups != nil {
				of = append(of, groups[i])
			}
		}
		if *set.to, err = accuracyEstimate(set.logits, set.y, of, unit); err != nil {
			return Accuracy{}, err
		}
	}
	return a, nil
}

func accuracyEstimate(logits array.Matrix[float32], y []int, of stats.Clusters, unit string) (e stats.Estimate, err error) {
	e = stats.Wilson(train.Accuracy(logits, y), len(y), 0.95)
	if !of.Trivial() {
		if e, err = stats.ClusterShare([][]bool{train.Correct(logits, y)}, []stats.Clusters{of}, 0.95, unit); err != nil {
			return e, err
		}
	}
	e.Better = stats.HigherIsBetter
	return e, nil
}
