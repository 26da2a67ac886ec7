package model

import (
	"sync"

	. "github.com/gomlx/gomlx/core/graph"
)

// maxPrograms is how many programs a runner keeps: those of an experiment's methods, on a
// few sizes of batches. The oldest goes first; whoever runs it keeps it.
const maxPrograms = 64

// programs are what was compiled for a network beside its inference, by name.
type programs struct {
	mu    sync.Mutex
	execs map[string]*Exec
	order []string
}

// Program returns the executable of a graph of the network: compiled now, or for somebody
// who asked before. The name says everything that build depends on beside the network.
func (r *Runner) Program(name string, build func(in []*Node) []*Node) (*Exec, error) {
	p := &r.programs
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.execs[name]; e != nil {
		return e, nil
	}
	e, err := r.compile(build)
	if err != nil {
		return nil, err
	}
	if p.execs == nil {
		p.execs = map[string]*Exec{}
	}
	if len(p.order) == maxPrograms {
		delete(p.execs, p.order[0])
		p.order = p.order[1:]
	}
	p.execs[name] = e
	p.order = append(p.order, name)
	return e, nil
}
