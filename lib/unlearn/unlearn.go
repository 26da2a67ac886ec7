// Package unlearn has the unlearning methods and the standard controls, one file each: a
// struct whose zero value is the paper's setting. Apply runs any of them: it checks the
// request, removes what the method may not see, and reports how far the method moved the
// model.
package unlearn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/train"
)

// Method turns a trained model into one that should have forgotten. Its fields, as JSON with
// their defaults filled in, together with its name and version identify it in the store. Tags
// and [defaults.Setter] say the defaults, so that a changed default changes the key.
type Method interface {
	// Info says what the method is and what it needs.
	Info() Info
	// Unlearn computes the new weights. It must not change anything in the request. Call
	// Apply instead: it fills in the method's defaults ([defaults.Fill]), checks, restricts
	// and measures.
	Unlearn(ctx context.Context, r Request) (*Outcome, error)
}

// Info says what a method is, besides its settings. Name, Does and From are needed; the zero
// value of every other field is the common case.
type Info struct {
	Name string // short, such as "scrub"
	Does string // in one sentence, from "raises" to "of the forget set"
	From string // the paper, and whose form of the method it is if there are several
	Sees Sees   // the parts of the request that the method needs
	// General: the method needs nothing of a training but its objective, so that it works on
	// models other than classifiers. Other methods need a classifier's labels or outputs.
	General bool
	// Distils: the method compares a model's outputs with a teacher's, and can do so with the
	// scores of a language model too. It is not General: it needs one of the two.
	Distils bool
	// NextToken: the method needs a language model that predicts the next token, and nothing else
	// will do.
	NextToken bool
	// Version is raised when results change by a correction of the code that the fields do not
	// show, after results were stored. It is part of the method's store keys; nothing else is
	// recomputed. 0: 1.
	Version int
	// Stage is the share of the epochs, counted from the end, before which a method goes back
	// to the original's weights (Sees.Earlier). 0: the last epoch.
	Stage float64
}

// Sees says what a method gets to see. Everything else is removed from its request.
type Sees struct {
	Original bool // the trained weights
	Forget   bool // the forget records
	Retain   bool // the retain records
	Earlier  bool // weights from during the original's training
	HeldOut  bool // labelled records that no model was trained on
	Refusals bool // the forget set's questions with answers that refuse
}

// Data are records, with labels if the model is a classifier.
type Data struct {
	X   array.Matrix[float32] // one record per row
	Y   []int                 // class numbers; nil where there are none
	IDs []int                 // row numbers in the training data, distinct
	// NonMembers marks held-out records; IDs are then row numbers in the held-out data.
	NonMembers bool
	// Synthetic marks generated records, with numbers of their own.
	Synthetic bool
}

// Checkpoint is the state of a model during its training.
type Checkpoint struct {
	Params nn.Params
	Epoch  int // epochs done, 0 for the initial weights
}

// Request asks for records to be forgotten.
type Request struct {
	Runner   *model.Runner
	Original nn.Params
	Forget   Data
	Retain   Data
	// Objective returns the original's objective on the given records, which may be
	// NonMembers: a mean over them of any losses. nil is the cross-entropy of a classifier
	// with their labels. Methods that are not General need a classifier all the same.
	Objective func(d Data) (train.Objective, error)
	// Earlier is a checkpoint of the original's training, for methods that go back to one
	// (Sees.Earlier), and nil otherwise. Where papers leave it open it is the start of the
	// last epoch; [Info] may say otherwise.
	Earlier *Checkpoint
	// Holders says which user held which records of the retain and the forget set before
	// the request; Rows are the record numbers. nil: unknown, and a federated method
	// assigns them itself (Users).
	Holders []federated.User
	// HeldOut are records by which a method may choose a rate or an epoch, or which critics
	// may use as examples of non-members. No model is trained on them.
	HeldOut Data
	// Refusals are the forget set's questions with other answers, such as "I do not know that.", for
	// methods that teach a language model to refuse; IDs are those of the forgotten records.
	Refusals Data
	// Fit says how the original was trained; retraining repeats it. Its seed also drew the
	// original's initial weights.
	Fit train.Config
	// Range is the range of the records' features, for methods that generate records; the
	// zero value is 0 to 1.
	Range Range
	// Seed is the unlearning's own: dropout, batch order, random teachers.
	Seed engine.Root
	// Batch is the mini-batch size, 0 for full batches as in RULER's main experiment. Federated methods
	// have Users.Batch in its place.
	Batch int
	// Augment augments the records of every training term; nil: none. Retraining uses it
	// too: it must be that of the original's training. Outputs of teachers are those on
	// unchanged records. A method that needs unchanged records refuses the request.
	Augment train.Augmenter
	// Hooks watch the work and let it stop and resume.
	Hooks train.Hooks

	stepScale *stepScale // see StepMatched
}

// LargeDisplacement is the displacement above which a table marks a row: the weights have
// moved by ten times their norm, so that nothing is left of the model, whatever the metrics
// say.
const LargeDisplacement = 10

// Outcome is the result of a method.
type Outcome struct {
	Params  nn.Params
	History []train.Epoch // one record per epoch; empty for a method that does not train
	// Note is what the method chose, such as a learning rate; "" if it chooses nothing.
	Note string
}

// Report says what a method did.
type Report struct {
	Method       string        `json:"method"`
	Displacement float64       `json:"displacement"` // ||after - before|| / ||before||; see LargeDisplacement
	Epochs       int           `json:"epochs"`
	Steps        int           `json:"steps"`
	History      []train.Epoch `json:"history"`
	Note         string        `json:"note,omitempty"` // what the method chose
	// Wall is the wall-clock time. It is not part of the stored result, so that the same
	// command gives the same bytes.
	Wall time.Duration `json:"-"`
}

// Apply runs a method: it refuses an invalid request, removes what the method may not see,
// and checks and measures the result. The method gets copies of the weights, the labels and the
// record numbers, so that it cannot change those of the request. A method that diverges is an
// error that wraps [train.Diverged]; one that panics is an error that names the place.
func Apply(ctx context.Context, m Method, r Request) (nn.Params, *Report, error) {
	if m == nil {
		return nil, nil, errors.New("unlearn: the method is nil")
	}
	m = defaults.Fill(m)
	info := m.Info()
	if err := r.check(); err != nil {
		return nil, nil, fmt.Errorf("unlearn %s: %w", info.Name, err)
	}
	if err := r.suits(info); err != nil {
		return nil, nil, fmt.Errorf("unlearn %s: %w", info.Name, err)
	}
	before := r.Original
	r, err := r.restrictTo(info.Sees)
	if err != nil {
		return nil, nil, fmt.Errorf("unlearn %s: %w", info.Name, err)
	}
	began := time.Now()
	ctx, task := progress.Start(ctx, info.Name, 0)
	defer task.Done()
	out, err := unlearnSafely(ctx, m, r)
	if err != nil {
		return nil, nil, fmt.Errorf("unlearn %s: %w", info.Name, train.AsDiverged(err, 0))
	}
	if out == nil {
		return nil, nil, fmt.Errorf("unlearn %s: the method returned no outcome", info.Name)
	}
	if err := out.Params.Check(); err != nil {
		return nil, nil, fmt.Errorf("unlearn %s: the result is damaged: %w", info.Name, train.AsDiverged(err, len(out.History)))
	}
	moved, err := out.Params.Displacement(before)
	if err != nil {
		return nil, nil, fmt.Errorf("unlearn %s: %w", info.Name, err)
	}
	rep := &Report{
		Method: info.Name, Displacement: moved, Epochs: len(out.History), History: out.History, Note: out.Note, Wall: time.Since(began),
	}
	if n := len(out.History); n > 0 {
		rep.Steps = out.History[n-1].Steps
	}
	return out.Params, rep, nil
}

// unlearnSafely runs the method on a copy of the request and turns its panic into an error: methods come
// from anywhere and run in goroutines of ours, where a panic would end the program.
func unlearnSafely(ctx context.Context, m Method, r Request) (out *Outcome, err error) {
	err = panics.Catch("the method", func() (err error) {
		out, err = m.Unlearn(ctx, r.copied())
		return err
	})
	return out, err
}

// copied returns the request with weights, labels and record numbers of its own. The features, which are most of it, are
// shared: a case gathers them anew for every request.
func (r Request) copied() Request {
	if r.Original != nil {
		r.Original = r.Original.Clone()
	}
	if r.Earlier != nil {
		r.Earlier = &Checkpoint{Params: r.Earlier.Params.Clone(), Epoch: r.Earlier.Epoch}
	}
	for _, d := range []*Data{&r.Forget, &r.Retain, &r.HeldOut, &r.Refusals} {
		d.Y, d.IDs = slices.Clone(d.Y), slices.Clone(d.IDs)
	}
	r.Holders = slices.Clone(r.Holders)
	for i, u := range r.Holders {
		r.Holders[i].Rows = slices.Clone(u.Rows)
	}
	return r
}

// restrictTo returns the request with only what a method may see.
func (r Request) restrictTo(sees Sees) (Request, error) {
	if !sees.Original {
		r.Original = nil
	}
	if !sees.Forget {
		r.Forget = Data{}
	}
	if !sees.Retain {
		r.Retain = Data{}
	}
	switch {
	case !sees.Earlier:
		r.Earlier = nil
	case r.Earlier == nil:
		return r, errors.New("needs weights from during the original's training: Request.Earlier is nil")
	}
	switch {
	case !sees.HeldOut:
		r.HeldOut = Data{}
	case r.HeldOut.X.Rows == 0:
		return r, errors.New("needs records that no model was trained on: Request.HeldOut is empty")
	}
	switch {
	case !sees.Refusals:
		r.Refusals = Data{}
	case r.Refusals.X.Rows == 0:
		return r, errors.New("needs answers that refuse: Request.Refusals is empty, because the forgotten records are no answers to questions")
	}
	return r, nil
}

func (r Request) check() error {
	if r.Runner == nil {
		return fmt.Errorf("the request has no runner")
	}
	if err := r.Runner.CheckWeights(r.Original); err != nil {
		return fmt.Errorf("the original: %w", err)
	}
	if err := r.Earlier.check(r); err != nil {
		return err
	}
	if err := r.Range.check(); err != nil {
		return err
	}
	if len(r.Forget.Y) == 0 && r.Forget.X.Rows == 0 {
		return fmt.Errorf("the forget set is empty: there is nothing to unlearn")
	}
	if len(r.Retain.Y) == 0 && r.Retain.X.Rows == 0 {
		return fmt.Errorf("the retain set is empty: the forget set contains all records")
	}
	if err := r.checkData("forget set", r.Forget); err != nil {
		return err
	}
	if err := r.checkData("retain set", r.Retain); err != nil {
		return err
	}
	if len(r.HeldOut.Y) > 0 || r.HeldOut.X.Rows > 0 {
		if err := r.checkData("held-out set", r.HeldOut); err != nil {
			return err
		}
	}
	if err := disjoint(r.Forget.IDs, r.Retain.IDs); err != nil {
		return err
	}
	return r.checkRefusals()
}

// checkRefusals returns an error for refusals that are no records, or none of the forget set's.
func (r Request) checkRefusals() error {
	if r.Refusals.X.Rows == 0 {
		return nil
	}
	if err := r.checkData("refusals", r.Refusals); err != nil {
		return err
	}
	for i, id := range r.Refusals.IDs {
		if !slices.Contains(r.Forget.IDs, id) {
			return fmt.Errorf("refusals: record %d answers for record %d, which is not in the forget set", i, id)
		}
	}
	return nil
}

func (c *Checkpoint) check(r Request) error {
	if c == nil {
		return nil
	}
	if err := r.Runner.CheckWeights(c.Params); err != nil {
		return fmt.Errorf("the earlier checkpoint: %w", err)
	}
	if epochs := r.Fit.WithDefaults().Epochs; c.Epoch < 0 || c.Epoch >= epochs {
		return fmt.Errorf("the earlier checkpoint is of epoch %d, the original was trained for %d", c.Epoch, epochs)
	}
	return nil
}

func (r Request) checkData(name string, d Data) error {
	classes, err := r.Runner.Classes()
	switch {
	case err != nil && r.Objective == nil:
		return fmt.Errorf("%s: the request has no objective, and %w", name, err)
	case len(d.IDs) != d.X.Rows || len(d.Y) != d.X.Rows && (err == nil || d.Y != nil):
		return fmt.Errorf("%s: %d records, %d labels, %d record numbers", name, d.X.Rows, len(d.Y), len(d.IDs))
	}
	if _, corrupts := r.Augment.(train.NoiseAugmenter); !corrupts && d.X.Cols != r.Runner.Arch.Inputs() {
		return fmt.Errorf("%s: %d features, the model takes %d", name, d.X.Cols, r.Runner.Arch.Inputs())
	}
	for i, y := range d.Y {
		if err == nil && (y < 0 || y >= classes) {
			return fmt.Errorf("%s: record %d has label %d, the model has classes 0 to %d", name, i, y, classes-1)
		}
	}
	return d.X.Check(name)
}

// disjoint returns an error for the first record that is listed twice, in one set or in
// both.
func disjoint(forget, retain []int) error {
	seen := make(map[int]string, len(forget)+len(retain))
	for _, set := range []struct {
		name string
		ids  []int
	}{{"forget", forget}, {"retain", retain}} {
		for _, id := range set.ids {
			if in, twice := seen[id]; twice {
				return fmt.Errorf("record %d is in the %s set and again in the %s set", id, in, set.name)
			}
			seen[id] = set.name
		}
	}
	return nil
}

// minimise minimises an objective from the original weights with a new optimiser: Adam, as
// in RULER, or d where that is not nil.
func (r Request) minimise(ctx context.Context, o train.Objective, epochs int, lr float64, d *Descent) (*Outcome, error) {
	if d != nil {
		return r.descend(ctx, *d, epochs, lr, singlePass(o), train.Plan{})
	}
	return r.minimiseBy(ctx, nn.Adam{LR: lr}, o, epochs)
}

// adam returns AdamW with the weight decay, Adam where that is 0.
func adam(lr, decay float64) nn.Optimizer {
	if decay == 0 {
		return nn.Adam{LR: lr}
	}
	return nn.AdamW{LR: lr, WeightDecay: decay}
}

// minimiseBy is minimise with the given optimiser.
func (r Request) minimiseBy(ctx context.Context, by nn.Optimizer, o train.Objective, epochs int) (*Outcome, error) {
	c := r.freezeTeacher(train.Config{Batch: r.Batch, Optimizer: by, Seed: r.Seed})
	c.Epochs = r.stepScale.epochs(epochs, c, o)
	p, history, err := train.Fit(ctx, r.Runner, r.Original, o, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: r.studentsOwn(p), History: history}, nil
}

// objective returns the original's objective on records d, with every weight times a
// factor; whole terms enter every mini-batch step entirely.
func (r Request) objective(name string, d Data, whole bool, weight float64) (train.Objective, error) {
	if r.Objective == nil {
		return train.Objective{r.term(name, d, whole, r.labelTarget(d, weight))}, nil
	}
	trained, err := r.Objective(d)
	if err != nil {
		return nil, fmt.Errorf("the objective of the %s set: %w", name, err)
	}
	out := make(train.Objective, len(trained))
	for i, t := range trained {
		t.Name, t.Whole, t.Augment = name, whole, r.Augment
		out[i] = t.Scaled(weight)
	}
	return out, nil
}

// term returns a term of records d; whole terms enter every mini-batch step entirely.
func (r Request) term(name string, d Data, whole bool, targets ...train.Target) train.Term {
	return train.Term{Name: name, X: d.X, IDs: d.IDs, Whole: whole, Targets: targets, Augment: r.Augment}
}

// concatData returns the records of both.
func concatData(a, b Data) Data {
	return Data{
		X:   array.Matrix[float32]{Rows: a.X.Rows + b.X.Rows, Cols: a.X.Cols, Data: slices.Concat(a.X.Data, b.X.Data)},
		Y:   slices.Concat(a.Y, b.Y),
		IDs: slices.Concat(a.IDs, b.IDs),
	}
}

// labelTarget returns the cross-entropy with the records' own labels.
func (r Request) labelTarget(d Data, weight float64) train.Target {
	return train.CrossEntropy(d.Y, r.classes(), weight)
}

// classes returns the number of classes of the request's model; check has refused other
// models.
func (r Request) classes() int {
	n, _ := r.Runner.Classes()
	return n
}
