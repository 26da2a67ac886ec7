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
	"github.com/lethe-ml/lethe/lib/internal/defaults"
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

// ShadowSplitSeed deals the records of a fleet.
const ShadowSplitSeed = 999

// TestFraction of a table's records is held out. Image sets have a test part.
const TestFraction = 0.2

// Variant is one row of a table: a model of the case that is judged, under its label.
type Variant struct {
	Label   string
	Method  unlearn.Method
	Control bool // not a method: it is there to be compared with
}

// The permanent controls are methods like any other, of which [Setting.ModelSpec]
// knows where they come from:
//
//	unlearn.NoOp{}            the original itself
//	unlearn.Retrain{}              the oracle
//	unlearn.SecondOracle           the oracle of a seed that nothing else has
//	unlearn.RandomWeights{}        destroyed
//	Matched(epochs)                matched fine-tuning

// MatchedFineTuning is the control of a method that takes so many epochs: fine-tuning for
// as many, which never sees a record of the forget set.
func MatchedFineTuning(epochs int) unlearn.Method { return unlearn.FineTuning{Epochs: epochs} }

// IsControl reports whether a method is there to be compared with.
func IsControl(m unlearn.Method) bool {
	switch m.(type) {
	case unlearn.NoOp, unlearn.RandomWeights, unlearn.Retrain:
		return true
	}
	return false
}

// Rows says which records of the train part a model was trained on.
type Rows string

// Which records.
const (
	AllRecords      Rows = "everything"
	RetainedRecords Rows = "retained"
)

// Rows is where a model of a case comes from: from a training on some rows
// with a seed, or from an unlearning of the case's original where Method is not
// nil.
type ModelSpec struct {
	Rows   Rows
	Seed   int
	Method unlearn.Method
}

// Original is the model that is to forget: trained on everything.
func (s Setting) Original() ModelSpec { return ModelSpec{Rows: AllRecords, Seed: s.Seed} }

// Oracle is the model that never met what is to be forgotten: trained like the
// original, from the same initial weights and with the same draws, on the
// retained records alone.
func (s Setting) Oracle() ModelSpec { return ModelSpec{Rows: RetainedRecords, Seed: s.Seed} }

// Rows says where the model of an arm comes from. Doing nothing is the
// original itself, and retraining is one of the trainings that serve as oracles;
// every other method unlearns the original.
func (s Setting) ModelSpec(m unlearn.Method) ModelSpec {
	switch m := m.(type) {
	case unlearn.NoOp:
		return s.Original()
	case unlearn.Retrain:
		return ModelSpec{Rows: RetainedRecords, Seed: s.Oracle().Seed + m.SeedShift}
	}
	return ModelSpec{Rows: AllRecords, Seed: s.Seed, Method: m}
}

// Needs is what has to be there before: an unlearning needs the original.
func (s Setting) Needs(o ModelSpec) []ModelSpec {
	if o.Method == nil {
		return nil
	}
	return []ModelSpec{s.Original()}
}

// training is what a model is trained by.
func (c *Case) training(o ModelSpec) Training {
	rows := c.Retain
	if o.Rows == AllRecords {
		rows = slices.Concat(c.Forget, c.Retain)
		slices.Sort(rows)
	}
	fit := c.Fit
	fit.Seed = engine.Root(o.Seed)
	out := Training{Problem: c.Problem, Goal: c.Goal, Fit: fit, Rows: rows, Keep: c.Keep}
	if h := c.Shards.forTraining(); h != nil {
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
	if goal := c.unlearningGoal(m); !isLabels(goal) {
		r.Objective = func(d unlearn.Data) (train.Objective, error) {
			if d.Synthetic {
				made := c.Problem.WithRecords(d)
				return goal.Objective(made, allRows(made.Prepared))
			}
			return goal.Objective(c.Problem.withNonMembers(d.NonMembers), d.IDs)
		}
	}
	if epoch, kept := checkpointEpoch(m, t); kept {
		r.Earlier = &unlearn.Checkpoint{Params: original.AtEpoch[epoch], Epoch: epoch}
	}
	if rows := c.heldOutRows(); m.Sees().HeldOut {
		d := c.Test.Gather(rows)
		r.HeldOut = unlearn.Data{X: d.X, Y: d.Y, IDs: rows, NonMembers: true}
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

// unlearningGoal is what a method takes the original to have been trained for: the goal of
// the training, where that has a schedule what is left of it at the end.
// Retraining repeats the schedule.
func (c *Case) unlearningGoal(m unlearn.Method) Goal {
	s, ok := c.Goal.(FinalGoal)
	if _, again := m.(unlearn.Retrain); again || !ok {
		return c.Goal
	}
	return s.FinalGoal()
}

// checkpointEpoch is the epoch to which a method goes back, if its state was kept: the
// last that was, which is the start of the last epoch, or of a method that goes
// back to before a stage of the training the last before that stage.
func checkpointEpoch(m unlearn.Method, t Training) (epoch int, kept bool) {
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

// withNonMembers is the problem with, for strangers, the test part in the place of the train
// part, so that a goal has an objective of its records.
func (p *Problem) withNonMembers(strangers bool) *Problem {
	if !strangers {
		return p
	}
	swapped, data := *p, *p.Prepared
	data.Train, swapped.Prepared = p.Test, &data
	return &swapped
}

// WithRecords is the problem with other records in the place of the train part, so that a
// goal has an objective of them.
func (p *Problem) WithRecords(d unlearn.Data) *Problem {
	swapped, data := *p, *p.Prepared
	data.Train = datasets.Part{X: d.X, Y: d.Y, IDs: d.IDs}
	swapped.Prepared = &data
	return &swapped
}

// heldOutRows are the rows of the test part that an unlearning method may look at, to
// choose a rate or an epoch or to show critics what a stranger looks like: one half,
// drawn at random, the same for every method and seed. How good models are is measured
// on the whole test part, which was not trained on; non-members that attackers and lenses
// are to tell from the forgotten records, and what they learn from, come from the other
// half, see Judged and Unseen.
func (c *Case) heldOutRows() []int {
	n := c.Test.X.Rows
	rows := engine.Root(SplitSeed + c.Shift).Stream(engine.StreamHeldOut).Perm(n)[:(n+1)/2]
	slices.Sort(rows)
	return rows
}

// EvalRows are the rows of the test part that no method may look at, ascending.
func (c *Case) EvalRows() (rows []int) {
	seen := c.heldOutRows()
	for i := range c.Test.X.Rows {
		if _, is := slices.BinarySearch(seen, i); !is {
			rows = append(rows, i)
		}
	}
	return rows
}

// NonMemberRows are the rows of the test part that none of some methods looks at, ascending: the
// non-members of a table that judges these methods and no others, whose rows are all
// judged on the same records. It is the whole part unless one of them sees held-out
// records; then it is Judged.
func (c *Case) NonMemberRows(methods ...unlearn.Method) []int {
	if slices.ContainsFunc(methods, func(m unlearn.Method) bool { return m.Sees().HeldOut }) {
		return c.EvalRows()
	}
	rows := make([]int, c.Test.X.Rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// Divide returns the rows of the train part to forget and the others, ascending.
func (s Setting) Divide(p *datasets.Prepared) (forget, retain []int, err error) {
	s = s.withDefaults()
	switch sets := s.forgetSetKinds(); {
	case len(sets) > 1:
		return nil, nil, fmt.Errorf("data set %s: %s are to be forgotten; name one", s.DataSet, strings.Join(sets, " and "))
	case len(sets) == 0:
		return datasets.ForgetSet(p.Train.X.Rows, s.Fraction, s.ForgetSeed)
	case s.Shards != nil:
		if forget, err = s.requestedRows(p); err != nil {
			return nil, nil, fmt.Errorf("data set %s: %w", s.DataSet, err)
		}
		return forget, complementRows(p, forget), nil
	case s.Scattered != 0 || len(s.Series) > 0:
		if forget, retain, err = s.drawForgetSet(p); err != nil {
			err = fmt.Errorf("data set %s: %w", s.DataSet, err)
		}
		return forget, retain, err
	}
	member, err := s.groupFilter(p)
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

// entries are the forget sets that a setting names, in words.
func (s Setting) forgetSetKinds() (out []string) {
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

// drawForgetSet divides the train part as the program of "Fishing for Privacy" does: records
// are drawn from it in the order in which it was itself drawn. Records without a label
// are of no class that a series takes.
func (s Setting) drawForgetSet(p *datasets.Prepared) (forget, retain []int, err error) {
	split := libcells.Split{Train: p.DrawOrder}
	if split.Train == nil {
		split.Train = allRows(p)
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

// groupFilter says which rows of the train part belong to the group that is forgotten.
func (s Setting) groupFilter(p *datasets.Prepared) (func(row int) bool, error) {
	name := s.Planted
	if s.Backdoor != nil {
		name = backdoorGroup
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
	return s.Shards.assign(p, engine.Root(s.ForgetSeed))
}

// requestedRows are the rows of the train part that a user asks to have forgotten.
func (s Setting) requestedRows(p *datasets.Prepared) ([]int, error) {
	users, err := s.holders(p)
	if err != nil {
		return nil, err
	}
	return s.Shards.requestedRows(users, engine.Root(s.ForgetSeed))
}

// complementRows are the rows of the train part that are not among some ascending ones.
func complementRows(p *datasets.Prepared, some []int) []int {
	return slices.DeleteFunc(allRows(p), func(row int) bool { _, is := slices.BinarySearch(some, row); return is })
}

func allRows(p *datasets.Prepared) []int {
	out := make([]int, p.Train.X.Rows)
	for i := range out {
		out[i] = i
	}
	return out
}

// ShadowSplit is the place of a model in a fleet: models of one recipe among which the
// records of the forget set are dealt, to ask whether a model shows which of them it
// had. Models 2j and 2j+1 are a pair: each record that is dealt is in the training of
// one of them, in equal halves (of an odd number the second has one more), so that
// every record is in half of all models. Each pair draws by itself: a longer fleet
// goes on where a shorter one ends.
//
// A model's forget set is what it was dealt; what the other one has is in none of its
// trainings, and the records that are not dealt are always in.
type ShadowSplit struct {
	Model int    `json:"model"` // 0, 1, ...
	Whole bool   `json:"whole"` // the whole train part is dealt, not the forget set alone
	Seed  uint32 `json:"seed"`  // of the deal; 0: ShadowSplitSeed
}

// assign takes from a case what is dealt to the other model of the pair.
func (h ShadowSplit) removeOthers(c *Case) error {
	records := c.assignedRows()
	if h.Model < 0 || len(records) < 2 {
		return fmt.Errorf("data set %s: %d records are dealt to two models, this one is model %d of a fleet", c.DataSet, len(records), h.Model)
	}
	order := engine.Root(h.Seed).Stream(engine.StreamShadowSplit, uint64(h.Model/2)).Perm(len(records))
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

// assignedRows are the rows of the train part that a fleet deals, of a case that has no half
// yet, ascending.
func (c *Case) assignedRows() []int {
	if !c.ShadowSplit.Whole {
		return c.Forget
	}
	rows := slices.Concat(c.Forget, c.Retain)
	slices.Sort(rows)
	return rows
}

// assignedRows names what is dealt.
func (h ShadowSplit) assignedName(forget string) string {
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

// GoalWithDefaults is a goal with settings of which a zero stands for a default.
type GoalWithDefaults interface {
	Goal
	// WithDefaults has every such zero replaced by its meaning; see nn.Zero.
	WithDefaults() Goal
}

// FinalGoal is a goal with a schedule: what it minimises changes in the course of a
// training.
type FinalGoal interface {
	Goal
	// FinalGoal is what it minimises once the schedule is over. Unlearning goes on
	// with it; retraining repeats the training.
	FinalGoal() Goal
}

// PerRecordLoss is a goal that is a mean over records of something that is lost on each.
type PerRecordLoss interface {
	Goal
	// RecordLosses are what a model that says p loses on records, one number each;
	// higher speaks against a member.
	RecordLosses(p *model.Prediction, records datasets.Part) ([]float64, error)
}

// goalWithDefaults is what stands in names and keys.
func goalWithDefaults(g Goal) Goal {
	if g == nil {
		return Labels{}
	}
	if r, ok := g.(GoalWithDefaults); ok {
		return defaults.Of[Goal](r, r.WithDefaults())
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
