package onnx

import (
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
)

// Images of another size.

// resize takes sizes or factors, of all axes or of those named.
func resize(o *op) *value {
	v := o.in[0]
	axes := seq(v.rank())
	if o.has("axes") && o.given("axes") != nil {
		axes = axesOf(o.list("axes", -1, 0), v.rank())
	}
	var factors []float64
	sizes := make([]int, len(axes))
	scales := 1
	if o.opset >= 11 {
		scales = 2
	}
	switch {
	case o.gives(3) && o.in[3].size() > 0:
		if o.gives(2) && o.in[2].size() > 0 {
			fail("it has both factors and sizes")
		}
		if sizes = o.ints(3); len(sizes) != len(axes) {
			fail("%d sizes of %d axes", len(sizes), len(axes))
		}
		for i, axis := range axes {
			factors = append(factors, float64(float32(sizes[i])/float32(v.dims[axis])))
		}
	case o.gives(scales):
		factors = o.numbers(scales)
	default:
		fail("it has neither factors nor sizes")
	}
	return o.scaled(axes, sizes, factors)
}

// upsample has its factors in an attribute, or in an input.
func upsample(o *op) *value {
	var factors []float64
	if o.has("scales") {
		factors = fill(len(o.given("scales").floats), func(i int) float64 { return float64(o.given("scales").floats[i]) })
	} else {
		factors = o.numbers(1)
	}
	for _, f := range factors {
		if f < 1 {
			fail("factors of %v", factors)
		}
	}
	return o.scaled(seq(o.in[0].rank()), make([]int, len(factors)), factors)
}

// scaled changes axes one after the other. A size of 0 is that of the factor.
func (o *op) scaled(axes, sizes []int, factors []float64) *value {
	v := o.in[0]
	if len(factors) != len(axes) {
		fail("%d factors of %d axes", len(factors), len(axes))
	}
	dims := slices.Clone(v.dims)
	for i, axis := range axes {
		f := factors[i]
		if !(f > 0) || f > most {
			fail("a factor of %v", f)
		}
		if sizes[i] == 0 {
			sizes[i] = int(float32(dims[axis]) * float32(f))
		}
		if dims[axis] = sizes[i]; sizes[i] < 1 {
			fail("a size of %d", sizes[i])
		}
	}
	room(dims)
	x := o.x(0)
	for i, axis := range axes {
		switch {
		case v.dims[axis] == sizes[i] && factors[i] == 1:
		case o.string("mode") == "nearest":
			x = o.nearest(x, axis, sizes[i], float32(factors[i]))
		default:
			x = o.linear(x, axis, sizes[i], float32(factors[i]))
		}
	}
	return made(v.elem, x)
}

// source is where an element of the result lies on an axis of n elements, in float32 as
// onnxruntime has it.
func (o *op) source(i, n, size int, f float32) float32 {
	how := "asymmetric"
	if o.has("coordinate_transformation_mode") {
		how = o.string("coordinate_transformation_mode")
	}
	x := float32(i)
	switch how {
	case "half_pixel":
		return (x+0.5)/f - 0.5
	case "pytorch_half_pixel":
		if size == 1 {
			return 0
		}
		return (x+0.5)/f - 0.5
	case "align_corners":
		if size == 1 {
			return 0
		}
		return x * float32(n-1) / float32(size-1)
	case "half_pixel_symmetric":
		adjust := float32(size) / (f * float32(n))
		center := float32(n) / 2
		return center*(1-adjust) + (x+0.5)/f - 0.5
	}
	return x / f
}

func (o *op) nearest(x *graph.Node, axis, size int, f float32) *graph.Node {
	n := x.Shape().Dimensions[axis]
	at := fill(size, func(i int) int64 { return int64(max(0, min(o.rounded(o.source(i, n, size, f), f), n-1))) })
	return taken(x, o.of(known(int64s, at, size)), axis)
}

// rounded is the element that is nearest. Before opset 11 it is the one before, or, where
// images shrink, the one behind.
func (o *op) rounded(x, f float32) int {
	v := float64(x)
	if !o.has("nearest_mode") {
		if f < 1 {
			return int(math.Ceil(v))
		}
		return int(v)
	}
	switch o.string("nearest_mode") {
	case "floor":
		return int(math.Floor(v))
	case "ceil":
		return int(math.Ceil(v))
	case "round_prefer_ceil":
		return int(math.Floor(v + 0.5))
	}
	return int(math.Ceil(v - 0.5))
}

// linear mixes two neighbours.
func (o *op) linear(x *graph.Node, axis, size int, f float32) *graph.Node {
	n := x.Shape().Dimensions[axis]
	low, high, share := make([]int64, size), make([]int64, size), make([]float64, size)
	for i := range size {
		at := max(0, min(o.source(i, n, size, f), float32(n-1)))
		low[i] = int64(at)
		high[i] = min(low[i]+1, int64(n-1))
		share[i] = float64(at - float32(low[i]))
	}
	a, b := taken(x, o.of(known(int64s, low, size)), axis), taken(x, o.of(known(int64s, high, size)), axis)
	line := slices.Repeat([]int{1}, x.Rank())
	line[axis] = size
	w := graph.ConvertDType(o.of(known(float64s, share, size)), x.DType())
	w = broadcast(graph.Reshape(w, line...), a.Shape().Dimensions)
	return graph.Add(graph.Mul(a, graph.Sub(c(w, 1), w)), graph.Mul(b, w))
}
