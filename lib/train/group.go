// Fits that run side by side: their epochs are one execution on a device.

package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Group lets fits of one network run side by side on a device: an epoch of all is one execution, in
// which every model has its own weights, records, order, random inputs and optimiser. 64 small
// networks take little longer than one. Each member of a group is a goroutine that fits models, one
// after another, with a context of Join:
//
//	g := train.NewGroup(n)
//	for k := range n {
//		go func() {
//			defer g.Leave(k)
//			p, history, err := train.Fit(g.Join(ctx, k), runner, start[k], objective[k], config[k], hooks[k])
//			...
//		}()
//	}
//
// An epoch begins when every member waits for one. Members that do something else meanwhile are
// waited for, for five seconds; a member that fits no more should leave. Epochs of different form
// (another network, objective, optimiser, or a Plan with other parts) run one after another. Batches
// of different sizes are padded with records of weight 0, and a model with fewer steps waits.
//
// A model of a group is that of a fit alone, to rounding. It has the same bits whenever the group
// has the same members at the same epochs. A member whose context ends in an epoch is answered when
// the others have finished it. Fits on an engine in the host's memory do not wait for each other.
type Group struct {
	mu      sync.Mutex
	present map[int]bool // false: not waited for
	waiting map[int]*arrival
	late    *time.Timer // ends the wait
	lateAt  time.Time   // when it ends, since the last arrival
	memory  *deviceMemory
}

// patience is how long an epoch waits for members after the last arrival. Who is later, because it
// computes on the host or waits for a run that another member computes, is not waited for until it
// arrives.
const patience = 5 * time.Second

// arrival is a member that waits for its epoch.
type arrival struct {
	*lane
	done chan struct{} // closed when the lane has its result
}

// NewGroup returns a group of members 0 ... n-1.
func NewGroup(n int) *Group {
	g := &Group{present: map[int]bool{}, waiting: map[int]*arrival{}, memory: newDeviceMemory()}
	g.late = time.AfterFunc(time.Hour, g.runWaiting)
	g.late.Stop()
	for k := range n {
		g.present[k] = true
	}
	return g
}

type groupKey struct{}

// member says which member of which group a context is of.
type member struct {
	group  *Group
	number int
}

func memberOf(ctx context.Context) member {
	m, _ := ctx.Value(groupKey{}).(member)
	return m
}

// Join returns a context for the fits of a member.
func (g *Group) Join(ctx context.Context, k int) context.Context {
	return context.WithValue(ctx, groupKey{}, member{g, k})
}

// Leave says that a member fits no more. The last one that leaves frees the device's memory.
func (g *Group) Leave(k int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.present, k)
	if len(g.present) == 0 {
		g.late.Stop()
		g.memory.free()
		return
	}
	g.runIfAllWait()
}

// epoch runs an epoch of member k when all members wait for one.
func (g *Group) epoch(k int, a *lane) {
	if err := a.ctx.Err(); err != nil {
		a.err = err
		return
	}
	own := &arrival{a, make(chan struct{})}
	if !g.arrive(k, own) {
		runEpoch([][]*lane{{a}}, a.device.memory)
		return
	}
	select {
	case <-own.done:
		return
	case <-a.ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting[k] == own { // not begun
		delete(g.waiting, k)
		a.err = a.ctx.Err()
	}
}

// arrive adds a member to those that wait, and runs the epochs of all if it is the last. It returns
// false for who has left, and for a second fit of a member.
func (g *Group) arrive(k int, own *arrival) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, is := g.present[k]; !is || g.waiting[k] != nil {
		return false
	}
	g.waiting[k], g.present[k] = own, true
	g.lateAt = time.Now().Add(patience)
	g.late.Reset(patience)
	g.runIfAllWait()
	return true
}

// runWaiting runs the epochs of those that wait.
func (g *Group) runWaiting() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 || time.Now().Before(g.lateAt) { // somebody came meanwhile
		return
	}
	for k := range g.present {
		g.present[k] = g.waiting[k] != nil
	}
	g.runIfAllWait()
}

// runIfAllWait runs the epochs of all members if all wait for one. A panic, as of an augmenter, is
// the error of those that it has left without a result. The lock is held.
func (g *Group) runIfAllWait() {
	expected := 0
	for _, is := range g.present {
		if is {
			expected++
		}
	}
	if len(g.waiting) == 0 || len(g.waiting) < expected {
		return
	}
	g.late.Stop()
	waiting := g.waiting
	g.waiting = map[int]*arrival{}
	defer func() {
		v := recover()
		for _, a := range waiting {
			if v != nil && errors.Is(a.err, errNotRun) {
				a.err = fmt.Errorf("%w: %v", errNotRun, v)
			}
			close(a.done)
		}
	}()
	if forms := byForm(waiting); len(forms) > 0 {
		runEpoch(forms, g.memory)
	}
}

// byForm returns the lanes of arrivals that can run: those of one form together, in the order of the
// members.
func byForm(waiting map[int]*arrival) (out [][]*lane) {
	places := map[string]int{}
	for _, k := range slices.Sorted(maps.Keys(waiting)) {
		a := waiting[k].lane
		var err error
		if a.name, err = a.form(); err != nil {
			a.err = err
			continue
		}
		place, there := places[a.name]
		if !there {
			place, out = len(out), append(out, nil)
			places[a.name] = place
		}
		out[place] = append(out[place], a)
	}
	return out
}

// Job is a training of FitMany.
type Job struct {
	Start  nn.Params
	Plan   Plan
	Config Config
	Hooks  Hooks
}

// Fitted is the result of a job: what FitPlan returns.
type Fitted struct {
	Params  nn.Params
	History []Epoch
	Err     error
}

// FitMany fits several models of one network as FitPlan does, side by side; see Group. On an engine
// in the host's memory the fits share the cores. Every job has its own result or error.
func FitMany(ctx context.Context, r *model.Runner, jobs []Job) []Fitted {
	out, g := make([]Fitted, len(jobs)), NewGroup(len(jobs))
	var all sync.WaitGroup
	for k, j := range jobs {
		all.Go(func() {
			defer g.Leave(k)
			f := &out[k]
			f.Err = panics.Catch("the training", func() (err error) {
				f.Params, f.History, err = FitPlan(g.Join(ctx, k), r, j.Start, j.Plan, j.Config, j.Hooks)
				return err
			})
		})
	}
	all.Wait()
	return out
}
