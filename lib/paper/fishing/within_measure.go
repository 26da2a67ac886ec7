package fishing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The rows of the table beside the attacks of packages generative and shadow.
const (
	TypeAlone = "type alone"
	LossAlone = "loss"
	// Own is an attacker that knows the membership of half of a model's own dealt cells.
	Own = "logistic, the model's own cells"
	// What follows is trained on other models. Invariant has no latent axes, Learned has the
	// paper's features, Aligned and AlignedCCA have latent axes turned into those of the
	// model under attack. Two have each feature less what other models say of the same cell,
	// as attacks by shadow models have.
	Invariant       = "logistic, other models, without axes"
	Learned         = "logistic, other models, axes as they are"
	Aligned         = "logistic, other models, axes rotated"
	AlignedCCA      = "logistic, other models, axes by CCA"
	InvariantByCell = Invariant + ", cell by cell"
	AlignedByCell   = Aligned + ", cell by cell"
)

// shadowed is an attack by shadow models. With fewer than some 64 models the paper
// of LiRA takes one variance for all records.
type shadowed struct {
	by  shadow.Attack
	few int // shadows; 0: all other models but the partner
}

func (s shadowed) name() string {
	if s.few == 0 {
		return s.by.Name()
	}
	return fmt.Sprintf("%s, %d shadows", s.by.Name(), s.few)
}

// shadows are the attacks by shadow models: with all of them, and LiRA with few.
func (f Fleet) shadows() []shadowed {
	online, offline := shadow.LiRA{Pooled: true}, shadow.LiRA{Offline: true, Pooled: true}
	out := []shadowed{{by: online}, {by: offline}, {by: shadow.RMIA{}}}
	for _, few := range []int{16, 8} {
		if few < f.others() {
			out = append(out, shadowed{online, few}, shadowed{offline, few})
		}
	}
	return out
}

// others is how many models there are beside one and its partner.
func (f Fleet) others() int { return f.Models - 2 }

// Attacks are the rows of a fleet.
func (f Fleet) Attacks() []string {
	out := []string{TypeAlone, generative.Recon{}.Name(), generative.KL{}.Name(), generative.ELBO{}.Name(),
		Own, Invariant, Learned, Aligned, AlignedCCA, InvariantByCell, AlignedByCell}
	if f.Whole {
		out = []string{LossAlone}
	}
	for _, s := range f.shadows() {
		out = append(out, s.name())
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

// few is the evidence for one of them.
func (h heard) few(in [][]bool, s shadowed) shadow.Fleet {
	f := h.fleet(in)
	f.Few = s.few
	return f
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
	found := []Found{{Attack: LossAlone, Features: 1, Within: threshold}}
	for _, s := range f.shadows() {
		signal := scaled
		if _, is := s.by.(shadow.RMIA); is {
			signal = logP
		}
		evidence := signal.few(in, s)
		within, err := evidence.Attack(s.by)
		if err != nil {
			return nil, err
		}
		found = append(found, Found{Attack: s.name(), Features: 1, Others: cmp.Or(s.few, f.others()), Mutual: evidence.Mutual(s.by), Within: within})
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
	features []array.Matrix[float64] // of each model: the paper's, of the dealt cells
	latents  latents
	matched  []matched // of each model
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
	if err := a.latents.add(dealt, v.retain, features); err != nil {
		return err
	}
	if !slices.Equal(c.Retain, a.models.Models[0].Retain) {
		return errors.New("the cells that every model has differ from those of the first")
	}
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

// ask is how an attack is asked; matched is nil where it cannot be asked about matched
// cells, and why says why it can be asked nothing.
type ask struct {
	Found
	within  func() (*shadow.Sweep, error)
	matched func(k int, m matched) (attack.Samples, error)
	why     string
}

// found asks every attack of the table.
func (a *asked) found(ctx context.Context) ([]Found, error) {
	var out []Found
	for _, q := range slices.Concat(a.plain(), a.learners(ctx), a.byShadows()) {
		f := q.Found
		if f.Why = q.why; f.Why == "" {
			var err error
			if f.Within, err = q.within(); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Attack, err)
			}
		}
		if q.matched != nil {
			if err := a.against(&f, q.matched); err != nil {
				return nil, fmt.Errorf("%s, matched: %w", f.Attack, err)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// plain are the attacks that learn nothing and look at one model.
func (a *asked) plain() []ask {
	nothing := func(int) ([]float64, error) { return make([]float64, len(a.models.Dealt)), nil }
	out := []ask{{
		Found: Found{Attack: TypeAlone}, matched: a.typeAlone,
		within: func() (*shadow.Sweep, error) { return a.judge(TypeAlone, false, nothing) },
	}}
	for _, name := range []string{generative.Recon{}.Name(), generative.KL{}.Name(), generative.ELBO{}.Name()} {
		h := a.signals[name]
		out = append(out, ask{
			Found: Found{Attack: name, Features: 1}, matched: h.matched,
			within: func() (*shadow.Sweep, error) { return h.fleet(a.in).Threshold(name) },
		})
	}
	return out
}

// byShadows are the attacks by shadow models.
func (a *asked) byShadows() (out []ask) {
	bound := a.bound()
	for _, s := range a.of.shadows() {
		evidence := bound.few(a.in, s)
		q := ask{
			Found:  Found{Attack: s.name(), Features: 1, Others: cmp.Or(s.few, a.of.others()), Mutual: evidence.Mutual(s.by)},
			within: func() (*shadow.Sweep, error) { return evidence.Attack(s.by) },
		}
		if l, is := s.by.(shadow.LiRA); is && l.Offline {
			q.matched = a.offline(s, bound)
		}
		out = append(out, q)
	}
	return out
}

func (a *asked) bound() heard { return *a.signals[generative.ELBO{}.Name()] }

func (a *asked) judge(name string, mutual bool, scores func(m int) ([]float64, error)) (*shadow.Sweep, error) {
	return a.bound().fleet(a.in).Judge(name, mutual, scores)
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

// crossFitted is the attacker of the paper's features trained on the model itself, as in
// Table 2.
func (a *asked) crossFitted(ctx context.Context) func(k int, m matched) (attack.Samples, error) {
	return func(k int, m matched) (s attack.Samples, err error) {
		p := learned.CrossFitted(nil)
		p.Folds = min(p.Folds, len(m.had), len(m.negatives))
		r, err := p.Run(ctx, a.models.Lab.Engine, learned.Question{Model: m.features, Beside: m.beside}, a.seed())
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
func (a *asked) offline(by shadowed, bound heard) func(k int, m matched) (attack.Samples, error) {
	f := shadow.Fleet{Pairs: true, Few: by.few}
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
		scores, err := by.by.Scores(e)
		if err != nil {
			return s, err
		}
		return attack.Samples{Members: picked(scores, m.had), Nonmembers: picked(scores[bound.dealt.Cols:], m.negatives)}, nil
	}
}
