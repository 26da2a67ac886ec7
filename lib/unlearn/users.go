// Users of federated methods.

package unlearn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Users are the users of a federated method, who go on training by federated averaging, in
// the setting of BlindU's program. The retain set is assigned at random to ten users, and
// three of them also hold the forget set; if the request says who holds what
// (Request.Holders), those users hold it. They ask to erase it: in every round they do what
// the method says, and the other users train on their records, as the original was trained.
// The new weights are the plain mean over all users. The run ends when the users who erase
// find the labels of no more of the forget set than chance, or after 20 rounds; for a model
// that is not a classifier it takes all rounds.
//
// Users without records, because they leave, still erase, and are gone when the run is
// over; in a training they take no part.
//
// Every user's optimiser starts afresh in every round. A round depends only on the result
// of the one before, so that a run resumes between rounds.
//
// Differences from the program: (1) it stops when less than a tenth of the unseen triggered
// images are classified as the backdoor's target, which needs a backdoor. (2) Its three
// users hold the same 1,200 records where its BlindU erases 3,600; here they hold the whole
// forget set, of which a user erases Portion per round. (3) Training goes on with the
// original's optimiser and clipping, without its schedule and early stopping.
type Users struct {
	Count         int  `json:"users,omitempty" default:"10"`
	Requesters    int  `json:"asking,omitempty" default:"3"`         // number of users who ask to erase; if the request does not say who
	Divided       bool `json:"divided,omitempty"`                    // each of these holds a part of the forget set; as coded each holds all of it
	Rounds        int  `json:"rounds,omitempty" default:"20"`        // at most
	LocalEpochs   int  `json:"local_epochs,omitempty" default:"10"`  // epochs per round of users who train
	ErasingEpochs int  `json:"erasing_epochs,omitempty" default:"1"` // epochs per round of users who erase; as in the program on MNIST
	Batch         int  `json:"batch,omitempty" default:"100"`        // the program's, whatever the original's batch size
	// Portion is the share of a user's erased records that they use in a round, 0: all.
	// Users go through all of them in a fixed random order and then over again; users with
	// the same records use the same ones.
	Portion float64 `json:"portion,omitempty"`
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

// checkPositive returns an error for settings that must be positive.
func (u Users) checkPositive() error {
	if !(u.Portion >= 0 && u.Portion <= 1) {
		return fmt.Errorf("a share of %v of the erased records per round", u.Portion)
	}
	if u.Rounds < 1 || u.LocalEpochs < 1 || u.ErasingEpochs < 1 || u.Batch < 1 {
		return fmt.Errorf("%d rounds of %d epochs, or %d for users who erase, in batches of %d; all must be positive",
			u.Rounds, u.LocalEpochs, u.ErasingEpochs, u.Batch)
	}
	return nil
}

// eraseFunc returns what a user who erases does in a round.
type eraseFunc func(t federated.UserRound, own, erased Data) (federated.Task, error)

// maxSteps returns the maximum number of steps, in all rounds, of a user who erases.
func (u Users) maxSteps(r Request) int {
	n := 0
	for _, q := range u.eraseRequests(r) {
		n = max(n, len(q.Rows))
	}
	return u.Rounds * u.stepsPerRound(n)
}

// stepsPerRound returns the number of steps per round of a user who erases n records.
func (u Users) stepsPerRound(n int) int {
	return u.ErasingEpochs * ((u.portionSize(n) + u.Batch - 1) / u.Batch)
}

// portionSize returns how many of n erased records a user uses in a round.
func (u Users) portionSize(n int) int {
	if u.Portion == 0 || n == 0 {
		return n
	}
	return max(1, int(math.Round(float64(u.Portion*float64(n)))))
}

// portionRows returns those of the erased rows that a user uses in a round, 1, 2, ...
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

// Train trains these users from the untrained weights of the fit's seed on the retain set:
// every user trains as the request's fit says, on their records.
func (u Users) Train(ctx context.Context, r Request) (*Outcome, error) {
	r.Forget = Data{}
	return defaults.Fill(u).run(ctx, r, model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit)), nil)
}

// run runs the federation from some weights. If erase is nil no user erases: those who
// asked have dropped their records and train like the others, and all rounds are run.
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

// federation returns the federation. Its rows are those of the retain set, followed by
// those of the forget set.
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

// retainHolders returns which user holds which rows of the retain set; every user is
// listed.
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

// eraseRequests returns which user asks to erase which rows of the forget set, which follow
// the retain set.
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

// rowIndex maps a record's number to its row.
type rowIndex map[int]int

// indexRows returns the rows of records, which start at row from.
func indexRows(d Data, from int) rowIndex {
	out := rowIndex{}
	for i, id := range d.IDs {
		out[id] = from + i
	}
	return out
}

// userRows returns the rows of those records that a user holds.
func (at rowIndex) userRows(u federated.User) (rows []int) {
	for _, id := range u.Rows {
		if row, there := at[id]; there {
			rows = append(rows, row)
		}
	}
	return rows
}

// heldRows returns the rows of the forget set, which start at from, that requesting user k
// holds.
func (u Users) heldRows(k, from, n int) (rows []int) {
	for i := range n {
		if !u.Divided || i%u.Requesters == k {
			rows = append(rows, from+i)
		}
	}
	return rows
}

// trainTask returns the work of a user who goes on training as the original was trained.
func (u Users) trainTask(r Request, own Data) (federated.Task, error) {
	o, err := r.objective("retain", own, false, 1)
	c := r.Fit
	c.Epochs, c.Batch, c.Schedule, c.EarlyStop = u.LocalEpochs, u.Batch, nil, train.EarlyStop{}
	return federated.Task{Plan: train.Plan{Passes: singlePass(o)}, Config: c}, err
}

// federatedRun presents a federation's run to train.Hooks: a round is an epoch.
type federatedRun struct {
	hooks      train.Hooks
	validation *train.Validation
	epochs     []train.Epoch
	steps      int // of all users
}

// countSteps adds a task's steps: all planned ones or, where a stop may end it, those
// taken.
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

// recordRound records a round and reports whether the forget set is forgotten.
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

// byRounds is the name of the optimiser in a saved state: of the users' optimisers only the
// number of steps survives a round.
const byRounds = "federated"

// runHooks returns the hooks of the run.
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

// trainState returns a federation's state as train.Hooks save it.
func (c *federatedRun) trainState(s *federated.State) *train.State {
	steps, history := 0, slices.Clone(c.epochs[:s.RoundsDone()])
	if s.RoundsDone() > 0 {
		steps = history[s.RoundsDone()-1].Steps
	}
	return &train.State{
		Params: s.Params, Done: s.RoundsDone(), History: history, Optimizers: []*nn.OptimizerState{{Optimizer: byRounds, T: steps}},
	}
}

// resumeState converts a saved state back; nil where nothing was saved.
func (c *federatedRun) resumeState() (*federated.State, error) {
	s := c.hooks.Resume
	if s == nil {
		return nil, nil
	}
	if len(s.Optimizers) != 1 || s.Optimizers[0].Optimizer != byRounds {
		return nil, errors.New("the saved state does not belong to a federation")
	}
	c.epochs, c.steps = slices.Clone(s.History), s.Optimizers[0].T
	out := &federated.State{Params: s.Params}
	for _, e := range s.History {
		out.History = append(out.History, federated.Round{Round: e.Epoch, Loss: &e.Loss})
	}
	return out, nil
}
