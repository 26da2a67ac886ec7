package onnx

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// Quantisation operators.

// perAxis returns an input's factors, or zero points, broadcast to the first input: one for
// all, or one per element of an axis.
func (o *op) perAxis(i int) *graph.Node {
	v, dims := o.in[i], o.in[0].dims
	if v.size() == 1 {
		return broadcast(graph.Reshape(o.inputNode(i)), dims)
	}
	axis := 1
	if o.hasAttribute("axis") {
		axis = o.int("axis")
	}
	axis = axisOf(axis, len(dims))
	if !slices.Equal(v.dims, []int{dims[axis]}) || !o.hasAttribute("axis") {
		fail("its input %d is of shape %v, for a value of shape %v", i, v.dims, dims)
	}
	line := slices.Repeat([]int{1}, len(dims))
	line[axis] = dims[axis]
	return broadcast(graph.Reshape(o.inputNode(i), line...), dims)
}

// outputType returns the type that an attribute asks for, or the fallback.
func (o *op) outputType(fallback elem) elem {
	if o.hasAttribute("output_dtype") && o.int("output_dtype") != 0 {
		return elem(o.int("output_dtype"))
	}
	return fallback
}

// dequantized is (x - zero point) * factor.
func dequantized(o *op) *value {
	e := o.outputType(o.in[1].elem)
	if !e.isFloat() {
		fail("numbers of type %s", e)
	}
	x := graph.ConvertDType(o.inputNode(0), dtypes.Float32)
	if o.hasInput(2) {
		x = graph.Sub(x, graph.ConvertDType(o.perAxis(2), dtypes.Float32))
	}
	x = graph.Mul(x, graph.ConvertDType(o.perAxis(1), dtypes.Float32))
	return computedValue(e, graph.ConvertDType(x, e.dtype()))
}

// quantized is x / factor, rounded to even, plus the zero point, clamped to the type.
func quantized(o *op) *value {
	e := o.outputType(uint8s)
	if o.hasInput(2) {
		e = o.outputType(o.in[2].elem)
		if e != o.in[2].elem {
			fail("a zero point of type %s for numbers of type %s", o.in[2].elem, e)
		}
	}
	bytes := storages[e].bytes
	if !e.isInteger() || bytes > 2 {
		fail("numbers of type %s", e)
	}
	x := graph.Div(graph.ConvertDType(o.inputNode(0), dtypes.Float32), graph.ConvertDType(o.perAxis(1), dtypes.Float32))
	x = graph.Round(x)
	if o.hasInput(2) {
		x = graph.Add(x, graph.ConvertDType(o.perAxis(2), dtypes.Float32))
	}
	low, high := 0.0, float64(int(1)<<(8*bytes)-1)
	if !e.dtype().IsUnsigned() {
		low, high = -(high+1)/2, (high-1)/2
	}
	return computedValue(e, graph.ConvertDType(graph.Max(graph.Min(x, constLike(x, high)), constLike(x, low)), e.dtype()))
}

// matMulInteger multiplies integers minus their zero points, in int32.
func matMulInteger(o *op) *value {
	side := func(i, zero int) *graph.Node {
		x := graph.ConvertDType(o.inputNode(i), dtypes.Int32)
		if x.Rank() < 2 {
			fail("a value of %d axes", x.Rank())
		}
		if !o.hasInput(zero) {
			return x
		}
		z := graph.ConvertDType(o.inputNode(zero), dtypes.Int32)
		if o.in[zero].size() != 1 {
			if i == 0 || o.in[zero].rank() != 1 {
				fail("its input %d of shape %v is not implemented", zero, o.in[zero].dims)
			}
			return graph.Sub(x, broadcast(z, o.in[i].dims))
		}
		return graph.Sub(x, broadcast(graph.Reshape(z), o.in[i].dims))
	}
	return computedValue(int32s, batchMatMul(side(0, 2), side(1, 3)))
}
