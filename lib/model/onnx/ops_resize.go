package onnx

import (
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
)

// Resizing of images.

// resize takes sizes or factors, for all axes or for those named.
func resize(o *op) *value {
	v := o.in[0]
	axes := iotaList(v.rank())
	if o.hasAttribute("axes") && o.attribute("axes") != nil {
		axes = axesOf(o.list("axes", -1, 0), v.rank())
	}
	var factors []float64
	sizes := make([]int, len(axes))
	scales := 1
	if o.opset >= 11 {
		scales = 2
	}
	switch {
	case o.hasInput(3) && o.in[3].size() > 0:
		if o.hasInput(2) && o.in[2].size() > 0 {
			fail("it has both factors and sizes")
		}
		if sizes = o.ints(3); len(sizes) != len(axes) {
			fail("%d sizes of %d axes", len(sizes), len(axes))
		}
		for i, axis := range axes {
			factors = append(factors, float64(float32(sizes[i])/float32(v.dims[axis])))
		}
		o.keepAspect(axes, sizes, factors)
	case o.hasInput(scales):
		factors = o.numbers(scales)
	default:
		fail("it has neither factors nor sizes")
	}
	return o.resizeAxes(axes, sizes, factors)
}

// keepAspect makes all factors the smallest or the largest, if requested.
func (o *op) keepAspect(axes, sizes []int, factors []float64) {
	policy := "stretch"
	if o.hasAttribute("keep_aspect_ratio_policy") {
		policy = o.string("keep_aspect_ratio_policy")
	}
	f := slices.Min(factors)
	switch policy {
	case "stretch":
		return
	case "not_smaller":
		f = slices.Max(factors)
	}
	for i, axis := range axes {
		factors[i] = f
		sizes[i] = int(math.RoundToEven(float64(float32(f) * float32(o.in[0].dims[axis]))))
	}
}

// upsample has its factors in an attribute, or in an input.
func upsample(o *op) *value {
	var factors []float64
	if o.hasAttribute("scales") {
		factors = fill(len(o.attribute("scales").floats), func(i int) float64 { return float64(o.attribute("scales").floats[i]) })
	} else {
		factors = o.numbers(1)
	}
	for _, f := range factors {
		if f < 1 {
			fail("factors of %v", factors)
		}
	}
	return o.resizeAxes(iotaList(o.in[0].rank()), make([]int, len(factors)), factors)
}

// resizeAxes resizes one axis after the other. A size of 0 means that of the factor.
func (o *op) resizeAxes(axes, sizes []int, factors []float64) *value {
	v := o.in[0]
	if len(factors) != len(axes) {
		fail("%d factors of %d axes", len(factors), len(axes))
	}
	dims := slices.Clone(v.dims)
	for i, axis := range axes {
		f := factors[i]
		if !(f > 0) || f > maxBytes {
			fail("a factor of %v", f)
		}
		if sizes[i] == 0 {
			sizes[i] = int(float32(dims[axis]) * float32(f))
		}
		if dims[axis] = checkListSize(sizes[i]); sizes[i] < 1 {
			fail("a size of %d", sizes[i])
		}
	}
	checkSize(dims)
	x := o.inputNode(0)
	for i, axis := range axes {
		switch {
		case v.dims[axis] == sizes[i] && factors[i] == 1:
		case o.string("mode") == "nearest":
			x = o.nearest(x, axis, sizes[i], float32(factors[i]))
		default:
			x = o.interpolate(x, axis, sizes[i], float32(factors[i]))
		}
	}
	return computedValue(v.elem, x)
}

// sourceCoordinate returns the position of a result's element on an axis of n elements, in
// float32 as in onnxruntime.
func (o *op) sourceCoordinate(i, n, size int, f float32) float32 {
	how := "asymmetric"
	if o.hasAttribute("coordinate_transformation_mode") {
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
	case "tf_half_pixel_for_nn":
		return (x + 0.5) / f
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
	at := fill(size, func(i int) int64 {
		return int64(max(0, min(o.nearestIndex(o.sourceCoordinate(i, n, size, f), f), n-1)))
	})
	return takeAlong(x, o.nodeOf(knownValue(int64s, at, size)), axis)
}

// nearestIndex returns the nearest element. Before opset 11 it is the one before or, where
// images shrink, the one after.
func (o *op) nearestIndex(x, f float32) int {
	v := float64(x)
	if !o.hasAttribute("nearest_mode") {
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

// interpolationTaps are the source elements of a result's element, and their weights.
type interpolationTaps struct {
	at     []int
	shares []float64
}

// linearTaps returns two neighbours.
func linearTaps(x float32, n int) interpolationTaps {
	x = max(0, min(x, float32(n-1)))
	low := int(x)
	share := float64(x - float32(low))
	return interpolationTaps{[]int{low, min(low+1, n-1)}, []float64{1 - share, share}}
}

// cubicTaps returns four neighbours, weighted by Keys' cubic. Those outside are clamped to
// the last inside, or ignored.
func cubicTaps(x float32, n int, a float64, inside bool) interpolationTaps {
	first := math.Floor(float64(x))
	s := float64(x - float32(first))
	far := func(d float64) float64 { return ((a*d-5*a)*d+8*a)*d - 4*a }
	close := func(d float64) float64 { return ((a+2)*d-(a+3))*d*d + 1 }
	t := interpolationTaps{shares: []float64{far(s + 1), close(s), close(1 - s), far(2 - s)}}
	sum := 0.0
	for i := range t.shares {
		at := int(first) - 1 + i
		if inside && (at < 0 || at >= n) {
			t.shares[i] = 0
		}
		sum += t.shares[i]
		t.at = append(t.at, max(0, min(at, n-1)))
	}
	if inside {
		for i := range t.shares {
			t.shares[i] /= sum
		}
	}
	return t
}

// interpolate interpolates along an axis.
func (o *op) interpolate(x *graph.Node, axis, size int, f float32) *graph.Node {
	n := x.Shape().Dimensions[axis]
	all := fill(size, func(i int) interpolationTaps {
		at := o.sourceCoordinate(i, n, size, f)
		if o.string("mode") == "cubic" {
			return cubicTaps(at, n, o.float("cubic_coeff_a"), o.flag("exclude_outside"))
		}
		return linearTaps(at, n)
	})
	line := slices.Repeat([]int{1}, x.Rank())
	line[axis] = size
	var sum *graph.Node
	for k := range all[0].at {
		part := takeAlong(x, o.nodeOf(knownValue(int64s, fill(size, func(i int) int64 { return int64(all[i].at[k]) }), size)), axis)
		share := graph.ConvertDType(o.nodeOf(knownValue(float64s, fill(size, func(i int) float64 { return all[i].shares[k] }), size)), x.DType())
		part = graph.Mul(part, broadcast(graph.Reshape(share, line...), part.Shape().Dimensions))
		if sum == nil {
			sum = part
		} else {
			sum = graph.Add(sum, part)
		}
	}
	return sum
}
