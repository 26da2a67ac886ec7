package onnx

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// reducer reduces a node along axes, which vanish.
type reducer func(x *graph.Node, axes ...int) *graph.Node

// keepDims restores reduced axes with length 1, if keepdims is set.
func (o *op) keepDims(x *graph.Node, dims, axes []int) *graph.Node {
	if !o.flag("keepdims") {
		return x
	}
	return graph.Reshape(x, shapeWithOnes(dims, axes)...)
}

// shapeWithOnes returns a shape with length 1 at some axes.
func shapeWithOnes(dims, axes []int) []int {
	out := slices.Clone(dims)
	for _, a := range axes {
		out[a] = 1
	}
	return out
}

// reduceKeeping reduces and broadcasts the result to the operand's shape.
func reduceKeeping(f reducer, x *graph.Node, axes ...int) *graph.Node {
	dims := x.Shape().Dimensions
	return broadcast(graph.Reshape(f(x, axes...), shapeWithOnes(dims, axes)...), dims)
}

// reduction translates a reduction. Without axes it is over all, unless the operation asks
// for none: then each element is reduced by itself.
func reduction(f reducer) func(o *op) []*value {
	return singleResult(func(o *op) *value {
		v := o.in[0]
		axes := axesOf(o.axes(1), v.rank())
		if len(axes) == 0 {
			if o.hasAttribute("noop_with_empty_axes") && o.flag("noop_with_empty_axes") {
				return computedValue(v.elem, f(graph.Reshape(o.inputNode(0), append(slices.Clone(v.dims), 1)...), v.rank()))
			}
			axes = iotaList(v.rank())
		}
		if v.rank() == 0 {
			return computedValue(v.elem, f(graph.Reshape(o.inputNode(0), 1), 0))
		}
		return computedValue(v.elem, o.keepDims(f(o.inputNode(0), axes...), v.dims, axes))
	})
}

func count(x *graph.Node, axes []int) float64 {
	n := 1.0
	for _, a := range axes {
		n *= float64(x.Shape().Dimensions[a])
	}
	return n
}

func mean(x *graph.Node, axes ...int) *graph.Node {
	sum := graph.ReduceSum(x, axes...)
	return graph.Div(sum, constLike(sum, count(x, axes)))
}

func sumAbs(x *graph.Node, axes ...int) *graph.Node { return graph.ReduceSum(absolute(x), axes...) }

func sumSquare(x *graph.Node, axes ...int) *graph.Node {
	return graph.ReduceSum(graph.Mul(x, x), axes...)
}

// inFloats computes a reduction of integers in float64.
func inFloats(f func(x *graph.Node) *graph.Node, of reducer) reducer {
	return func(x *graph.Node, axes ...int) *graph.Node {
		sum := of(x, axes...)
		if sum.DType().IsFloat() {
			return f(sum)
		}
		return graph.ConvertDType(f(graph.ConvertDType(sum, dtypes.Float64)), sum.DType())
	}
}

// logSumExp subtracts the largest element first.
func logSumExp(x *graph.Node, axes ...int) *graph.Node {
	most := reduceKeeping(graph.ReduceMax, x, axes...)
	most = graph.Where(graph.IsFinite(most), most, constLike(most, 0))
	sum := graph.Log(graph.ReduceSum(graph.Exp(graph.Sub(x, most)), axes...))
	top := graph.ReduceMax(x, axes...)
	return graph.Add(sum, graph.Where(graph.IsFinite(top), top, constLike(top, 0)))
}

// reduceBools reduces booleans as numbers.
func reduceBools(f reducer) reducer {
	return func(x *graph.Node, axes ...int) *graph.Node {
		if x.DType() != dtypes.Bool {
			return f(x, axes...)
		}
		return graph.ConvertDType(f(graph.ConvertDType(x, dtypes.Uint8), axes...), dtypes.Bool)
	}
}

// alongAxis applies f along one axis. Before opset 13 softmax and related operators merge
// all axes from the named one on.
func alongAxis(f func(x *graph.Node, axis int) *graph.Node) func(o *op) []*value {
	return singleResult(func(o *op) *value {
		v := o.in[0]
		axis := o.axis(v.rank())
		x := o.inputNode(0)
		if o.opset >= 13 {
			return computedValue(v.elem, f(x, axis))
		}
		rows := 1
		for _, d := range v.dims[:axis] {
			rows *= d
		}
		return computedValue(v.elem, graph.Reshape(f(graph.Reshape(x, rows, v.size()/max(1, rows)), 1), v.dims...))
	})
}

func softmax(x *graph.Node, axis int) *graph.Node {
	e := graph.Exp(graph.Sub(x, reduceKeeping(graph.ReduceMax, x, axis)))
	return graph.Div(e, reduceKeeping(graph.ReduceSum, e, axis))
}

func logSoftmax(x *graph.Node, axis int) *graph.Node {
	y := graph.Sub(x, reduceKeeping(graph.ReduceMax, x, axis))
	return graph.Sub(y, graph.Log(reduceKeeping(graph.ReduceSum, graph.Exp(y), axis)))
}

// hardmax is 1 at the first of the largest elements.
func hardmax(x *graph.Node, axis int) *graph.Node {
	dims := x.Shape().Dimensions
	checkListSize(dims[axis])
	at := graph.Reshape(graph.ArgMax(x, axis, dtypes.Int64), shapeWithOnes(dims, []int{axis})...)
	line := graph.ConstTensor(x.Graph(), tensorOf(fill(dims[axis], func(i int) int64 { return int64(i) }), []int{dims[axis]}))
	shape := slices.Repeat([]int{1}, len(dims))
	shape[axis] = dims[axis]
	hit := graph.Equal(broadcast(at, dims), broadcast(graph.Reshape(line, shape...), dims))
	return graph.ConvertDType(hit, x.DType())
}
