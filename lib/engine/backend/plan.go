// The planner: groups the nodes of a recorded computation into fused units and orders them.

package backend

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/compute"
)

// A plan is made in four passes: which nodes are computed together (units), their order, the
// memory of their values, and the steps. A value has the slot with its node's number.

// unit is the work of one step: a program, a program that ends in a reduction, or one other
// node.
type unit struct {
	members
	node *node // the node that is not elementwise; nil: a program only
	id   int   // the largest number of its nodes
	deps map[*unit]bool
}

// planner makes a plan of a function.
type planner struct {
	f          *function
	nodes      []*node // the nodes that an output depends on
	users      map[*node][]*node
	valueUsers map[*node][]valueUser
	unitOf     map[*node]*unit
	units      []*unit
	views      map[*node]view
	extra      int // slots beyond the nodes'
}

// valueUser is a node that uses a value, directly or through view operations. A nil node is
// the caller.
type valueUser struct {
	node    *node
	ordered bool // whether it uses the elements in their order
}

// keepsOrder reports whether a view operation keeps the order of the elements.
func keepsOrder(n *node) bool {
	switch n.op {
	case compute.OpTypeIdentity, compute.OpTypeReshape:
		return true
	case compute.OpTypeBroadcastInDim:
		return n.size() == n.in[0].size() && slices.IsSorted(n.attr.([]int))
	}
	return false
}

// skipReorderings follows order-preserving view operations to their source.
func skipReorderings(n *node) *node {
	for keepsOrder(n) {
		n = n.in[0]
	}
	return n
}

// storedSource follows view operations to the node whose memory they read.
func (p *planner) storedSource(n *node) *node {
	for viewOps[n.op] && p.unitOf[n] == nil {
		n = n.in[0]
	}
	return n
}

func plan(f *function) (*planner, error) {
	f.rewriteRowSums()
	p := &planner{f: f, users: f.uses(), unitOf: map[*node]*unit{}, views: map[*node]view{}, extra: len(f.nodes)}
	p.nodes = f.liveNodes(p.users)
	for _, n := range p.nodes {
		p.assignView(n)
	}
	p.valueUsers = map[*node][]valueUser{}
	for _, n := range p.nodes {
		p.addUsers(n, n, true)
	}
	for _, n := range p.nodes {
		if reductions[n.op] {
			p.unit(n, p.fusedOperands(n))
		}
	}
	for _, n := range p.nodes {
		p.assign(n)
	}
	p.shareSums()
	p.fuseIntoUsers()
	p.fuseIntoReductions()
	return p, p.sortUnits()
}

// assignView sets the view of a node. A view operation that strides cannot express becomes a
// unit that copies its operand.
func (p *planner) assignView(n *node) {
	if viewOps[n.op] {
		if v, ok := viewThrough(n, p.views[n.in[0]]); ok {
			p.views[n] = v
			return
		}
		p.unit(n, members{})
	}
	p.views[n] = denseView(n.id, n.shape.DType, n.shape.Dimensions)
}

func (p *planner) unit(n *node, m members) *unit {
	u := &unit{members: m, node: n, id: n.id, deps: map[*unit]bool{}}
	for _, member := range m.nodes {
		p.unitOf[member] = u
	}
	p.unitOf[n] = u
	p.units = append(p.units, u)
	return u
}

// addUsers records the users of n through the view at.
func (p *planner) addUsers(n, at *node, inOrder bool) {
	if slices.Contains(p.f.outputs, at) {
		p.valueUsers[n] = append(p.valueUsers[n], valueUser{nil, false})
	}
	for _, by := range p.users[at] {
		if viewOps[by.op] && p.unitOf[by] == nil {
			p.addUsers(n, by, inOrder && keepsOrder(by))
		} else {
			p.valueUsers[n] = append(p.valueUsers[n], valueUser{by, inOrder})
		}
	}
}

// fusedOperands returns the elementwise nodes whose only use is the reduction r.
func (p *planner) fusedOperands(r *node) members {
	m := members{size: r.in[0].size()}
	in := map[*node]bool{r: true}
	var take func(n *node)
	take = func(n *node) {
		n = skipReorderings(n)
		if !elementwise()[n.op] || n.size() != m.size || in[n] || p.unitOf[n] != nil {
			return
		}
		for _, t := range p.valueUsers[n] {
			if !t.ordered || !in[t.node] {
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
	if p.externalInputs(m) > maxExternalInputs {
		return members{}
	}
	slices.SortFunc(m.nodes, func(a, b *node) int { return a.id - b.id })
	return m
}

// maxExternalInputs is the largest number of values of other programs that a fused reduction
// may read. With more, it is better to compute its operand in one of these programs.
const maxExternalInputs = 3

// externalInputs returns the number of values that a program reads from other programs.
func (p *planner) externalInputs(m members) int {
	taken := map[*node]bool{}
	for _, n := range m.nodes {
		for _, in := range n.in {
			if in = skipReorderings(in); elementwise()[in.op] && in.size() == m.size && !slices.Contains(m.nodes, in) {
				taken[in] = true
			}
		}
	}
	return len(taken)
}

// assign puts a node into a unit, if it has none, and records the units that it depends on.
func (p *planner) assign(n *node) {
	u := p.unitOf[n]
	switch {
	case n.op == compute.OpTypeParameter || n.op == compute.OpTypeConstant || u == nil && viewOps[n.op]:
		return
	case u != nil && u.node != n:
		return // fused with a reduction
	case u != nil:
	case elementwise()[n.op]:
		u = p.joinOperandUnit(n)
	default:
		u = p.unit(n, members{})
	}
	nodes := []*node{n}
	if u.node == n {
		nodes = u.allNodes()
	}
	for _, n := range nodes {
		for _, in := range n.in {
			if from := p.unitOf[p.storedSource(in)]; from != nil && from != u {
				u.deps[from] = true
			}
		}
	}
}

// joinOperandUnit puts an elementwise node into the youngest unit of its operands on which
// no other operand depends, or into a new unit.
func (p *planner) joinOperandUnit(n *node) *unit {
	var best *unit
	for _, in := range n.in {
		u := p.unitOf[skipReorderings(in)]
		if u != nil && u.node == nil && u.size == n.size() && (best == nil || u.id > best.id) && !p.wouldCycle(u, n) {
			best = u
		}
	}
	if best == nil {
		best = &unit{members: members{size: n.size()}, deps: map[*unit]bool{}}
		p.units = append(p.units, best)
	}
	best.nodes, best.id = append(best.nodes, n), n.id
	p.unitOf[n] = best
	return best
}

// wouldCycle reports whether an operand of n outside unit u depends on u, or is a member of
// u that n reads in another order.
func (p *planner) wouldCycle(u *unit, n *node) bool {
	return slices.ContainsFunc(n.in, func(in *node) bool {
		if p.unitOf[skipReorderings(in)] == u && in.size() == u.size {
			return false
		}
		v := p.unitOf[p.storedSource(in)]
		return v != nil && v.dependsOn(u)
	})
}

// dependsOn reports whether v is u or depends on it, directly or through others.
func (v *unit) dependsOn(u *unit) bool {
	seen := map[*unit]bool{}
	var waits func(v *unit) bool
	waits = func(v *unit) bool {
		if v == u || seen[v] {
			return v == u
		}
		seen[v] = true
		for from := range v.deps {
			if waits(from) {
				return true
			}
		}
		return false
	}
	return waits(v)
}

// fuseIntoUsers moves a program whose results only one other program uses into that program,
// where they stay in registers.
func (p *planner) fuseIntoUsers() {
	p.units = slices.DeleteFunc(p.units, func(u *unit) bool {
		to := p.onlyUser(u)
		if to == nil {
			return false
		}
		p.merge(u, to)
		return true
	})
}

// onlyUser returns the program of u's size that is the only user of u's results, in their
// order, or nil.
func (p *planner) onlyUser(u *unit) (only *unit) {
	if u.node != nil {
		return nil
	}
	for n := range p.results(u) {
		for _, t := range p.valueUsers[n] {
			by := p.unitOf[t.node]
			if by == u && t.ordered {
				continue
			}
			if by == nil || !t.ordered || by.node != nil || by.size != u.size || only != nil && by != only {
				return nil
			}
			only = by
		}
	}
	return only
}

// minFused is the number of elements from which a program is fused into a reduction although
// others use its results. A smaller reduction is cut into too few pieces for the workers.
// Tests lower it.
var minFused = 4 * grain

// fuseIntoReductions moves programs into a reduction that uses their results, if none of its
// other operands depends on them. Results that others use are stored.
func (p *planner) fuseIntoReductions() {
	fused := map[*unit]bool{}
	for _, r := range p.units {
		if !p.isReduction(r) || r.node.in[0].size() < minFused {
			continue
		}
		for _, u := range slices.SortedFunc(maps.Keys(r.deps), func(a, b *unit) int { return a.id - b.id }) {
			if p.canFuse(u, r) {
				p.merge(u, r)
				fused[u] = true
			}
		}
	}
	p.units = slices.DeleteFunc(p.units, func(u *unit) bool { return fused[u] })
}

func (p *planner) isReduction(u *unit) bool { return u.node != nil && reductions[u.node.op] }

// canFuse reports whether program u can be fused into reduction r, which must use u's
// elements in their order.
func (p *planner) canFuse(u, r *unit) bool {
	if u.node != nil || u.size != r.node.in[0].size() {
		return false
	}
	for _, n := range u.nodes {
		for _, t := range p.valueUsers[n] {
			if p.unitOf[t.node] == r && !t.ordered {
				return false
			}
		}
	}
	for from := range r.deps {
		if from != u && from.dependsOn(u) {
			return false
		}
	}
	return true
}

// merge moves the members of u to r.
func (p *planner) merge(u, r *unit) {
	r.size = u.size
	r.nodes = append(r.nodes, u.nodes...)
	slices.SortFunc(r.nodes, func(a, b *node) int { return a.id - b.id })
	for _, n := range u.nodes {
		p.unitOf[n] = r
	}
	maps.Copy(r.deps, u.deps)
	delete(r.deps, u)
	for _, v := range p.units {
		if v.deps[u] && v != r {
			delete(v.deps, u)
			v.deps[r] = true
		}
	}
}

// sortUnits sorts the units topologically, and otherwise in the order of recording.
func (p *planner) sortUnits() error {
	waits, next := map[*unit]int{}, map[*unit][]*unit{}
	for _, u := range p.units {
		waits[u] = len(u.deps)
		for from := range u.deps {
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
		return fmt.Errorf("backend %s: %d of %d units depend on each other", Name, len(p.units)-len(sorted), len(p.units))
	}
	p.units = sorted
	return nil
}

// allNodes returns the nodes of a unit.
func (u *unit) allNodes() []*node {
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

// results returns the members of a unit that others use, with their views.
func (p *planner) results(u *unit) map[*node]view {
	out := map[*node]view{}
	for _, n := range u.nodes {
		for _, t := range p.valueUsers[n] {
			if t.node == nil || p.unitOf[t.node] != u || !t.ordered {
				out[n] = p.views[n]
			}
		}
	}
	return out
}

// nodesStored returns the nodes of a unit that are stored in memory: its node and the members
// that others use.
func (p *planner) nodesStored(u *unit) []*node {
	out := slices.Collect(maps.Keys(p.results(u)))
	if u.node != nil {
		out = append(out, u.node)
	}
	return out
}

// slotsRead returns the slots that a unit reads.
func (p *planner) slotsRead(u *unit) []int {
	slots := map[int]bool{}
	for _, n := range u.allNodes() {
		for _, in := range n.in {
			if p.unitOf[p.storedSource(in)] != u {
				slots[p.views[in].slot] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(slots))
}
