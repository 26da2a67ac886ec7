package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	libcells "github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/internal/resolved"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// This file is the protocol. Whoever asks who is trained on what, who is the
// oracle, who is the other seed and what an unlearning method is told finds the
// answer here and nowhere else.

// The seeds that every case shares, RULER's (section 4): of the split into train
// and test part, of the forget set, and of every unlearning.
const (
	SplitSeed   = 999
	ForgetSeed  = 999
	UnlearnSeed = 100
)

// CellsSeed divides single cells, as in "Fishing for Privacy" (its program).
const CellsSeed = 42

// HalfSeed deals the records of a fleet.
const HalfSeed = 999

// TestFraction of a table's records is held out. Image sets have a test part.
const TestFraction = 0.2

// Arm is one row of a table: a model of the case that is judged, under its label.
type Arm struct {
	Label   string
	Method  unlearn.Method
	Control bool // not a method: it is there to be compared with
}

// The permanent controls are methods like any other, of which [Setting.Origin]
// knows where they come from:
//
//	unlearn.DoNothing{}            the original itself
//	unlearn.Retrain{}              the oracle
//	unlearn.SecondOracle           the oracle of a seed that nothing else has
//	unlearn.RandomWeights{}        destroyed
//	Matched(epochs)                matched fine-tuning

// Matched is the control of a method that takes so many epochs: fine-tuning for
// as many, which never sees a record of the forget set.
func Matched(epochs int) unlearn.Method { return unlearn.FineTuning{Epochs: epochs} }

// IsControl reports whether a method is there to be compared with.
func IsControl(m unlearn.Method) bool {
	switch m.(type) {
	case unlearn.DoNothing, unlearn.RandomWeights, unlearn.Retrain:
		return true
	}
	return false
}

// Rows says which records of the train part a model was trained on.
type Rows string

// Which records.
const (
	Everything Rows = "everything"
	Retained   Rows = "retained"
)

// Origin is where a model of a case comes from: from a training on some rows
// with a seed, or from an unlearning of the case's original where Method is not
// nil.
type Origin struct {
	On     Rows
	Seed   int
	Method unlearn.Method
}

// Original is the model that is to forget: trained on everything.
func (s Setting) Original() Origin { return Origin{On: Everything, Seed: s.Seed} }

// Oracle is the model that never met what is to be forgotten: trained like the
// original, from the same initial weights and with the same draws, on the
// retained records alone.
func (s Setting) Oracle() Origin { return Origin{On: Retained, Seed: s.Seed} }

// Origin says where the model of an arm comes from. Doing nothing is the
// original itself, and retraining is one of the trainings that serve as oracles;
// every other method unlearns the original.
func (s Setting) Origin(m unlearn.Method) Origin {
	switch m := m.(type) {
	case unlearn.DoNothing:
		return s.Original()
	case unlearn.Retrain:
		return Origin{On: Retained, Seed: s.Oracle().Seed + m.SeedShift}
	}
	return Origin{On: Everything, Seed: s.Seed, Method: m}
}

// Needs is what has to be there before: an unlearning needs the original.
func (s Setting) Needs(o Origin) []Origin {
	if o.Method == nil {
		return nil
	}
	return []Origin{s.Original()}
}

// training is what a model is trained by.
func (c *Case) training(o Origin) Training {
	rows := c.Retain
	if o.On == Everything {
		rows = slices.Concat(c.Forget, c.Retain)
		slices.Sort(rows)
	}
	fit := c.Fit
	fit.Seed = engine.Root(o.Seed)
	out := Training{Problem: c.Problem, Goal: c.Goal, Fit: fit, Rows: rows, Keep: c.Keep}
	if h := c.Shards.together(); h != nil {
		out.Federated = &Federated{*h, c.Holders}
	}
	return out
}

// request is what an unlearning method is asked: which model, which records are
// to be forgotten and which retained, who held them, and how the original was trained. Records
// are augmented as they were in training, by draws of the unlearning's own;
// retraining repeats those of the training.
func (c *Case) request(m unlearn.Method, original *Trajectory) unlearn.Request {
	t, seed := c.training(c.Original()), engine.Root(UnlearnSeed+c.Lab.Shift)
	r := unlearn.Request{
		Runner: c.Runner, Original: original.Final, Forget: c.Records(c.Forget), Retain: c.Records(c.Retain),
		Holders: c.Holders, Fit: t.Fit, Range: c.Problem.featureRange(), Seed: seed, Batch: t.Fit.Batch, Augment: c.augmenter(seed),
	}
	if _, again := m.(unlearn.Retrain); again {
		r.Augment = c.augmenter(t.Fit.Seed)
	}
	if goal := c.goalOf(m); !isLabels(goal) {
		r.Objective = func(d unlearn.Data) (train.Objective, error) {
			if d.Made {
				made := c.Problem.Holding(d)
				return goal.Objective(made, everyRow(made.Prepared))
			}
			return goal.Objective(c.Problem.part(d.Strangers), d.IDs)
		}
	}
	if epoch, kept := earlier(m, t); kept {
		r.Earlier = &unlearn.Checkpoint{Params: original.At[epoch], Epoch: epoch}
	}
	if rows := c.heldOut(); m.Sees().HeldOut {
		d := c.Test.Gather(rows)
		r.HeldOut = unlearn.Data{X: d.X, Y: d.Y, IDs: rows, Strangers: true}
	}
	return r
}

// featureRange is where features of prepared records lie, as far as who has the model
// alone knows it: of images between black and white, on the channels where these are
// farthest apart; of standardised columns within three standard deviations.
func (p *Problem) featureRange() unlearn.Range {
	if p.About.Shape[0] == 0 {
		return unlearn.Range{Low: -3, High: 3}
	}
	var r unlearn.Range
	for c, mean := range p.Norm.Mean {
		r.Low, r.High = min(r.Low, float32((0-mean)/p.Norm.SD[c])), max(r.High, float32((1-mean)/p.Norm.SD[c]))
	}
	return r
}

// goalOf is what a method takes the original to have been trained for: the goal of
// the training, where that has a schedule what is left of it at the end.
// Retraining repeats the schedule.
func (c *Case) goalOf(m unlearn.Method) Goal {
	s, ok := c.Goal.(Settling)
	if _, again := m.(unlearn.Retrain); again || !ok {
		return c.Goal
	}
	return s.Settled()
}

// earlier is the epoch to which a method goes back, if its state was kept: the
// last that was, which is the start of the last epoch, or of a method that goes
// back to before a stage of the training the last before that stage.
func earlier(m unlearn.Method, t Training) (epoch int, kept bool) {
	bound := float64(t.Fit.Epochs)
	if s, ok := m.(unlearn.Staged); ok {
		bound *= 1 - s.Stage()
	}
	for _, e := range t.Keep {
		if float64(e) <= bound+1e-9 {
			epoch, kept = e, true
		}
	}
	return epoch, kept
}

// part is the problem with, for strangers, the test part in the place of the train
// part, so that a goal has an objective of its records.
func (p *Problem) part(strangers bool) *Problem {
	if !strangers {
		return p
	}
	swapped, data := *p, *p.Prepared
	data.Train, swapped.Prepared = p.Test, &data
	return &swapped
}

// Holding is the problem with other records in the place of the train part, so that a
// goal has an objective of them.
func (p *Problem) Holding(d unlearn.Data) *Problem {
	swapped, data := *p, *p.Prepared
	data.Train = datasets.Part{X: d.X, Y: d.Y, IDs: d.IDs}
	swapped.Prepared = &data
	return &swapped
}

// heldOut are the rows of the test part that an unlearning method may look at, to
// choose a rate or an epoch or to show critics what a stranger looks like: one half,
// drawn at random, the same for every method and seed. How good models are is measured
// on the whole test part, which was not trained on; non-members that attackers and lenses
// are to tell from the forgotten records, and what they learn from, come from the other
// half, see Judged and Unseen.
func (c *Case) heldOut() []int {
	n := c.Test.X.Rows
	rows := engine.Root(SplitSeed + c.Shift).Stream(engine.StreamHeldOut).Perm(n)[:(n+1)/2]
	slices.Sort(rows)
	return rows
}

// Judged are the rows of the test part that no method may look at, ascending.
func (c *Case) Judged() (rows []int) {
	seen := c.heldOut()
	for i := range c.Test.X.Rows {
		if _, is := slices.BinarySearch(seen, i); !is {
			rows = append(rows, i)
		}
	}
	return rows
}

// Unseen are the rows of the test part that none of some methods looks at, ascending: the
// non-members of a table that judges these methods and no others, whose rows are all
// judged on the same records. It is the whole part unless one of them sees held-out
// records; then it is Judged.
func (c *Case) Unseen(methods ...unlearn.Method) []int {
	if slices.ContainsFunc(methods, func(m unlearn.Method) bool { return m.Sees().HeldOut }) {
		return c.Judged()
	}
	rows := make([]int, c.Test.X.Rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// Divide returns the rows of the train part to forget and the others, ascending.
func (s Setting) Divide(p *datasets.Prepared) (forget, retain []int, err error) {
	s = s.resolved()
	switch sets := s.sets(); {
	case len(sets) > 1:
		return nil, nil, fmt.Errorf("data set %s: %s are to be forgotten; name one", s.DataSet, strings.Join(sets, " and "))
	case len(sets) == 0:
		return datasets.ForgetSet(p.Train.X.Rows, s.Fraction, s.ForgetSeed)
	case s.Shards != nil:
		if forget, err = s.asked(p); err != nil {
			return nil, nil, fmt.Errorf("data set %s: %w", s.DataSet, err)
		}
		return forget, others(p, forget), nil
	case s.Scattered != 0 || len(s.Series) > 0:
		if forget, retain, err = s.drawn(p); err != nil {
			err = fmt.Errorf("data set %s: %w", s.DataSet, err)
		}
		return forget, retain, err
	}
	member, err := s.group(p)
	if err != nil {
		return nil, nil, fmt.Errorf("data set %s: %w", s.DataSet, err)
	}
	for i := range p.Train.X.Rows {
		if member(i) {
			forget = append(forget, i)
		} else {
			retain = append(retain, i)
		}
	}
	if len(forget) == 0 {
		return nil, nil, fmt.Errorf("data set %s: no row of %q is in the train part", s.DataSet, s.Planted+s.Class)
	}
	return forget, retain, nil
}

// sets are the forget sets that a setting names, in words.
func (s Setting) sets() (out []string) {
	if s.Planted != "" {
		out = append(out, fmt.Sprintf("the planted group %q", s.Planted))
	}
	if s.Class != "" {
		out = append(out, fmt.Sprintf("the class %q", s.Class))
	}
	if s.Scattered != 0 {
		out = append(out, fmt.Sprintf("%d scattered records", s.Scattered))
	}
	if len(s.Series) > 0 {
		out = append(out, fmt.Sprintf("a series of %v", s.Series))
	}
	if s.Backdoor != nil {
		out = append(out, "the records of a backdoor")
	}
	if s.Shards != nil {
		out = append(out, fmt.Sprintf("records of user %d", s.Shards.User))
	}
	return out
}

// drawn divides the train part as the program of "Fishing for Privacy" does: records
// are drawn from it in the order in which it was itself drawn. Records without a label
// are of no class that a series takes.
func (s Setting) drawn(p *datasets.Prepared) (forget, retain []int, err error) {
	split := libcells.Split{Train: p.Drawn}
	if split.Train == nil {
		split.Train = everyRow(p)
	}
	f := libcells.Forget{}
	if s.Scattered != 0 {
		f, err = split.Scattered(s.ForgetSeed, s.Scattered)
	} else {
		classes := slices.DeleteFunc(libcells.Smallest(slices.Concat(p.Train.Y, p.Test.Y)), func(c int) bool {
			return p.About.Classes[c] == cells.Unlabelled || !slices.Contains(p.Train.Y, c)
		})
		var series []libcells.Forget
		if series, err = split.Series(p.Train.Y, classes, s.Series); err == nil {
			f = series[len(series)-1]
		}
	}
	slices.Sort(f.Forget)
	return f.Forget, f.Retain, err
}

// group says which rows of the train part belong to the group that is forgotten.
func (s Setting) group(p *datasets.Prepared) (func(row int) bool, error) {
	name := s.Planted
	if s.Backdoor != nil {
		name = triggered
	}
	if name != "" {
		ids, ok := p.About.Planted[name]
		if !ok {
			return nil, fmt.Errorf("there is no planted group %q", name)
		}
		return func(row int) bool {
			_, is := slices.BinarySearch(ids, p.Train.IDs[row])
			return is
		}, nil
	}
	class := slices.Index(p.About.Classes, s.Class)
	if class < 0 {
		return nil, fmt.Errorf("there is no class %q; its classes are %q", s.Class, p.About.Classes)
	}
	return func(row int) bool { return p.Train.Y[row] == class }, nil
}

// holders are who holds which rows of the train part; nil where nobody shares it.
func (s Setting) holders(p *datasets.Prepared) ([]federated.User, error) {
	if s.Shards == nil {
		return nil, nil
	}
	return s.Shards.deal(p, engine.Root(s.ForgetSeed))
}

// asked are the rows of the train part that a user asks to have forgotten.
func (s Setting) asked(p *datasets.Prepared) ([]int, error) {
	users, err := s.holders(p)
	if err != nil {
		return nil, err
	}
	return s.Shards.asked(users, engine.Root(s.ForgetSeed))
}

// others are the rows of the train part that are not among some ascending ones.
func others(p *datasets.Prepared, some []int) []int {
	return slices.DeleteFunc(everyRow(p), func(row int) bool { _, is := slices.BinarySearch(some, row); return is })
}

func everyRow(p *datasets.Prepared) []int {
	out := make([]int, p.Train.X.Rows)
	for i := range out {
		out[i] = i
	}
	return out
}

// Half is the place of a model in a fleet: models of one recipe among which the
// records of the forget set are dealt, to ask whether a model shows which of them it
// had. Models 2j and 2j+1 are a pair: each record that is dealt is in the training of
// one of them, in equal halves (of an odd number the second has one more), so that
// every record is in half of all models. Each pair draws by itself: a longer fleet
// goes on where a shorter one ends.
//
// A model's forget set is what it was dealt; what the other one has is in none of its
// trainings, and the records that are not dealt are always in.
type Half struct {
	Model int    `json:"model"` // 0, 1, ...
	Whole bool   `json:"whole"` // the whole train part is dealt, not the forget set alone
	Seed  uint32 `json:"seed"`  // of the deal; 0: HalfSeed
}

// deal takes from a case what is dealt to the other model of the pair.
func (h Half) deal(c *Case) error {
	records := c.dealt()
	if h.Model < 0 || len(records) < 2 {
		return fmt.Errorf("data set %s: %d records are dealt to two models, this one is model %d of a fleet", c.DataSet, len(records), h.Model)
	}
	order := engine.Root(h.Seed).Stream(engine.StreamHalf, uint64(h.Model/2)).Perm(len(records))
	others := order[len(order)/2:]
	if h.Model%2 == 1 {
		others = order[:len(order)/2]
	}
	for _, i := range others {
		c.Out = append(c.Out, records[i])
	}
	slices.Sort(c.Out)
	out := func(row int) bool { _, is := slices.BinarySearch(c.Out, row); return is }
	c.Forget, c.Retain = slices.DeleteFunc(c.Forget, out), slices.DeleteFunc(c.Retain, out)
	if len(c.Forget) == 0 {
		return fmt.Errorf("data set %s: model %d of a fleet was dealt no record of the forget set", c.DataSet, h.Model)
	}
	return nil
}

// dealt are the rows of the train part that a fleet deals, of a case that has no half
// yet, ascending.
func (c *Case) dealt() []int {
	if !c.Half.Whole {
		return c.Forget
	}
	rows := slices.Concat(c.Forget, c.Retain)
	slices.Sort(rows)
	return rows
}

// dealt names what is dealt.
func (h Half) dealt(forget string) string {
	if h.Whole {
		return "everything"
	}
	return forget
}

// Goal builds what a training minimises. Its name and its JSON are part of the
// store's key.
type Goal interface {
	Name() string
	// Objective is over the given rows of the problem's train part.
	Objective(p *Problem, rows []int) (train.Objective, error)
}

// Resolving is a goal with settings of which a zero stands for a default.
type Resolving interface {
	Goal
	// Resolved has every such zero replaced by its meaning; see nn.Zero.
	Resolved() Goal
}

// Settling is a goal with a schedule: what it minimises changes in the course of a
// training.
type Settling interface {
	Goal
	// Settled is what it minimises once the schedule is over. Unlearning goes on
	// with it; retraining repeats the training.
	Settled() Goal
}

// Judging is a goal that is a mean over records of something that is lost on each.
type Judging interface {
	Goal
	// RecordLosses are what a model that says p loses on records, one number each;
	// higher speaks against a member.
	RecordLosses(p *model.Prediction, records datasets.Part) ([]float64, error)
}

// resolvedGoal is what stands in names and keys.
func resolvedGoal(g Goal) Goal {
	if g == nil {
		return Labels{}
	}
	if r, ok := g.(Resolving); ok {
		return resolved.Of[Goal](r, r.Resolved())
	}
	return g
}

// Labels is the goal of a classifier: cross-entropy against the records' labels.
type Labels struct{}

// Name implements Goal.
func (Labels) Name() string { return "labels" }

// RecordLosses implements Judging.
func (Labels) RecordLosses(p *model.Prediction, records datasets.Part) ([]float64, error) {
	return train.Losses(p.Logits(), records.Y), nil
}

// isLabels reports whether a goal is a classifier's, which unlearning methods know
// by themselves.
func isLabels(g Goal) bool {
	_, is := g.(Labels)
	return is
}

// Objective implements Goal.
func (Labels) Objective(p *Problem, rows []int) (train.Objective, error) {
	d := p.Records(rows)
	return train.Objective{{Name: "training", X: d.X, IDs: d.IDs, Targets: []train.Target{train.CrossEntropy(d.Y, p.Classes(), 1)}}}, nil
}
