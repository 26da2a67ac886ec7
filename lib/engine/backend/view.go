package backend

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// view is a tensor in a slot: element (i, j, ...) is at start + i strides[0] +
// j strides[1] + ..., counted in elements.
type view struct {
	slot    int
	start   int
	dtype   dtypes.DType
	dims    []int
	strides []int
}

// rowMajor returns the strides of a dense tensor.
func rowMajor(dims []int) []int {
	strides, step := make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = step
		step *= dims[i]
	}
	return strides
}

func denseView(slot int, of dtypes.DType, dims []int) view {
	return view{slot: slot, dtype: of, dims: dims, strides: rowMajor(dims)}
}

// element is an element of a slot, with its size in bytes.
type element struct{ slot, start, bytes int }

func (v view) first() element { return element{v.slot, v.start, int(v.dtype.Size())} }

func (v view) size() int { return product(v.dims) }

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// dense reports whether the elements are contiguous and in order.
func (v view) dense() bool {
	step := 1
	for i := len(v.dims) - 1; i >= 0; i-- {
		if v.dims[i] != 1 && v.strides[i] != step {
			return false
		}
		step *= v.dims[i]
	}
	return true
}

// constant reports whether all elements are the same one.
func (v view) constant() bool {
	for i, d := range v.dims {
		if d != 1 && v.strides[i] != 0 {
			return false
		}
	}
	return true
}

// viewThrough returns the view of a view operation on its operand's view v; false if strides
// cannot express it.
func viewThrough(n *node, v view) (view, bool) {
	out := v
	out.dims = n.shape.Dimensions
	switch n.op {
	case compute.OpTypeIdentity:
	case compute.OpTypeTranspose:
		out.strides = make([]int, len(out.dims))
		for i, from := range n.attr.([]int) {
			out.strides[i] = v.strides[from]
		}
	case compute.OpTypeBroadcastInDim:
		out.strides = make([]int, len(out.dims))
		for i, to := range n.attr.([]int) {
			if v.dims[i] == out.dims[to] {
				out.strides[to] = v.strides[i]
			}
		}
	case compute.OpTypeSlice:
		s := n.attr.(slice)
		out.strides = slices.Clone(v.strides)
		for i := range out.strides {
			out.start += s.starts[i] * v.strides[i]
			out.strides[i] *= s.strides[i]
		}
	case compute.OpTypeReverse:
		out.strides = slices.Clone(v.strides)
		for _, i := range n.attr.([]int) {
			out.start += (v.dims[i] - 1) * v.strides[i]
			out.strides[i] = -v.strides[i]
		}
	case opWindow:
		return windowView(v, n.attr.(window), out.dims), true
	case compute.OpTypeReshape:
		strides, ok := reshapeStrides(v, out.dims)
		out.strides = strides
		return out, ok
	}
	return out, true
}

// viewOps are the operations of viewThrough.
var viewOps = map[compute.OpType]bool{
	compute.OpTypeIdentity: true, compute.OpTypeTranspose: true, compute.OpTypeBroadcastInDim: true, compute.OpTypeSlice: true,
	compute.OpTypeReverse: true, compute.OpTypeReshape: true,
}

// mergeAxes merges neighbouring axes that are contiguous in all the strides, and drops axes
// of one element.
func mergeAxes(dims []int, strides ...[]int) ([]int, [][]int) {
	var d []int
	s := make([][]int, len(strides))
	for i, n := range dims {
		if n == 1 {
			continue
		}
		last, joins := len(d)-1, len(d) > 0
		for k := range strides {
			joins = joins && s[k][last] == n*strides[k][i]
		}
		if joins {
			d[last] *= n
		} else {
			d = append(d, n)
		}
		for k := range strides {
			if joins {
				s[k][last] = strides[k][i]
			} else {
				s[k] = append(s[k], strides[k][i])
			}
		}
	}
	return d, s
}

// reshapeStrides returns the strides of a view with other dims; false if there are none.
func reshapeStrides(v view, dims []int) ([]int, bool) {
	if v.size() == 0 {
		return rowMajor(dims), true
	}
	from, s := mergeAxes(v.dims, v.strides)
	strides := make([]int, len(dims))
	k, left := len(from)-1, 1 // the rest of axis k of from
	step := 0
	if k >= 0 {
		left, step = from[k], s[0][k]
	}
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] == 1 {
			continue
		}
		if left == 1 {
			k--
			left, step = from[k], s[0][k]
		}
		if left%dims[i] != 0 {
			return nil, false
		}
		strides[i] = step
		step *= dims[i]
		left /= dims[i]
	}
	return strides, true
}

// broadcast returns a view with the dims of an elementwise operation's result.
func (v view) broadcast(dims []int) view {
	strides := make([]int, len(dims))
	if len(v.dims) == len(dims) {
		for i, d := range v.dims {
			if d == dims[i] {
				strides[i] = v.strides[i]
			}
		}
	}
	v.dims, v.strides = dims, strides
	return v
}
