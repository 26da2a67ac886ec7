package model

import (
	"sync"

	. "github.com/gomlx/gomlx/core/graph"
)

// maxPrograms is the number of programs that a runner keeps, enough for the methods of an
// experiment at several batch sizes. The oldest is dropped first; a program in use stays
// valid.
const maxPrograms = 64

// programs are a network's compiled graphs other than inference, by name.
type programs struct {
	mu    sync.Mutex
	execs map[string]*Exec
	order []string
}

// Program returns the executable of a graph of the network, compiled on first use. The name
// must determine everything that build depends on besides the network.
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
