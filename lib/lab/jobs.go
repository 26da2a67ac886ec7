// Lists of jobs, their state and progress.

package lab

import (
	"context"
	"errors"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Job is one piece of work whose result the store keeps.
type Job struct {
	// ID is made of the work's settings: the same work has the same ID wherever it is
	// listed.
	ID    string   `json:"id"`
	Needs []string `json:"needs,omitempty"` // IDs of the jobs that must be done before
	// Key is the ID of the run in the store, where it is known: that of a training needs
	// the data, that of an unlearning the weights of the original.
	Key  string `json:"key,omitempty"`
	Cost int64  `json:"cost"` // roughly, in CostUnit; see Cost
	Done bool   `json:"done"` // the store has the result
	// Missing says that the data are not on this machine.
	Missing bool `json:"missing,omitempty"`
	// Data are the hashes of the data in the key, by name.
	Data map[string]string `json:"data,omitempty"`
	// Work does the job in the store of the lab that listed it, or finds it done. It also
	// computes whatever the job needs and the store lacks.
	Work Work `json:"-"`

	model *modelJob
}

// Work does a job and returns the ID of its run in the store. The ID is "" where there is
// nothing to store: a model whose method diverged is not measured.
type Work func(ctx context.Context) (run string, err error)

// modelJob is the model that a job makes, in the case of a setting.
type modelJob struct {
	Setting
	ModelSpec
}

// CostUnit is the unit of Job.Cost.
const CostUnit = model.WorkUnit

// Jobs lists the work behind the models that methods leave in the case of a setting;
// prerequisites come first. Where the data are not on this machine the keys stay unknown,
// which is not an error.
func (l *Lab) Jobs(ctx context.Context, s Setting, methods ...unlearn.Method) ([]Job, error) {
	c, err := l.Case(ctx, s)
	if err != nil && !errors.Is(err, datasets.ErrMissing) {
		return nil, err
	}
	return l.JobsIn(ctx, c, s, methods...)
}

// JobsIn is Jobs in the open case of a setting, nil where its data are not on this machine.
func (l *Lab) JobsIn(ctx context.Context, c *Case, s Setting, methods ...unlearn.Method) ([]Job, error) {
	asked := s
	s = s.withDefaults().reseeded(l.Shift)
	var out []Job
	for _, m := range methods {
		jobs, err := l.jobs(ctx, c, s, s.ModelSpec(m))
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	for i := range out {
		out[i].model.Setting = asked
		out[i].Work = l.modelWork(*out[i].model)
	}
	return Dedup(out), nil
}

// modelWork returns the work that makes a model. A method that diverged has done its job:
// the store keeps the divergence.
func (l *Lab) modelWork(m modelJob) Work {
	return func(ctx context.Context) (string, error) {
		c, err := l.Case(ctx, m.Setting)
		if err != nil {
			return "", err
		}
		run, err := c.modelRun(ctx, m.ModelSpec)
		if err != nil {
			return "", err
		}
		return run.ID, nil
	}
}

// jobs lists the job of a model and its prerequisites; c is nil where the data are missing.
func (l *Lab) jobs(ctx context.Context, c *Case, s Setting, o ModelSpec) (out []Job, err error) {
	job := Job{Cost: s.cost(o), Missing: c == nil, model: &modelJob{ModelSpec: o}}
	if job.ID, err = s.ID(o); err != nil {
		return nil, err
	}
	for _, need := range s.Needs(o) {
		before, err := l.jobs(ctx, c, s, need)
		if err != nil {
			return nil, err
		}
		out, job.Needs = append(out, before...), append(job.Needs, before[len(before)-1].ID)
	}
	if c != nil {
		key, known, err := c.storeKey(ctx, o)
		if err != nil {
			return nil, err
		}
		if known {
			if _, err := l.Lookup(&job, key); err != nil {
				return nil, err
			}
		}
	}
	return append(out, job), nil
}

// Lookup fills in a job's key and whether the store has its result, and returns the result, nil
// if there is none. A damaged run counts as not done.
func (l *Lab) Lookup(j *Job, key store.Key) (run *store.Run, err error) {
	if j.Key, err = key.ID(); err != nil {
		return nil, err
	}
	j.Data = key.Data
	run, j.Done, err = l.Store.Lookup(key)
	if errors.Is(err, store.ErrDamaged) {
		return nil, nil
	}
	return run, err
}

// Dedup returns the jobs without repetitions.
func Dedup(jobs []Job) []Job {
	seen := map[string]bool{}
	var out []Job
	for _, j := range jobs {
		if !seen[j.ID] {
			seen[j.ID] = true
			out = append(out, j)
		}
	}
	return out
}

// JobIDs returns the IDs of jobs.
func JobIDs(jobs []Job) []string {
	var out []string
	for _, j := range jobs {
		out = append(out, j.ID)
	}
	return out
}

// jobs in a context: see TrackJobs.
type jobsKey struct{}

// trackedJobs adds up the progress of a list of jobs. A nil *trackedJobs tracks nothing.
type trackedJobs struct {
	task    *progress.Task
	mu      sync.Mutex
	pending map[string]int64 // the cost of the jobs that are not done
}

// TrackJobs begins a task that is as long as the pending jobs of a list and what they need,
// in units of CostUnit. Under the context that it returns the jobs of the list are its parts,
// wherever they run. Where a list is tracked already it goes on with that one.
func TrackJobs(ctx context.Context, what string, jobs []Job) (context.Context, *progress.Task) {
	if trackedIn(ctx) != nil {
		return ctx, nil
	}
	t := &trackedJobs{pending: map[string]int64{}}
	for id := range pendingJobs(jobs) {
		t.pending[id] = 0
	}
	var total int64
	for _, j := range jobs {
		if cost, there := t.pending[j.ID]; there && cost == 0 {
			t.pending[j.ID] = j.Cost
			total += j.Cost
		}
	}
	ctx, t.task = progress.StartUnits(ctx, what, total, CostUnit)
	return context.WithValue(ctx, jobsKey{}, t), t.task
}

func trackedIn(ctx context.Context) *trackedJobs {
	t, _ := ctx.Value(jobsKey{}).(*trackedJobs)
	return t
}

// StartJob begins the task of a job, and returns a context for what runs inside it. The job
// counts for its cost if it is in a list that is tracked.
func StartJob(ctx context.Context, job, what string) (context.Context, *progress.Task) {
	return progress.Start(trackedIn(ctx).part(ctx, job), what, 0)
}

// ReportDone says that a job is done: computed, or found in the store.
func ReportDone(ctx context.Context, job string) { trackedIn(ctx).finish(job) }

// part returns a context under which a task is a part of the list.
func (t *trackedJobs) part(ctx context.Context, job string) context.Context {
	if t == nil {
		return ctx
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.task.Part(ctx, float64(t.pending[job]))
}

// finish counts a job, once.
func (t *trackedJobs) finish(job string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.task.Add(int(t.pending[job]))
	delete(t.pending, job)
}

// pendingJobs are the jobs that have to run: those that no other job needs, and their
// prerequisites. Prerequisites of a job that is done are left out.
func pendingJobs(jobs []Job) map[string]bool {
	by, needed := map[string]Job{}, map[string]bool{}
	for _, j := range jobs {
		by[j.ID] = j
		for _, n := range j.Needs {
			needed[n] = true
		}
	}
	out := map[string]bool{}
	var add func(id string)
	add = func(id string) {
		j, listed := by[id]
		if !listed || j.Done || j.Missing || out[id] {
			return
		}
		out[id] = true
		for _, n := range j.Needs {
			add(n)
		}
	}
	for _, j := range jobs {
		if !needed[j.ID] {
			add(j.ID)
		}
	}
	return out
}
