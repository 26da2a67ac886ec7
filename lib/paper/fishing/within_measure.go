package fishing

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The rows of the table beside the attacks of packages generative and shadow.
const (
	TypeAlone = "type alone"
	Learned   = "70 features, learned"
	LossAlone = "loss"
)

// shadows are the attacks by shadow models. With fewer than some 64 models the paper
// of LiRA takes one variance for all records.
func shadows() []shadow.Attack {
	return []shadow.Attack{shadow.LiRA{Pooled: true}, shadow.LiRA{Offline: true, Pooled: true}, shadow.RMIA{}}
}

// Attacks are the rows of a fleet.
func (f Fleet) Attacks() []string {
	out := []string{TypeAlone, generative.Recon{}.Name(), generative.KL{}.Name(), generative.ELBO{}.Name(), Learned}
	if f.Whole {
		out = []string{LossAlone}
	}
	for _, a := range shadows() {
		out = append(out, a.Name())
	}
	return out
}

// measure asks every attack about every arm of a fleet.
func (f Fleet) measure(ctx context.Context, models *lab.Fleet) ([]Found, error) {
	var out []Found
	for _, a := range f.arms() {
		ask := f.askCells
		if f.Whole {
			ask = f.askTable
		}
		found, err := ask(ctx, models, a.Method)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		for i := range found {
			found[i].Case, found[i].Arm, found[i].Dealt = f.Label, a.Label, len(models.Dealt)
		}
		out = append(out, found...)
	}
	return out, nil
}

// heard is what the models of a fleet say in one number per record, higher for
// members: a row per model.
type heard struct{ dealt, unseen array.Matrix[float64] }

func (h *heard) add(dealt, unseen []float64) {
	for _, m := range []struct {
		to *array.Matrix[float64]
		of []float64
	}{{&h.dealt, dealt}, {&h.unseen, unseen}} {
		m.to.Rows, m.to.Cols, m.to.Data = m.to.Rows+1, len(m.of), append(m.to.Data, m.of...)
	}
}

// fleet is the evidence for attacks by shadow models.
func (h heard) fleet(in [][]bool) shadow.Fleet {
	return shadow.Fleet{Scores: h.dealt, In: in, Population: &h.unseen, Pairs: true}
}

// askTable asks classifiers about a table: LiRA looks at scaled confidences, RMIA and
// the threshold at the logarithm of the label's probability.
func (f Fleet) askTable(ctx context.Context, models *lab.Fleet, m unlearn.Method) ([]Found, error) {
	weights, err := models.Weights(ctx, m)
	if err != nil {
		return nil, err
	}
	var scaled, logP heard
	unseen := models.Models[0].Test.Gather(models.Models[0].Unseen(f.methods()...))
	for k, c := range models.Models {
		var said [2][2][]float64 // dealt, unseen; scaled, log p
		for part, d := range []unlearn.Data{c.Records(models.Dealt), {X: unseen.X, Y: unseen.Y}} {
			p, err := c.Runner.Predict(weights[k], d.X)
			if err != nil {
				return nil, err
			}
			if said[part][0], err = shadow.Scaled(p.Logits(), d.Y); err != nil {
				return nil, err
			}
			said[part][1] = negated(train.Losses(p.Logits(), d.Y))
		}
		scaled.add(said[0][0], said[1][0])
		logP.add(said[0][1], said[1][1])
	}
	in := models.In()
	threshold, err := logP.fleet(in).Threshold(LossAlone)
	if err != nil {
		return nil, err
	}
	found := []Found{{Attack: LossAlone, Within: threshold}}
	for _, a := range shadows() {
		signal := scaled
		if _, is := a.(shadow.RMIA); is {
			signal = logP
		}
		s, err := signal.fleet(in).Attack(a)
		if err != nil {
			return nil, err
		}
		found = append(found, Found{Attack: a.Name(), Within: s})
	}
	return found, nil
}

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// asked is what a fleet of autoencoders says under one arm.
type asked struct {
	of       Fleet
	models   *lab.Fleet
	in       [][]bool
	signals  map[string]*heard
	features []array.Matrix[float64] // of each model: of the dealt cells
	matched  []matched               // of each model
}

// matched are the cells that a model had and the unseen ones nearest to them.
type matched struct {
	had, negatives []int           // rows of dealt and of unseen cells
	features       learned.Records // of both
	beside         []int           // of each of the negatives, the place in had of the nearest
	same           []bool          // which of the negatives are of the group
}

// askCells asks autoencoders.
func (f Fleet) askCells(ctx context.Context, models *lab.Fleet, m unlearn.Method) ([]Found, error) {
	weights, err := models.Weights(ctx, m)
	if err != nil {
		return nil, err
	}
	a := &asked{of: f, models: models, in: models.In(), signals: map[string]*heard{}}
	for k, c := range models.Models {
		if err := a.listen(k, c, weights[k]); err != nil {
			return nil, fmt.Errorf("model %d: %w", k, err)
		}
	}
	return a.found(ctx)
}

// listen takes down what a model says of the dealt cells and of those that no method looks at.
func (a *asked) listen(k int, c *lab.Case, w nn.Params) error {
	dealt, err := saidOf(c.Runner, w, c.Problem.Train.Gather(a.models.Dealt))
	if err != nil {
		return err
	}
	v, err := viewOf(c, w)
	if err != nil {
		return err
	}
	unseen := c.Unseen(a.of.methods()...)
	strangers := v.unseen.take(unseen)
	for name, signal := range map[string]func(s said) []float64{
		generative.Recon{}.Name(): func(s said) []float64 { return negated(s.recon) },
		generative.KL{}.Name():    func(s said) []float64 { return negated(s.divergence) },
		generative.ELBO{}.Name():  said.bound,
	} {
		if a.signals[name] == nil {
			a.signals[name] = &heard{}
		}
		a.signals[name].add(signal(dealt), signal(strangers))
	}
	features, err := dealt.features(v.retain)
	if err != nil {
		return err
	}
	a.features = append(a.features, features)
	near, err := cells.Matched(array.Convert[float64](v.forget.mean), array.Convert[float64](strangers.mean), a.of.Neighbours)
	if err != nil {
		return err
	}
	m := matched{negatives: near.Rows, beside: near.Beside}
	for i, had := range a.in[k] {
		if had {
			m.had = append(m.had, i)
		}
	}
	rows := make([]int, len(near.Rows))
	for k, i := range near.Rows {
		rows[k] = unseen[i]
		m.same = append(m.same, a.of.group(c.Problem, c.Test, unseen[i]))
	}
	m.features, err = v.records(rows)
	a.matched = append(a.matched, m)
	return err
}

// bound is the lower bound of a cell's log-likelihood, up to a constant.
func (s said) bound() []float64 {
	out := make([]float64, len(s.recon))
	for i, v := range s.recon {
		out[i] = -v - s.divergence[i]
	}
	return out
}

// found asks every attack of the table.
func (a *asked) found(ctx context.Context) ([]Found, error) {
	var out []Found
	add := func(name string, within *shadow.Sweep, err error, areas func(k int, m matched) (attack.Samples, error)) error {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f := Found{Attack: name, Within: within}
		if areas != nil {
			if err := a.against(&f, areas); err != nil {
				return fmt.Errorf("%s, matched: %w", name, err)
			}
		}
		out = append(out, f)
		return nil
	}
	bound := a.signals[generative.ELBO{}.Name()]
	alone, err := bound.fleet(a.in).Judge(TypeAlone, false, func(int) ([]float64, error) { return make([]float64, len(a.models.Dealt)), nil })
	if err := add(TypeAlone, alone, err, a.typeAlone); err != nil {
		return nil, err
	}
	for _, name := range []string{generative.Recon{}.Name(), generative.KL{}.Name(), generative.ELBO{}.Name()} {
		h := a.signals[name]
		s, err := h.fleet(a.in).Threshold(name)
		if err := add(name, s, err, h.matched); err != nil {
			return nil, err
		}
	}
	s, err := a.learned(ctx, *bound)
	if err := add(Learned, s, err, a.crossFitted(ctx)); err != nil {
		return nil, err
	}
	for _, by := range shadows() {
		var areas func(k int, m matched) (attack.Samples, error)
		if l, is := by.(shadow.LiRA); is && l.Offline {
			areas = a.offline(l, *bound)
		}
		s, err := bound.fleet(a.in).Attack(by)
		if err := add(by.Name(), s, err, areas); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// against fills in what the paper's protocol says, of every model.
func (a *asked) against(f *Found, samples func(k int, m matched) (attack.Samples, error)) error {
	n := float64(len(a.matched))
	for k, m := range a.matched {
		s, err := samples(k, m)
		if err != nil {
			return err
		}
		r, err := attack.Score(s, 0.95)
		if err != nil {
			return err
		}
		f.Matched = append(f.Matched, r.AUC.Value)
		f.Negatives += float64(len(m.negatives)) / n
		for _, same := range m.same {
			if same {
				f.SameType += 1 / n
			}
		}
	}
	return nil
}

// typeAlone knows of a cell whether it is of the group, and nothing else.
func (a *asked) typeAlone(_ int, m matched) (s attack.Samples, err error) {
	s.Members = slices.Repeat([]float64{1}, len(m.had))
	for _, same := range m.same {
		s.Nonmembers = append(s.Nonmembers, map[bool]float64{true: 1}[same])
	}
	return s, nil
}

// matched are the scores of the cells that a model had and of their matched ones.
func (h *heard) matched(k int, m matched) (s attack.Samples, err error) {
	return attack.Samples{Members: picked(h.dealt.Row(k), m.had), Nonmembers: picked(h.unseen.Row(k), m.negatives)}, nil
}

func picked(x []float64, at []int) (out []float64) {
	for _, i := range at {
		out = append(out, x[i])
	}
	return out
}

// folds of the attackers that learn across models.
const folds = 4

// learned is the attacker of the paper's features, trained on other models.
func (a *asked) learned(ctx context.Context, like heard) (*shadow.Sweep, error) {
	scores, err := learned.AcrossModels(ctx, a.models.Lab.Engine, learned.Logistic{}, learned.Fleet{Features: a.features, In: a.in, Pairs: true},
		min(folds, len(a.in)/2), engine.Root(attackSeed+a.models.Lab.Shift))
	if err != nil {
		return nil, err
	}
	return like.fleet(a.in).Judge(Learned, true, func(m int) ([]float64, error) { return scores[m], nil })
}

// crossFitted is the attacker of the paper's features trained on the model itself, as in
// Table 2.
func (a *asked) crossFitted(ctx context.Context) func(k int, m matched) (attack.Samples, error) {
	return func(k int, m matched) (s attack.Samples, err error) {
		p := learned.CrossFitted(nil)
		p.Folds = min(p.Folds, len(m.had), len(m.negatives))
		r, err := p.Run(ctx, a.models.Lab.Engine, learned.Question{Model: m.features, Beside: m.beside}, engine.Root(attackSeed+a.models.Lab.Shift))
		if err != nil {
			return s, err
		}
		for _, c := range r.Cells {
			side := &s.Nonmembers
			if c.Member {
				side = &s.Members
			}
			*side = append(*side, c.Score)
		}
		return s, nil
	}
}

// offline is LiRA on the cells that a model had and on their matched ones, which no
// shadow had.
func (a *asked) offline(by shadow.LiRA, bound heard) func(k int, m matched) (attack.Samples, error) {
	f := shadow.Fleet{Pairs: true}
	for k, in := range a.in {
		f.In = append(f.In, slices.Concat(in, make([]bool, bound.unseen.Cols)))
		f.Scores.Data = append(append(f.Scores.Data, bound.dealt.Row(k)...), bound.unseen.Row(k)...)
	}
	f.Scores.Rows, f.Scores.Cols = len(f.In), len(f.In[0])
	return func(k int, m matched) (s attack.Samples, err error) {
		e, _, err := f.Against(k)
		if err != nil {
			return s, err
		}
		scores, err := by.Scores(e)
		if err != nil {
			return s, err
		}
		return attack.Samples{Members: picked(scores, m.had), Nonmembers: picked(scores[bound.dealt.Cols:], m.negatives)}, nil
	}
}
