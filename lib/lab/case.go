package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Case is a model, the records that it is to forget, and all that the protocol
// compares it with. Forget and Retain are ascending rows of the train part. A
// Case is used by one goroutine.
type Case struct {
	Lab     *Lab
	Setting // resolved, and moved by the lab's Shift
	*Problem
	Forget, Retain []int
	Out            []int            // dealt to the other model of a fleet's pair: in none of this one's trainings
	Holders        []federated.User // who holds which rows, before anybody asks; nil: nobody shares them (Setting.Shards)
	Shift          int              // of the lab

	trained map[ModelSpec]*Trajectory
}

// Case prepares a case: it loads the data and says who is to be forgotten.
// Nothing is trained before it is asked for.
func (l *Lab) Case(ctx context.Context, s Setting) (*Case, error) {
	s = s.withDefaults().reseeded(l.Shift)
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

// TrainedModel returns the model of an origin that was trained, with what was kept on
// the way, from the store or computed.
func (c *Case) TrainedModel(ctx context.Context, o ModelSpec) (*Trajectory, error) {
	if o.Method != nil {
		return nil, fmt.Errorf("lab: %s is no training", o.Method.Name())
	}
	if t := c.trained[o]; t != nil {
		return t, nil
	}
	job, err := c.ID(o)
	if err != nil {
		return nil, err
	}
	t, err := c.Lab.train(ctx, c.training(o), job)
	if err == nil {
		c.trained[o] = t
	}
	return t, err
}

// Request is what a method is asked. It trains the original, or finds it in the
// store.
func (c *Case) Request(ctx context.Context, m unlearn.Method) (unlearn.Request, error) {
	original, err := c.TrainedModel(ctx, c.Original())
	if err != nil {
		return unlearn.Request{}, err
	}
	return c.request(m, original), nil
}

// Weights are those of an arm's model, and what its method reports, nil where the
// model is one of the case's trainings, from the store or computed. A method that
// leaves the range of numbers is the error train.Diverged, which the store keeps.
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

// modelRun is the run of an origin's model, found or computed.
func (c *Case) modelRun(ctx context.Context, o ModelSpec) (*store.Run, error) {
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

// Precompute computes the models of methods side by side, so that they are in the
// store when they are asked for: see Lab.RunParallel.
func (c *Case) Precompute(ctx context.Context, methods ...unlearn.Method) error {
	var tasks []func() error
	for _, m := range methods {
		tasks = append(tasks, func() error {
			own := *c
			own.trained = map[ModelSpec]*Trajectory{}
			return own.precompute(ctx, m)
		})
	}
	return c.Lab.RunParallel(tasks...)
}

// precompute computes the model of a method.
func (c *Case) precompute(ctx context.Context, m unlearn.Method) error {
	_, _, err := c.Weights(ctx, m)
	if d := (*train.Diverged)(nil); errors.As(err, &d) && c.ModelSpec(m).Method != nil {
		return nil // the store knows, and tells who asks
	}
	return err
}

// storeKey is an origin's in the store, and whether it is known: that of an
// unlearning holds the original's weights.
func (c *Case) storeKey(ctx context.Context, o ModelSpec) (store.Key, bool, error) {
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

// Ready reports whether the model of an arm is in the store.
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

// NewModel is one model of a case. Its outputs are computed once.
type Model struct {
	Label   string
	Control bool // not a method: it is there to be compared with
	Weights nn.Params
	// Report is what the method did; nil for the original and the oracles.
	Report *unlearn.Report

	outputs func() (*Outputs, error)
}

// Outputs are a model's predictions for both parts of the data.
type Outputs struct{ Train, Test *model.Prediction }

// Outputs runs the model on the data, the first time that it is asked.
func (m *Model) Outputs() (*Outputs, error) { return m.outputs() }

// Embedding is what a model makes of every row of the train part: the
// activations just before its output layer, a record per row.
func (m *Model) Embedding() (array.Matrix[float64], error) {
	o, err := m.Outputs()
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	return array.Convert[float64](o.Train.Embedding), nil
}

// NewModel makes a model of the case out of weights, under a label.
func (c *Case) NewModel(label string, weights nn.Params) *Model {
	m := &Model{Label: label, Weights: weights}
	m.outputs = sync.OnceValues(func() (*Outputs, error) {
		var o Outputs
		var err error
		if o.Train, err = c.Runner.Predict(weights, c.Problem.Train.X); err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		if o.Test, err = c.Runner.Predict(weights, c.Test.X); err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		return &o, nil
	})
	return m
}

// Variant is the model of an arm, from the store or computed.
func (c *Case) Variant(ctx context.Context, a Variant) (*Model, error) {
	weights, rep, err := c.Weights(ctx, a.Method)
	if err != nil {
		return nil, err
	}
	m := c.NewModel(a.Label, weights)
	m.Report, m.Control = rep, a.Control
	return m, nil
}

// Unlearn lets the original forget, or finds the result in the store. The label
// is the method's name.
func (c *Case) Unlearn(ctx context.Context, method unlearn.Method) (*Model, error) {
	return c.Variant(ctx, Variant{method.Name(), method, IsControl(method)})
}

// Watch unlearns like Unlearn, computed here and now, and calls each, which may
// be nil, with the model as it is after every epoch. An error of each stops the
// work. The result is not kept in the store, which knows a method of Lethe's own by
// its name, version and fields only: use Watch while you change its code. A method from
// outside is kept under what it was built from (store.CodeOf).
func (c *Case) Watch(ctx context.Context, method unlearn.Method, each func(train.Epoch, *Model) error) (*Model, error) {
	r, err := c.Request(ctx, method)
	if err != nil {
		return nil, err
	}
	r.Hooks = train.Hooks{SaveEvery: 1, Save: func(s *train.State) error {
		if each == nil || ctx.Err() != nil { // stopped: nobody looks any more
			return nil
		}
		return each(s.History[len(s.History)-1], c.NewModel(method.Name(), s.Params[:len(r.Original)].Clone()))
	}}
	weights, rep, err := unlearn.Apply(ctx, method, r)
	if err != nil {
		return nil, err
	}
	m := c.NewModel(method.Name(), weights)
	m.Report, m.Control = rep, IsControl(method)
	return m, nil
}

// Losses returns what a model loses on every retained and forgotten record and on
// those held-out ones that no method may look at (Judged), as the goal of its training
// has it: the cross-entropy of a classifier.
func (c *Case) Losses(m *Model) (attack.Losses, error) {
	g, ok := goalWithDefaults(c.Goal).(PerRecordLoss)
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

// valuesAt are the values of these rows.
func valuesAt(values []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = values[i]
	}
	return out
}

// Accuracy is a model's share of right answers on three sets of records, with
// Wilson's 95 % interval over records.
type Accuracy struct{ Forget, Retain, Test stats.Estimate }

// ErrNoAnswers is the error of who asks a model for the labels of records that was
// not trained to give any.
var ErrNoAnswers = errors.New("the model is no classifier: it gives no labels that could be right")

// Accuracy counts a model's right answers, or is ErrNoAnswers.
func (c *Case) Accuracy(m *Model) (Accuracy, error) {
	if _, is := c.Problem.Arch.(model.Classifier); !is {
		return Accuracy{}, ErrNoAnswers
	}
	o, err := m.Outputs()
	if err != nil {
		return Accuracy{}, err
	}
	on := func(rows []int) stats.Estimate {
		return accuracyEstimate(o.Train.Logits().Gather(rows), c.Records(rows).Y)
	}
	return Accuracy{on(c.Forget), on(c.Retain), accuracyEstimate(o.Test.Logits(), c.Test.Y)}, nil
}

func accuracyEstimate(logits array.Matrix[float32], y []int) stats.Estimate {
	e := stats.Wilson(train.Accuracy(logits, y), len(y), 0.95)
	e.Better = stats.HigherIsBetter
	return e
}
