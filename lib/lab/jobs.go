package lab

import (
	"context"
	"errors"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Job is one piece of work that the store keeps.
type Job struct {
	// ID names it by its coordinates: the same work has the same name wherever it
	// is asked for.
	ID    string   `json:"id"`
	Needs []string `json:"needs,omitempty"` // jobs that come before
	// Key is the run's ID in the store, where it is known: that of a training needs
	// the data, that of an unlearning the weights that are to forget.
	Key  string `json:"key,omitempty"`
	Cost int64  `json:"cost"` // records that it meets, roughly
	Done bool   `json:"done"` // the store has it
	// Missing says that its data are not on this machine.
	Missing bool `json:"missing,omitempty"`
	// Data are the hashes of the data in the key, by name.
	Data map[string]string `json:"data,omitempty"`
	// Work does the job, or finds it done, in the store of the lab that listed it. What
	// it needs and does not find there it makes too.
	Work Work `json:"-"`

	model *modelJob
}

// Work does a job and returns its run's ID in the store, "" where there was nothing to
// keep: nothing is measured on a model whose method has left the range of numbers.
type Work func(ctx context.Context) (run string, err error)

// modelJob is what the job of a model makes: the model of an origin in the case
// of a setting.
type modelJob struct {
	Setting
	ModelSpec
}

// CostUnit is what Cost counts.
const CostUnit = "records"

// Jobs lists the work behind the models that methods leave in the case of a
// setting, what is needed first coming first. It is made of the origins that the
// case itself makes its models from. Data that are not on this machine leave
// keys unknown and are no error.
func (l *Lab) Jobs(ctx context.Context, s Setting, methods ...unlearn.Method) ([]Job, error) {
	c, err := l.Case(ctx, s)
	if err != nil && !errors.Is(err, datasets.ErrMissing) {
		return nil, err
	}
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

// modelWork makes the model of an origin. A method that leaves the range of numbers
// has done its job: the store says so to whoever asks.
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

// jobs are an origin's work and what it needs; c is nil without the data.
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
			if err := l.Lookup(&job, key); err != nil {
				return nil, err
			}
		}
	}
	return append(out, job), nil
}

// Lookup fills in a job's key and whether the store has it. A damaged run is
// still to be done.
func (l *Lab) Lookup(j *Job, key store.Key) (err error) {
	if j.Key, err = key.ID(); err != nil {
		return err
	}
	j.Data = key.Data
	_, j.Done, err = l.Store.Lookup(key)
	if errors.Is(err, store.ErrDamaged) {
		return nil
	}
	return err
}

// Dedup drops jobs that are listed already.
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

// JobIDs are the names of jobs.
func JobIDs(jobs []Job) []string {
	var out []string
	for _, j := range jobs {
		out = append(out, j.ID)
	}
	return out
}

// TrackJobs makes Progress speak of a list of jobs, of those that are not done and
// of what they still need: it knows its end. An empty list ends that.
func (l *Lab) TrackJobs(jobs []Job) {
	l.jobProgress = nil
	if len(jobs) > 0 && l.Progress != nil {
		l.jobProgress = newJobProgress(jobs, l.Progress)
	}
}

// TracksJobs reports whether a list of jobs is being worked off.
func (l *Lab) TracksJobs() bool { return l.jobProgress != nil }

// ReportProgress tells how much of a job is done: 0 when it begins.
func (l *Lab) ReportProgress(job string, share float64, what string) {
	if l.jobProgress != nil {
		l.jobProgress.update(job, share, what)
	}
}

// ReportDone tells that a job's work is there.
func (l *Lab) ReportDone(job, what string) { l.ReportProgress(job, 1, what) }

// jobProgress adds up how far a list of jobs is.
type jobProgress struct {
	mu     sync.Mutex
	cost   map[string]int64   // of the jobs that are to be done
	share  map[string]float64 // of each that is
	done   float64
	total  int64
	report func(Progress)
}

func newJobProgress(jobs []Job, tell func(Progress)) *jobProgress {
	m := &jobProgress{cost: map[string]int64{}, share: map[string]float64{}, report: tell}
	for id := range pendingJobs(jobs) {
		m.cost[id] = 0
	}
	for _, j := range jobs {
		if _, there := m.cost[j.ID]; there && m.cost[j.ID] == 0 {
			m.cost[j.ID] = j.Cost
			m.total += j.Cost
		}
	}
	return m
}

// pendingJobs are the jobs that are to be done: those that nobody needs, and what
// they need; what stands behind a job that is done is not asked for.
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

// update says that a share of a job is done.
func (m *jobProgress) update(job string, share float64, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.cost[job]; !there {
		return
	}
	if more := share - m.share[job]; more > 0 {
		m.share[job] = share
		m.done += float64(more * float64(m.cost[job]))
	}
	m.report(Progress{Done: int64(m.done + 0.5), Total: m.total, What: what})
}
