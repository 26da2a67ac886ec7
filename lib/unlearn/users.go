package unlearn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Users are those who go on together by federated averaging, where a method is one of
// a federation, in the setting of BlindU's program. The retain set is dealt to ten users
// at random, and three of them hold the forget set beside their part, or, where the
// request says who holds what (Request.Holders), those hold it who do. They ask to erase it:
// in every round they do what the method says, and everybody else trains on what they
// have, as the original was trained. The new weights are the plain mean of all. It ends
// when these find the labels of no more of the forget set than chance does, as those
// who hold it can see, or after 20 rounds; a model that is no classifier takes them all.
//
// Who is left without a record, because they leave, still erases, and is gone when that is
// over; in a training they are not there.
//
// Everybody's optimiser is fresh in every round. What a round leaves is all that the
// next begins with, so that a run is resumed between two of them.
//
// Differences from the program: (1) it stops when less than a tenth of the unseen
// triggered images are taken for the backdoor's class, which needs a backdoor. (2) Its
// three hold the same 1,200 records where its BlindU erases 3,600; here they hold all that
// is to be forgotten, of which Portion is met in a round. (3) Training goes on by the original's own optimiser and clipping,
// without its schedule and early stopping.
type Users struct {
	Count         int  `json:"users,omitempty"`          // 0: 10
	Requesters    int  `json:"asking,omitempty"`         // of them, 0: 3, where the request does not say who
	Divided       bool `json:"divided,omitempty"`        // each of these holds a part of the forget set; as coded all hold all of it
	Rounds        int  `json:"rounds,omitempty"`         // at most, 0: 20
	LocalEpochs   int  `json:"local_epochs,omitempty"`   // in a round, of those who train, 0: 10, ten times through the data in every round
	ErasingEpochs int  `json:"erasing_epochs,omitempty"` // in a round, of those who erase, 0: 1, which is what the program comes to on MNIST
	Batch         int  `json:"batch,omitempty"`          // 0: 100, the program's, whatever the original was trained in
	// Portion is the share of what a user erases that they meet in a round, 0: all. They go
	// through all of it in one order, from where they were in the round before, and over again;
	// users who hold the same meet the same.
	Portion float64 `json:"portion,omitempty"`
}

// WithDefaults is the federation with its defaults in the place of zeros.
func (u Users) WithDefaults() Users {
	u.Count, u.Requesters, u.Rounds = cmp.Or(u.Count, 10), cmp.Or(u.Requesters, 3), cmp.Or(u.Rounds, 20)
	u.LocalEpochs, u.ErasingEpochs, u.Batch = cmp.Or(u.LocalEpochs, 10), cmp.Or(u.ErasingEpochs, 1), cmp.Or(u.Batch, 100)
	return u
}

func (u Users) check(r Request) error {
	if err := u.checkPositive(); err != nil {
		return err
	}
	switch {
	case u.Count < 1 || r.Holders == nil && (u.Requesters < 1 || u.Requesters > u.Count):
		return fmt.Errorf("%d of %d users ask to erase records", u.Requesters, u.Count)
	case r.Holders != nil && len(r.Holders) != u.Count:
		return fmt.Errorf("the records are held by %d users, this is a federation of %d", len(r.Holders), u.Count)
	case r.Holders == nil && u.Divided && r.Forget.X.Rows < u.Requesters:
		return fmt.Errorf("%d records to be erased are divided among %d users", r.Forget.X.Rows, u.Requesters)
	}
	return nil
}

// checkPositive refuses rounds that cannot be counted.
func (u Users) checkPositive() error {
	if !(u.Portion >= 0 && u.Portion <= 1) {
		return fmt.Errorf("a share of %v of what is erased is to be met in a round", u.Portion)
	}
	if u.Rounds < 1 || u.LocalEpochs < 1 || u.ErasingEpochs < 1 || u.Batch < 1 {
		return fmt.Errorf("%d rounds of %d epochs, %d of those who erase, in batches of %d; all must be positive", u.Rounds, u.LocalEpochs, u.ErasingEpochs, u.Batch)
	}
	return nil
}

// eraseFunc is what a user does in a round who asks to erase records.
type eraseFunc func(t federated.UserRound, own, erased Data) (federated.Task, error)

// maxSteps is at most how many steps a user who erases takes in all rounds.
func (u Users) maxSteps(r Request) int {
	n := 0
	for _, q := range u.eraseRequests(r) {
		n = max(n, len(q.Rows))
	}
	return u.Rounds * u.stepsPerRound(n)
}

// stepsPerRound is how many steps a user who erases so many records takes in a round.
func (u Users) stepsPerRound(n int) int {
	return u.ErasingEpochs * ((u.portionSize(n) + u.Batch - 1) / u.Batch)
}

// portionSize is how many of n records to be erased a user meets in a round.
func (u Users) portionSize(n int) int {
	if u.Portion == 0 || n == 0 {
		return n
	}
	return max(1, int(math.Round(float64(u.Portion*float64(n)))))
}

// portionRows are those of the rows to be erased that a user meets in a round, 1, 2, ...
func (u Users) portionRows(rows []int, round int, seed engine.Root) []int {
	n := u.portionSize(len(rows))
	if n == len(rows) {
		return rows
	}
	order, out := seed.Stream(engine.StreamShare, 0).Perm(len(rows)), make([]int, n)
	for i := range out {
		out[i] = rows[order[((round-1)*n+i)%len(rows)]]
	}
	return out
}

// Train is a training of these users from untrained weights, those of the fit's seed, on
// the retain set: everybody trains as the request's fit says, on what they have of it.
func (u Users) Train(ctx context.Context, r Request) (*Outcome, error) {
	r.Forget = Data{}
	return u.WithDefaults().run(ctx, r, r.Runner.Arch.Init(r.Fit.Seed.Stream(engine.StreamInit)), nil)
}

// run is the federation's course from some weights. Where erase is nil nobody erases: who
// asked has done away with their records, trains like everybody else, and all rounds are
// run.
func (u Users) run(ctx context.Context, r Request, start nn.Params, erase eraseFunc) (*Outcome, error) {
	c := &federatedRun{hooks: r.Hooks}
	if _, err := r.Runner.Classes(); err == nil && erase != nil {
		c.validation = r.stopAtChance()
	}
	f, err := u.federation(r, erase, c)
	if err != nil {
		return nil, err
	}
	saved, err := c.resumeState()
	if err != nil {
		return nil, err
	}
	p := start
	if saved != nil {
		p = saved.Params
	}
	if !c.validation.IsBelow(c.epochs) {
		if p, _, err = federated.Run(ctx, r.Runner, start, f, c.runHooks(saved)); err != nil {
			return nil, err
		}
	}
	out := &Outcome{Params: p, History: c.epochs}
	if c.validation != nil {
		out.Note = endNote(c.validation, c.epochs, "round")
	}
	return out, nil
}

// federation is who takes part, at what. Its rows are those of the retain set, and
// behind them those of the forget set.
func (u Users) federation(r Request, erase eraseFunc, c *federatedRun) (federated.Federation, error) {
	if err := u.check(r); err != nil {
		return federated.Federation{}, err
	}
	users, err := u.retainHolders(r)
	if err != nil {
		return federated.Federation{}, err
	}
	asked := u.eraseRequests(r)
	for _, q := range asked {
		k := slices.IndexFunc(users, func(v federated.User) bool { return v.ID == q.User })
		users[k].Rows = append(users[k].Rows, q.Rows...)
	}
	users = slices.DeleteFunc(users, func(v federated.User) bool { return len(v.Rows) == 0 })
	all := concatData(r.Retain, r.Forget)
	work := func(t federated.UserRound) (federated.Task, error) {
		own := all.selectRows(t.Rows)
		task, err := u.trainTask(r, own)
		if len(t.Erased) > 0 && erase != nil {
			t.Erased = u.portionRows(t.Erased, t.Round, r.Seed)
			task, err = erase(t, own, all.selectRows(t.Erased))
		}
		if err == nil {
			err = c.countSteps(&task)
		}
		return task, err
	}
	return federated.Federation{
		Config: federated.Config{Rounds: u.Rounds, Mean: federated.Equally, Seed: r.Seed},
		Users:  users, Work: work, Requests: asked, IncludeEmptied: erase != nil, StopAfter: c.recordRound,
	}, nil
}

// retainHolders are who holds which rows of the retain set; everybody is among them.
func (u Users) retainHolders(r Request) ([]federated.User, error) {
	if r.Holders == nil {
		return federated.IID(r.Retain.X.Rows, u.Count, r.Seed)
	}
	users := make([]federated.User, len(r.Holders))
	at, held := indexRows(r.Retain, 0), map[int]bool{}
	for i, h := range r.Holders {
		users[i] = federated.User{ID: h.ID, Rows: at.userRows(h)}
		for _, row := range users[i].Rows {
			held[row] = true
		}
	}
	for id, row := range at {
		if !held[row] {
			return nil, fmt.Errorf("record %d is held by no user", id)
		}
	}
	return users, nil
}

// eraseRequests is who asks to erase which rows of the forget set, which stands behind the
// retain set. What is gone already nobody asks about.
func (u Users) eraseRequests(r Request) (out federated.Schedule) {
	ask := func(user int, rows []int) {
		if len(rows) > 0 {
			out = append(out, federated.Request{Round: 1, User: user, Rows: rows})
		}
	}
	n := r.Retain.X.Rows
	for k := 0; r.Holders == nil && k < u.Requesters; k++ {
		ask(k, u.heldRows(k, n, r.Forget.X.Rows))
	}
	at := indexRows(r.Forget, n)
	for _, h := range r.Holders {
		ask(h.ID, at.userRows(h))
	}
	return out
}

// rowIndex is the row of a record by its number.
type rowIndex map[int]int

// indexRows are the rows of records that begin at from.
func indexRows(d Data, from int) rowIndex {
	out := rowIndex{}
	for i, id := range d.IDs {
		out[id] = from + i
	}
	return out
}

// userRows are the rows of those records that a user holds.
func (at rowIndex) userRows(u federated.User) (rows []int) {
	for _, id := range u.Rows {
		if row, there := at[id]; there {
			rows = append(rows, row)
		}
	}
	return rows
}

// heldRows are the rows of the forget set, which begin at from, that asking user k holds.
func (u Users) heldRows(k, from, n int) (rows []int) {
	for i := range n {
		if !u.Divided || i%u.Requesters == k {
			rows = append(rows, from+i)
		}
	}
	return rows
}

// trainTask is the work of a user who goes on training as the original was trained.
func (u Users) trainTask(r Request, own Data) (federated.Task, error) {
	o, err := r.objective("retain", own, false, 1)
	c := r.Fit
	c.Epochs, c.Batch, c.Schedule, c.EarlyStop = u.LocalEpochs, u.Batch, nil, train.EarlyStop{}
	return federated.Task{Plan: train.Plan{Passes: singlePass(o)}, Config: c}, err
}

// federatedRun is a federation's run as train.Hooks see it: a round is an epoch.
type federatedRun struct {
	hooks      train.Hooks
	validation *train.Validation
	epochs     []train.Epoch
	steps      int // of all users
}

// countSteps adds a task's steps: all that there are, or those that are seen where somebody may
// end it before.
func (c *federatedRun) countSteps(t *federated.Task) error {
	if watch := t.Plan.Watch; watch != nil {
		t.Plan.Watch = func(k train.StepInfo) (bool, error) {
			c.steps++
			return watch(k)
		}
		return nil
	}
	passes, err := t.Plan.Passes(0)
	for _, o := range passes {
		c.steps += t.Config.Epochs * t.Config.StepsPerEpoch(o)
	}
	return err
}

// recordRound writes down a round, and tells whether the forget set is forgotten.
func (c *federatedRun) recordRound(ctx context.Context, s *federated.State) (bool, error) {
	last := s.History[len(s.History)-1]
	e := train.Epoch{Epoch: last.Round, Steps: c.steps, Loss: *last.Loss}
	if c.validation != nil {
		value, err := c.validation.Score(ctx, s.Params, last.Round)
		if err != nil {
			return false, err
		}
		e.Valid = &value
	}
	c.epochs = append(c.epochs, e)
	return c.validation.IsBelow(c.epochs), nil
}

// byRounds is what a saved state's optimiser is of: nothing of users' own survives a
// round but the count of their steps.
const byRounds = "federated"

// watchSteps are the hooks of the run.
func (c *federatedRun) runHooks(saved *federated.State) federated.Hooks {
	out := federated.Hooks{SaveEvery: c.hooks.SaveEvery, Resume: saved}
	if c.hooks.Progress != nil {
		out.Progress = func(r federated.Round) { c.hooks.Progress(c.epochs[r.Round-1]) }
	}
	if c.hooks.Save != nil {
		out.Save = func(s *federated.State) error { return c.hooks.Save(c.trainState(s)) }
	}
	return out
}

// trainState is a federation's as train.Hooks keep it.
func (c *federatedRun) trainState(s *federated.State) *train.State {
	steps, history := 0, slices.Clone(c.epochs[:s.RoundsDone()])
	if s.RoundsDone() > 0 {
		steps = history[s.RoundsDone()-1].Steps
	}
	return &train.State{
		Params: s.Params, Done: s.RoundsDone(), History: history, Optimizers: []*nn.OptimizerState{{Optimizer: byRounds, T: steps}},
	}
}

// resumeState is the way back; nil where nothing was saved.
func (c *federatedRun) resumeState() (*federated.State, error) {
	s := c.hooks.Resume
	if s == nil {
		return nil, nil
	}
	if len(s.Optimizers) != 1 || s.Optimizers[0].Optimizer != byRounds {
		return nil, errors.New("the saved state is of no federation")
	}
	c.epochs, c.steps = slices.Clone(s.History), s.Optimizers[0].T
	out := &federated.State{Params: s.Params}
	for _, e := range s.History {
		out.History = append(out.History, federated.Round{Round: e.Epoch, Loss: &e.Loss})
	}
	return out, nil
}
