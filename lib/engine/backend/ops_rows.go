// Sums of a matrix and of rows that are scattered over zeros, as the gradient of an embedding that is also a
// network's last layer: only the rows that occur are added.

package backend

import (
	"slices"
	"unsafe"

	"github.com/gomlx/compute"
)

// opAddRows is Add(x, ScatterSum(0, indices, updates)) where each update is a row: its operands are x, indices
// and updates. Elements have the bits of that sum, but for the sign of 0.
const opAddRows compute.OpType = -3

// rewriteRowSums replaces sums by opAddRows. It is one pass before the plan.
func (f *function) rewriteRowSums() {
	users := f.uses()
	for _, n := range f.nodes {
		if n.op != compute.OpTypeAdd {
			continue
		}
		for k, sum := range n.in {
			if x := n.in[1-k]; sum != x && sum.scattersRows() && len(users[sum]) == 1 && !slices.Contains(f.outputs, sum) &&
				slices.Equal(x.shape.Dimensions, n.shape.Dimensions) {
				n.op, n.in, n.attr = opAddRows, []*node{x, sum.in[1], sum.in[2]}, sum.attr
				break
			}
		}
	}
}

// scattersRows reports whether n adds rows to a matrix of zeros.
func (n *node) scattersRows() bool {
	if n.op != compute.OpTypeScatterSum || len(n.shape.Dimensions) != 2 || len(n.in[2].shape.Dimensions) != 2 {
		return false
	}
	l := n.attr.(lookup)
	whole := slices.Equal(l.starts, []int{0}) && slices.Equal(l.dropped, []int{0}) && slices.Equal(l.offsets, []int{1}) &&
		l.size[1] == n.shape.Dimensions[1]
	return whole && n.in[0].isZero()
}

// isZero reports whether n is a constant of zeros, repeated or not.
func (n *node) isZero() bool {
	for viewOps[n.op] {
		n = n.in[0]
	}
	c, ok := n.attr.(constant)
	return ok && !slices.ContainsFunc(unsafe.Slice((*byte)(c.data()), n.size()*int(n.shape.DType.Size())), func(b byte) bool { return b != 0 })
}

// shareSums lets the one operation that makes x write into the memory of x plus rows, where that is a result of
// the whole computation, which has its memory from the start.
func (p *planner) shareSums() {
	for _, n := range p.nodes {
		if n.op != opAddRows || !slices.Contains(p.f.outputs, n) {
			continue
		}
		x := n.in[0]
		if u := p.unitOf[x]; u != nil && u.node == x && !viewOps[x.op] && len(p.users[x]) == 1 && !slices.Contains(p.f.outputs, x) {
			p.views[x] = p.views[n]
		}
	}
}

func init() {
	stepMakers[opAddRows] = func(p *planner, n *node) (steps []step, scratch map[int]int, err error) {
		to, updates := p.views[n], p.views[n.in[2]]
		if x := p.views[n.in[0]]; x.slot != to.slot {
			steps = append(steps, denseCopy(x, to))
		}
		own := denseView(p.newSlot(), updates.dtype, updates.dims)
		scratch = map[int]int{own.slot: updates.size() * int(updates.dtype.Size())}
		l := lookupViews{n.attr.(lookup), to, p.views[n.in[1]], own}
		return append(steps, denseCopy(updates, own), addRows{l, scatterOps[kernelKey{compute.OpTypeScatterSum, to.dtype}]}), scratch, nil
	}
}

// addRows adds up the rows with one index in the first of them, in their order, and adds these to the matrix.
// Workers share the columns.
type addRows struct {
	lookupViews
	into combine
}

func (s addRows) run(x *execution) {
	count, width := s.other.dims[0], s.other.dims[1]
	rows, first := make([]int, count), make([]int, count)
	seen, starts, read := map[int]int{}, make([]int, 2), indexOf[s.indices.dtype]
	for i := range rows {
		if rows[i], first[i] = -1, i; !s.readStarts(x, read, []int{i}, starts) {
			continue // a row outside is skipped
		}
		rows[i] = starts[0]
		if at, ok := seen[rows[i]]; ok {
			first[i] = at
		} else {
			seen[rows[i]] = i
		}
	}
	x.parallel(width, max(1, grain/max(1, 2*count)), func(from, to int) {
		for i := range rows {
			if rows[i] >= 0 && first[i] != i {
				s.into(x.viewPtr(s.other, first[i]*width+from), x.viewPtr(s.other, i*width+from), to-from, 1, 1)
			}
		}
		for i, row := range rows {
			if row >= 0 && first[i] == i {
				s.into(x.viewPtr(s.x, row*width+from), x.viewPtr(s.other, i*width+from), to-from, 1, 1)
			}
		}
	})
}
