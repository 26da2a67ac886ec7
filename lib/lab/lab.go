package lab

import (
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/progress/show"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
)

// Lab trains and unlearns models and keeps them in a store. It is safe for concurrent use.
type Lab struct {
	Engine *engine.Engine
	Store  *store.Store
	// Shift is added to every seed: see engine.SeedShift.
	Shift int
	// AfterEpoch, if not nil, is called after every epoch of a training that is not in the
	// store, possibly from several goroutines. How far the work is shows without it: see
	// package progress.
	AfterEpoch func(train.Epoch)

	cache dataCache
}

// Open opens the engine named by LETHE_ENGINE, or Lethe's own, and the store
// named by LETHE_STORE, or the one in the user's cache folder. LETHE_SEED shifts its seeds.
// Work that takes longer than two seconds then shows how far it is, in the notebook or the
// terminal that the program runs in; LETHE_PROGRESS=off turns that off.
func Open() (*Lab, error) {
	show.ChooseDisplay()
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
	return &Lab{Engine: l.Engine, Store: l.Store, Shift: l.Shift + run, AfterEpoch: l.AfterEpoch}
}
