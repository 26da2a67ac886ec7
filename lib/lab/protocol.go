// The experimental protocol: which model is trained on which records, which models are the
// retraining baselines, and what an unlearning method gets to see.

package lab

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Seeds that all cases share, from RULER (section 4): of the split into train and test
// part, of the forget set, and of every unlearning.
const (
	SplitSeed   = 999
	ForgetSeed  = 999
	UnlearnSeed = 100
)

// CellsSeed is the seed of the splits of single cells, from the program of "Fishing for
// Privacy".
const CellsSeed = 42

// ShadowSplitSeed is the default seed of the split between shadow models.
const ShadowSplitSeed = 999

// TestFraction is the share of a table's records that is held out. Image sets have a test
// part of their own.
const TestFraction = 0.2

// Variant is one row of a table: a method whose model is evaluated, under its label.
type Variant struct {
	Label   string
	Method  unlearn.Method
	Control bool // a baseline, not an unlearning method
}

// CheckLabels refuses variants of one label, whose rows could not be told apart.
func CheckLabels(variants []Variant) error {
	seen := map[string]bool{}
	for _, v := range variants {
		if seen[v.Label] {
			return fmt.Errorf("two variants are called %q: their rows could not be told apart", v.Label)
		}
		seen[v.Label] = true
	}
	return nil
}

// The standard controls are methods, too; [Setting.ModelSpec] says which model they
// stand for:
//
//	unlearn.NoOp{}            the original, unchanged
//	unlearn.Retrain{}              retraining with the original's seed
//	unlearn.SecondOracle           retraining with a seed of its own
//	unlearn.RandomWeights{}        an untrained model
//	MatchedFineTuning(epochs)      fine-tuning for as many epochs

// MatchedFineTuning is the control for a method that takes the given number of epochs:
// fine-tuning on the retain set for as many epochs.
func MatchedFineTuning(epochs int) unlearn.Method { return unlearn.FineTuning{Epochs: epochs} }

// IsControl reports whether a method is a control.
func IsControl(m unlearn.Method) bool {
	switch m.(type) {
	case unlearn.NoOp, unlearn.RandomWeights, unlearn.Retrain:
		return true
	}
	return false
}

// TrainedOn says which records of the train part a model was trained on.
type TrainedOn string

// AllRecords and RetainedRecords are the rows that a model is trained on.
const (
	AllRecords      TrainedOn = "everything" // every record of the train part
	RetainedRecords TrainedOn = "retained"   // all but the forget set
)

// ModelSpec says how a model of a case is made: by a training on some rows with a seed or,
// where Method is not nil, by unlearning from the case's original.
type ModelSpec struct {
	Rows   TrainedOn
	Seed   int
	Method unlearn.Method
}

// Original returns the spec of the model that has to forget: trained on all records.
func (s Setting) Original() ModelSpec { return ModelSpec{Rows: AllRecords, Seed: s.Seed} }

// Oracle returns the spec of the retrained model: trained like the original, from the same
// initial weights and with the same random numbers, on the retained records alone.
func (s Setting) Oracle() ModelSpec { return ModelSpec{Rows: RetainedRecords, Seed: s.Seed} }

// ModelSpec returns the spec of a method's model. NoOp is the original itself and Retrain a
// training; every other method unlearns from the original.
func (s Setting) ModelSpec(m unlearn.Method) ModelSpec {
	switch m := m.(type) {
	case unlearn.NoOp:
		return s.Original()
	case unlearn.Retrain:
		return ModelSpec{Rows: RetainedRecords, Seed: s.Oracle().Seed + m.SeedShift}
	}
	return ModelSpec{Rows: AllRecords, Seed: s.Seed, Method: m}
}

// Needs returns the models that must exist first: an unlearning needs the original.
func (s Setting) Needs(o ModelSpec) []ModelSpec {
	if o.Method == nil {
		return nil
	}
	return []ModelSpec{s.Original()}
}

// training returns the training that makes the model of a spec.
func (c *Case) training(o ModelSpec) Training {
	rows := c.Retain
	if o.Rows == AllRecords {
		rows = slices.Concat(c.Forget, c.Retain)
		slices.Sort(rows)
	}
	fit := c.Fit
	fit.Seed = engine.Root(o.Seed)
	out := Training{Problem: c.Problem, Goal: c.Goal, Fit: fit, Rows: rows, Keep: c.Keep}
	if h := c.User().forTraining(); h != nil {
		out.Federated = &Federated{*h, c.Holders}
	}
	return out
}

// request returns what an unlearning method gets: the original, the forget and the retain
// set, which user held which rows, and how the original was trained. Records are augmented
// as in training, with random numbers of the unlearning's own; retraining repeats those of
// the training.
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
	if rows := c.heldOutRows(); m.Info().Sees.HeldOut {
		d := c.Test.Gather(rows)
		r.HeldOut = unlearn.Data{X: d.X, Y: d.Y, IDs: rows, NonMembers: true}
	}
	return r
}

// featureRange returns the range of the features of prepared records, as far as someone who
// has only the model knows it: for images from black to white on the channels where these
// are farthest apart, for standardised columns three standard deviations.
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

// unlearningGoal returns the goal that a method assumes the original was trained for. For a
// goal with a schedule it is the goal at the schedule's end; retraining repeats the
// schedule.
func (c *Case) unlearningGoal(m unlearn.Method) Goal {
	s, ok := c.Goal.(FinalGoal)
	if _, again := m.(unlearn.Retrain); again || !ok {
		return c.Goal
	}
	return s.FinalGoal()
}

// checkpointEpoch returns the epoch of the checkpoint that a method starts from, if one was
// kept: the last one or, for a method that goes back to before a stage of the training, the
// last one before that stage.
func checkpointEpoch(m unlearn.Method, t Training) (epoch int, kept bool) {
	bound := float64(t.Fit.Epochs)
	bound *= 1 - m.Info().Stage
	for _, e := range t.Keep {
		if float64(e) <= bound+1e-9 {
			epoch, kept = e, true
		}
	}
	return epoch, kept
}

// withNonMembers returns the problem with the test part in place of the train part, if
// nonMembers is set, so that a goal has an objective of those records.
func (p *Problem) withNonMembers(nonMembers bool) *Problem {
	if !nonMembers {
		return p
	}
	swapped, data := *p, *p.Prepared
	data.Train, swapped.Prepared = p.Test, &data
	return &swapped
}

// WithRecords returns the problem with other records in place of the train part, so that a
// goal has an objective of them.
func (p *Problem) WithRecords(d unlearn.Data) *Problem {
	swapped, data := *p, *p.Prepared
	data.Train = datasets.Part{X: d.X, Y: d.Y, IDs: d.IDs}
	swapped.Prepared = &data
	return &swapped
}

// heldOutRows returns the rows of the test part that an unlearning method may see, to
// choose a learning rate or an epoch or as examples of non-members: a random half that parts no
// group (datasets.Prepared.TestGroups), the same for every method and seed. Accuracy is measured on the whole test part. Non-members for
// attacks and lenses come from the other half, see EvalRows and NonMemberRows.
func (c *Case) heldOutRows() []int {
	n := c.Test.X.Rows
	rows, _ := stats.Clusters(c.Problem.TestGroups).Halves(n, engine.Root(SplitSeed+c.Shift).Stream(engine.StreamHeldOut).Perm)
	return slices.Sorted(slices.Values(rows))
}

// EvalRows returns the rows of the test part that no method may see, ascending.
func (c *Case) EvalRows() (rows []int) {
	seen := c.heldOutRows()
	for i := range c.Test.X.Rows {
		if _, is := slices.BinarySearch(seen, i); !is {
			rows = append(rows, i)
		}
	}
	return rows
}

// NonMemberRows returns the rows of the test part that none of the methods sees, ascending:
// the non-members of a table that has only these methods. It is the whole test part unless
// one of the methods sees held-out records; then it is EvalRows.
func (c *Case) NonMemberRows(methods ...unlearn.Method) []int {
	if slices.ContainsFunc(methods, func(m unlearn.Method) bool { return m.Info().Sees.HeldOut }) {
		return c.EvalRows()
	}
	rows := make([]int, c.Test.X.Rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// complementRows returns the rows of the train part that are not in the ascending list.
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

// ShadowSplit is the place of a model among shadow models: models of one setting between
// which records are split, so that one can test whether a model reveals which of them it
// was trained on. Models 2j and 2j+1 are a pair: each assigned record is in the training of
// exactly one of them, in equal halves (of an odd number the second has one more). So every
// record is in the training of half of all models. Each pair is drawn independently: more
// models extend a smaller number of them.
//
// A model's forget set is the half assigned to it. The other half is in none of its
// trainings; records that are not assigned are always in.
type ShadowSplit struct {
	Model int    `json:"model"` // 0, 1, ...
	Whole bool   `json:"whole"` // the whole train part is split, not the forget set alone
	Seed  uint32 `json:"seed"`  // of the split; 0: ShadowSplitSeed
}

// removeOthers removes from a case the records assigned to the other model of the pair.
func (h ShadowSplit) removeOthers(c *Case) error {
	records := c.assignedRows()
	if h.Model < 0 || len(records) < 2 {
		return fmt.Errorf("data set %s: %d records to split between two shadow models; this is model %d", c.DataSet(), len(records), h.Model)
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
		return fmt.Errorf("data set %s: shadow model %d was assigned no record of the forget set", c.DataSet(), h.Model)
	}
	return nil
}

// assignedRows returns the rows of the train part to split, ascending, for a case that is
// not split yet.
func (c *Case) assignedRows() []int {
	if !c.ShadowSplit.Whole {
		return c.Forget
	}
	rows := slices.Concat(c.Forget, c.Retain)
	slices.Sort(rows)
	return rows
}

// assignedName returns the name of the records that are split.
func (h ShadowSplit) assignedName(forget string) string {
	if h.Whole {
		return "everything"
	}
	return forget
}

// Goal is what a training minimises. Its name and its JSON, with the defaults of its fields
// filled in ([defaults.Fill]), are part of store keys.
type Goal interface {
	Name() string
	// Objective returns the objective on the given rows of the problem's train part.
	Objective(p *Problem, rows []int) (train.Objective, error)
}

// VersionedGoal is a goal whose results changed, by a correction of its code that its fields
// do not show, after results were stored. Other goals have no version in their keys.
type VersionedGoal interface {
	Goal
	// Version is raised with every such change, and with it the store keys of the trainings.
	Version() int
}

// FinalGoal is a goal with a schedule: what it minimises changes during a training.
type FinalGoal interface {
	Goal
	// FinalGoal returns the goal at the end of the schedule. Unlearning goes on with it;
	// retraining repeats the schedule.
	FinalGoal() Goal
}

// PerRecordLoss is a goal that is a mean of per-record losses.
type PerRecordLoss interface {
	Goal
	// RecordLosses returns the loss of each record, given the model's prediction p. A
	// higher loss is evidence against membership.
	RecordLosses(p *model.Prediction, records datasets.Part) ([]float64, error)
}

// AugmentingGoal is a goal whose records are changed in every epoch, such as those of a language
// model whose tokens are hidden.
type AugmentingGoal interface {
	Goal
	// Augmenter returns the augmenter of the problem's records for a seed (Problem.Augment). It
	// refuses a network or data that the goal is not made for.
	Augmenter(p *Problem) (func(seed engine.Root) train.Augmenter, error)
}

// WeightsLoss is a goal whose loss of a record does not follow from the network's prediction
// for the record, such as that of a language model, which sees the record with hidden tokens.
type WeightsLoss interface {
	Goal
	// LossesOf returns the loss of each record of a part of the problem's data. A higher loss is
	// evidence against membership.
	LossesOf(p *Problem, weights nn.Params, records datasets.Part) ([]float64, error)
}

// goalWithDefaults returns a goal with its defaults, as names and keys hold it; nil:
// Labels.
func goalWithDefaults(g Goal) Goal {
	if g == nil {
		return Labels{}
	}
	return defaults.Fill(g)
}

// Labels is the goal of a classifier: the cross-entropy with the records' labels.
type Labels struct{}

// Name implements Goal.
func (Labels) Name() string { return "labels" }

// RecordLosses implements PerRecordLoss.
func (Labels) RecordLosses(p *model.Prediction, records datasets.Part) ([]float64, error) {
	return train.Losses(p.Logits(), records.Y), nil
}

// isLabels reports whether a goal is that of a classifier, which unlearning methods know
// without an objective.
func isLabels(g Goal) bool {
	_, is := g.(Labels)
	return is
}

// Objective implements Goal.
func (Labels) Objective(p *Problem, rows []int) (train.Objective, error) {
	d := p.Records(rows)
	return train.Objective{{Name: "training", X: d.X, IDs: d.IDs, Targets: []train.Target{train.CrossEntropy(d.Y, p.Classes(), 1)}}}, nil
}
