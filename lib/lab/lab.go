package lab

import (
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
)

// Lab trains and unlearns models and keeps them in a store. It may be used by
// several goroutines.
type Lab struct {
	Engine *engine.Engine
	Store  *store.Store
	// Shift is added to every seed: see engine.SeedShift.
	Shift int
	// Progress is told how far the work is: without a list of jobs (see Expect) how
	// far a training is, after every epoch, by all goroutines that train; with one
	// how far the list is, by one at a time. It may be nil.
	Progress func(Progress)

	cache       dataCache
	jobProgress *jobProgress
}

// Progress says how far a piece of work is: in epochs of a training, or with a
// list of jobs in records met.
type Progress struct {
	Done, Total int64
	What        string
}

// Open opens the engine that LETHE_ENGINE names, or the best there is, and the
// store that LETHE_STORE names, or the one in the user's cache folder. Its seeds
// are moved as LETHE_SEED says.
func Open() (*Lab, error) {
	e, err := engine.Open("")
	if err != nil {
		return nil, err
	}
	dir, err := store.DefaultDir()
	if err != nil {
		return nil, err
	}
	s, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	shift, err := engine.SeedShift()
	return &Lab{Engine: e, Store: s, Shift: shift}, err
}

// Reseed is the lab with every seed moved by so many: other splits, other forget
// sets, other trainings. Run 0 is the lab itself, and all runs share its store.
func (l *Lab) Reseed(run int) *Lab {
	return &Lab{Engine: l.Engine, Store: l.Store, Shift: l.Shift + run, Progress: l.Progress}
}

// epochProgress tells how far a training is, after every epoch.
func (l *Lab) epochProgress(job, what string, total int) func(train.Epoch) {
	if l.Progress == nil {
		return nil
	}
	return func(e train.Epoch) {
		if l.jobProgress != nil {
			l.jobProgress.update(job, float64(e.Epoch)/float64(total), what)
			return
		}
		l.Progress(Progress{Done: int64(e.Epoch), Total: int64(total), What: what})
	}
}
