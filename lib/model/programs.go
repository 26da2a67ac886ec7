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
	made  map[string]any
	order []string
}

// Program returns the executable of a graph of the network, compiled on first use. The name
// must determine everything that build depends on besides the network.
func (r *Runner) Program(name string, build func(in []*Node) []*Node) (*Exec, error) {
	e, err := r.Compiled(name, func() (any, error) { return r.compile(build) })
	if err != nil {
		return nil, err
	}
	return e.(*Exec), nil
}

// Compiled returns what make made for the network when it was first called with this name, which
// must determine everything that it depends on besides the network.
func (r *Runner) Compiled(name string, make func() (any, error)) (any, error) {
	p := &r.programs
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.made[name]; e != nil {
		return e, nil
	}
	e, err := make()
	if err != nil {
		return nil, err
	}
	if p.made == nil {
		p.made = map[string]any{}
	}
	if len(p.order) == maxPrograms {
		delete(p.made, p.order[0])
		p.order = p.order[1:]
	}
	p.made[name] = e
	p.order = append(p.order, name)
	return e, nil
}
