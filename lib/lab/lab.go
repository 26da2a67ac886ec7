package lab

import (
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
)

// Lab trains and unlearns models and keeps them in a store. It is safe for concurrent use.
type Lab struct {
	Engine *engine.Engine
	Store  *store.Store
	// Shift is added to every seed: see engine.SeedShift.
	Shift int
	// Progress, if not nil, is called as the work advances: after every epoch of a
	// training, possibly from several goroutines; or, with a list of jobs (see TrackJobs),
	// with the progress of the list, from one goroutine at a time.
	Progress func(Progress)

	cache       dataCache
	jobProgress *jobProgress
}

// Progress is how far a piece of work is: in epochs of a training or, with a list of jobs,
// in records processed.
type Progress struct {
	Done, Total int64
	What        string
}

// Open opens the engine named by LETHE_ENGINE, or the best available one, and the store
// named by LETHE_STORE, or the one in the user's cache folder. LETHE_SEED shifts its seeds.
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

// Reseed returns a lab whose seeds are shifted by run: other splits, forget sets and
// trainings. It shares the store. Run 0 has the same seeds as l.
func (l *Lab) Reseed(run int) *Lab {
	return &Lab{Engine: l.Engine, Store: l.Store, Shift: l.Shift + run, Progress: l.Progress}
}

// epochProgress returns a callback that reports the progress of a training.
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
