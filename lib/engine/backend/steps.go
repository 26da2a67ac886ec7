package backend

import (
	"slices"

	"github.com/gomlx/compute"
)

// stepMaker returns the steps of a node that is not elementwise, and the size in bytes of
// the scratch slots that they need.
type stepMaker func(p *planner, n *node) (steps []step, scratch map[int]int, err error)

// stepMakers has the operations that are not elementwise.
var stepMakers = map[compute.OpType]stepMaker{}

func init() {
	for op := range viewOps {
		stepMakers[op] = layOut
	}
	for op := range reductions {
		stepMakers[op] = nil // see planner.reduction
	}
}

// steps returns the steps of a unit.
func (p *planner) steps(u *unit) ([]step, map[int]int, error) {
	switch {
	case u.node == nil:
		w, _, err := compileProgram(u.members, p.view, p.results(u))
		if err == nil {
			w.assignRegisters(-1)
		}
		return []step{w}, nil, err
	case reductions[u.node.op]:
		r, err := p.reduction(u)
		return []step{r}, nil, err
	}
	make := stepMakers[u.node.op]
	if make == nil {
		return nil, nil, missing(u.node.op)
	}
	return make(p, u.node)
}

func (p *planner) view(n *node) view { return p.views[n] }

// reduction returns the step of a reduction, with the program that computes its operand.
func (p *planner) reduction(u *unit) (*reduction, error) {
	in := u.node.in[0]
	r := &reduction{
		fold: folds[kernelKey{u.node.op, in.shape.DType}], to: p.views[u.node], dtype: in.shape.DType,
		groups: mergeGroups(in.shape.Dimensions, u.node.attr.([]int)),
	}
	if len(u.nodes) == 0 {
		w := newProgramBuilder(in.size())
		r.result = w.load(p.views[in])
		w.assignRegisters(r.result)
		r.source = &w.program
		return r, nil
	}
	w, known, err := compileProgram(u.members, p.view, p.results(u))
	if err != nil {
		return nil, err
	}
	r.result = known[skipReorderings(in)]
	w.assignRegisters(r.result)
	r.source = w
	return r, nil
}

// layOut returns the step that copies the operand of a view operation.
func layOut(p *planner, n *node) ([]step, map[int]int, error) {
	from := p.views[n.in[0]]
	return []step{denseCopy(from, denseView(n.id, n.shape.DType, from.dims))}, nil, nil
}

// newSlot returns a new slot that is no node's.
func (p *planner) newSlot() int {
	p.extra++
	return p.extra - 1
}

// window returns a part of a dense tensor: every strides-th element from starts on.
func (v view) window(starts, strides, dims []int) view {
	v.strides = slices.Clone(v.strides)
	for i := range v.strides {
		v.start += starts[i] * v.strides[i]
		v.strides[i] *= strides[i]
	}
	v.dims = dims
	return v
}

func init() {
	stepMakers[compute.OpTypeConcatenate] = func(p *planner, n *node) (steps []step, _ map[int]int, _ error) {
		axis, at := n.attr.(int), 0
		to := p.views[n]
		for _, in := range n.in {
			starts := make([]int, len(to.dims))
			starts[axis] = at
			at += in.shape.Dimensions[axis]
			steps = append(steps, viewCopy{p.views[in], to.window(starts, ones(len(to.dims)), in.shape.Dimensions)})
		}
		return steps, nil, nil
	}
	stepMakers[compute.OpTypePad] = func(p *planner, n *node) ([]step, map[int]int, error) {
		from, to := p.views[n.in[0]], p.views[n]
		fill := denseCopy(p.views[n.in[1]].broadcast(to.dims), to)
		starts, strides, dims := make([]int, len(to.dims)), ones(len(to.dims)), slices.Clone(from.dims)
		cut := from
		for i, a := range n.attr.([]compute.PadAxis) {
			strides[i] = a.Interior + 1
			starts[i] = a.Start
			// Negative padding removes elements.
			skip := 0
			if a.Start < 0 {
				skip = (-a.Start + a.Interior) / (a.Interior + 1)
				starts[i] = skip*strides[i] + a.Start
			}
			fit := 0
			if space := to.dims[i] - starts[i]; space > 0 {
				fit = (space-1)/strides[i] + 1
			}
			dims[i] = max(0, min(from.dims[i]-skip, fit))
			cut.start += skip * from.strides[i]
		}
		cut.dims = dims
		return []step{fill, viewCopy{cut, to.window(starts, strides, dims)}}, nil, nil
	}
}

func ones(n int) []int { return slices.Repeat([]int{1}, n) }
