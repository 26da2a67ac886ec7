package backend

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/compute"
)

// A plan is made in four passes: what is computed together (units), in which order,
// where it lies, and how it is run (steps). A value has the slot of its node's number.

// unit is what one step computes: the members of a program, which may end in a
// reduction, or one node.
type unit struct {
	members
	node *node // what is not elementwise; nil: the program alone
	id   int   // the largest number of its nodes, which comes last
	from map[*unit]bool
}

// planner makes a plan of a function.
type planner struct {
	f      *function
	nodes  []*node // that an output depends on
	users  map[*node][]*node
	takers map[*node][]taker
	unitOf map[*node]*unit
	units  []*unit
	views  map[*node]view
	extra  int // slots beyond the nodes'
}

// taker is a node that takes a value, perhaps by way of nodes that only look at it;
// a nil node is the caller.
type taker struct {
	by    *node
	plain bool // in the order of the elements
}

// plain tells whether a node has its operand's elements in their order.
func plain(n *node) bool {
	switch n.op {
	case compute.OpTypeIdentity, compute.OpTypeReshape:
		return true
	case compute.OpTypeBroadcastInDim:
		return n.size() == n.in[0].size() && slices.IsSorted(n.attr.([]int))
	}
	return false
}

// root follows nodes that leave the order alone.
func root(n *node) *node {
	for plain(n) {
		n = n.in[0]
	}
	return n
}

// source follows nodes that only look, unless they have to lay out what they see.
func (p *planner) source(n *node) *node {
	for looks[n.op] && p.unitOf[n] == nil {
		n = n.in[0]
	}
	return n
}

func plan(f *function) (*planner, error) {
	p := &planner{f: f, users: f.uses(), unitOf: map[*node]*unit{}, views: map[*node]view{}, extra: len(f.nodes)}
	p.nodes = f.live(p.users)
	for _, n := range p.nodes {
		p.look(n)
	}
	p.takers = map[*node][]taker{}
	for _, n := range p.nodes {
		p.follow(n, n, true)
	}
	for _, n := range p.nodes {
		if reductions[n.op] {
			p.unit(n, p.before(n))
		}
	}
	for _, n := range p.nodes {
		p.assign(n)
	}
	p.sink()
	p.pour()
	return p, p.order()
}

// look finds the view of a node. One that cannot look at its operand in the way it
// wants to becomes a unit that lays it out anew.
func (p *planner) look(n *node) {
	if looks[n.op] {
		if v, ok := seen(n, p.views[n.in[0]]); ok {
			p.views[n] = v
			return
		}
		p.unit(n, members{})
	}
	p.views[n] = whole(n.id, n.shape.DType, n.shape.Dimensions)
}

func (p *planner) unit(n *node, m members) *unit {
	u := &unit{members: m, node: n, id: n.id, from: map[*unit]bool{}}
	for _, member := range m.nodes {
		p.unitOf[member] = u
	}
	p.unitOf[n] = u
	p.units = append(p.units, u)
	return u
}

// follow notes who takes n, looking at it as at does.
func (p *planner) follow(n, at *node, inOrder bool) {
	if slices.Contains(p.f.outputs, at) {
		p.takers[n] = append(p.takers[n], taker{nil, false})
	}
	for _, by := range p.users[at] {
		if looks[by.op] && p.unitOf[by] == nil {
			p.follow(n, by, inOrder && plain(by))
		} else {
			p.takers[n] = append(p.takers[n], taker{by, inOrder})
		}
	}
}

// before are the elementwise nodes that only a reduction takes, in the end.
func (p *planner) before(r *node) members {
	m := members{size: r.in[0].size()}
	in := map[*node]bool{r: true}
	var take func(n *node)
	take = func(n *node) {
		n = root(n)
		if !elementwise()[n.op] || n.size() != m.size || in[n] || p.unitOf[n] != nil {
			return
		}
		for _, t := range p.takers[n] {
			if !t.plain || !in[t.by] {
				return
			}
		}
		in[n] = true
		m.nodes = append(m.nodes, n)
		for _, operand := range n.in {
			take(operand)
		}
	}
	take(r.in[0])
	if p.computed(m) > fewComputed {
		return members{}
	}
	slices.SortFunc(m.nodes, func(a, b *node) int { return a.id - b.id })
	return m
}

// fewComputed is how many values that other programs compute a reduction may read: for more
// it is better that one of them computes what is reduced.
const fewComputed = 3

// computed counts the values beside its members that a program takes from other programs.
func (p *planner) computed(m members) int {
	taken := map[*node]bool{}
	for _, n := range m.nodes {
		for _, in := range n.in {
			if in = root(in); elementwise()[in.op] && in.size() == m.size && !slices.Contains(m.nodes, in) {
				taken[in] = true
			}
		}
	}
	return len(taken)
}

// assign gives a node its unit, if it has none, and notes what the unit takes from
// others, which come before it.
func (p *planner) assign(n *node) {
	u := p.unitOf[n]
	switch {
	case n.op == compute.OpTypeParameter || n.op == compute.OpTypeConstant || u == nil && looks[n.op]:
		return
	case u != nil && u.node != n:
		return // before a reduction, with which it is assigned
	case u != nil:
	case elementwise()[n.op]:
		u = p.group(n)
	default:
		u = p.unit(n, members{})
	}
	nodes := []*node{n}
	if u.node == n {
		nodes = u.all()
	}
	for _, n := range nodes {
		for _, in := range n.in {
			if from := p.unitOf[p.source(in)]; from != nil && from != u {
				u.from[from] = true
			}
		}
	}
}

// group puts an elementwise node to the youngest unit of its operands that none of
// the others waits for, or to one of its own.
func (p *planner) group(n *node) *unit {
	var best *unit
	for _, in := range n.in {
		u := p.unitOf[root(in)]
		if u != nil && u.node == nil && u.size == n.size() && (best == nil || u.id > best.id) && !p.through(u, n) {
			best = u
		}
	}
	if best == nil {
		best = &unit{members: members{size: n.size()}, from: map[*unit]bool{}}
		p.units = append(p.units, best)
	}
	best.nodes, best.id = append(best.nodes, n), n.id
	p.unitOf[n] = best
	return best
}

// through tells whether an operand of n outside unit u waits for u, or is a member that
// n sees in another order.
func (p *planner) through(u *unit, n *node) bool {
	return slices.ContainsFunc(n.in, func(in *node) bool {
		if p.unitOf[root(in)] == u && in.size() == u.size {
			return false
		}
		v := p.unitOf[p.source(in)]
		return v != nil && v.waits(u)
	})
}

// waits tells whether v is u or takes, perhaps by way of others, from it.
func (v *unit) waits(u *unit) bool {
	seen := map[*unit]bool{}
	var waits func(v *unit) bool
	waits = func(v *unit) bool {
		if v == u || seen[v] {
			return v == u
		}
		seen[v] = true
		for from := range v.from {
			if waits(from) {
				return true
			}
		}
		return false
	}
	return waits(v)
}

// sink moves programs whose results one other program alone takes to that one, where they
// stay in registers.
func (p *planner) sink() {
	p.units = slices.DeleteFunc(p.units, func(u *unit) bool {
		to := p.onlyTaker(u)
		if to == nil {
			return false
		}
		p.join(u, to)
		return true
	})
}

// onlyTaker is the program of u's size that takes all its results in their order, or nil.
func (p *planner) onlyTaker(u *unit) (only *unit) {
	if u.node != nil {
		return nil
	}
	for n := range p.results(u) {
		for _, t := range p.takers[n] {
			by := p.unitOf[t.by]
			if by == u && t.plain {
				continue
			}
			if by == nil || !t.plain || by.node != nil || by.size != u.size || only != nil && by != only {
				return nil
			}
			only = by
		}
	}
	return only
}

// fewPoured is from how many elements on a program is computed with the reduction behind it,
// which would read from memory what has just been written there: a reduction of fewer is
// cut into too few pieces for the workers. Tests lower it.
var fewPoured = 4 * grain

// pour moves programs to a reduction that takes their results, if nothing else that it
// takes waits for them. What others need of them is stored on the way.
func (p *planner) pour() {
	poured := map[*unit]bool{}
	for _, r := range p.units {
		if !p.reduces(r) || r.node.in[0].size() < fewPoured {
			continue
		}
		for _, u := range slices.SortedFunc(maps.Keys(r.from), func(a, b *unit) int { return a.id - b.id }) {
			if p.pours(u, r) {
				p.join(u, r)
				poured[u] = true
			}
		}
	}
	p.units = slices.DeleteFunc(p.units, func(u *unit) bool { return poured[u] })
}

func (p *planner) reduces(u *unit) bool { return u.node != nil && reductions[u.node.op] }

// pours tells whether reduction r can compute program u, whose elements it takes in their
// order.
func (p *planner) pours(u, r *unit) bool {
	if u.node != nil || u.size != r.node.in[0].size() {
		return false
	}
	for _, n := range u.nodes {
		for _, t := range p.takers[n] {
			if p.unitOf[t.by] == r && !t.plain {
				return false
			}
		}
	}
	for from := range r.from {
		if from != u && from.waits(u) {
			return false
		}
	}
	return true
}

// join moves the members of u to r.
func (p *planner) join(u, r *unit) {
	r.size = u.size
	r.nodes = append(r.nodes, u.nodes...)
	slices.SortFunc(r.nodes, func(a, b *node) int { return a.id - b.id })
	for _, n := range u.nodes {
		p.unitOf[n] = r
	}
	maps.Copy(r.from, u.from)
	delete(r.from, u)
	for _, v := range p.units {
		if v.from[u] && v != r {
			delete(v.from, u)
			v.from[r] = true
		}
	}
}

// order sorts the units so that each comes after those that it takes from, and
// otherwise as early as it was recorded.
func (p *planner) order() error {
	waits, next := map[*unit]int{}, map[*unit][]*unit{}
	for _, u := range p.units {
		waits[u] = len(u.from)
		for from := range u.from {
			next[from] = append(next[from], u)
		}
	}
	var ready queue
	for _, u := range p.units {
		if waits[u] == 0 {
			heap.Push(&ready, u)
		}
	}
	var sorted []*unit
	for len(ready) > 0 {
		u := heap.Pop(&ready).(*unit)
		sorted = append(sorted, u)
		for _, v := range next[u] {
			if waits[v]--; waits[v] == 0 {
				heap.Push(&ready, v)
			}
		}
	}
	if len(sorted) != len(p.units) {
		return fmt.Errorf("backend %s: %d of %d units wait for each other", Name, len(p.units)-len(sorted), len(p.units))
	}
	p.units = sorted
	return nil
}

// all are a unit's nodes.
func (u *unit) all() []*node {
	if u.node == nil {
		return u.nodes
	}
	return append(slices.Clone(u.nodes), u.node)
}

type queue []*unit

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].id < q[j].id }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*unit)) }
func (q *queue) Pop() any {
	u := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return u
}

// results are the members of a unit that somebody outside takes, with their views.
func (p *planner) results(u *unit) map[*node]view {
	out := map[*node]view{}
	for _, n := range u.nodes {
		for _, t := range p.takers[n] {
			if t.by == nil || p.unitOf[t.by] != u || !t.plain {
				out[n] = p.views[n]
			}
		}
	}
	return out
}

// written are the nodes of a unit that have a place in memory: its own, or those members
// that somebody outside takes.
func (p *planner) written(u *unit) []*node {
	out := slices.Collect(maps.Keys(p.results(u)))
	if u.node != nil {
		out = append(out, u.node)
	}
	return out
}

// taken are the slots that a unit reads.
func (p *planner) taken(u *unit) []int {
	slots := map[int]bool{}
	for _, n := range u.all() {
		for _, in := range n.in {
			if p.unitOf[p.source(in)] != u {
				slots[p.views[in].slot] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(slots))
}
