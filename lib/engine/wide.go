package engine

import (
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
)

// wide is the second backend of a Go engine, opened when it is first needed and
// shared by all engines that WithChunkRows makes.
type wide struct {
	once    sync.Once
	backend compute.Backend
	err     error
}

// Wide returns an engine that puts all cores to work on one execution, for work
// that cannot be cut into independent chunks: a batch whose records are
// normalised together. Graph nodes that do not depend on each other run side by
// side, and so do the parts of a large matrix product. Everything that such an
// execution takes must be uploaded to this engine's own backend. Engines other
// than Go's work like this anyway.
//
// The number of workers is unlimited here, because with a limited number nodes
// that hold a worker while they wait for another deadlock in GoMLX (0.28.3 to
// 0.28.8). Results are the same to the last bit as those of one core.
func (e *Engine) Wide() (*Engine, error) {
	if e.wide == nil {
		return e, nil
	}
	e.wide.once.Do(func() {
		e.wide.backend, e.wide.err = quietly(func() (compute.Backend, error) {
			return gobackend.New("ops_parallel,parallelism=-1")
		})
	})
	if e.wide.err != nil {
		return nil, e.wide.err
	}
	other := *e
	other.backend, other.wide = e.wide.backend, nil
	return &other, nil
}

func (w *wide) close() {
	if w != nil && w.backend != nil {
		w.backend.Finalize()
	}
}
