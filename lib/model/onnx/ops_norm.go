package onnx

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
)

// Normalisation operators.

// standardize returns x minus its mean along axes, divided by its standard deviation; and
// both.
func standardize(x *graph.Node, epsilon float64, axes ...int) (y, center, inverse *graph.Node) {
	dims := x.Shape().Dimensions
	center = graph.Reshape(mean(x, axes...), shapeWithOnes(dims, axes)...)
	y = graph.Sub(x, broadcast(center, dims))
	inverse = graph.Reshape(mean(graph.Mul(y, y), axes...), shapeWithOnes(dims, axes)...)
	inverse = graph.Div(constLike(inverse, 1), graph.Sqrt(graph.Add(inverse, constLike(inverse, epsilon))))
	return graph.Mul(y, broadcast(inverse, dims)), center, inverse
}

// batchNorm uses the running statistics, as in inference.
func batchNorm(o *op) *value {
	results := 0
	for _, name := range o.n.outputs {
		if name != "" {
			results++
		}
	}
	if results > 1 {
		fail("it is in training mode; export the network for inference")
	}
	dims := o.in[0].dims
	if len(dims) < 2 {
		fail("a value of %d axes", len(dims))
	}
	scale, shift, center, variance := o.perChannel(1, dims), o.perChannel(2, dims), o.perChannel(3, dims), o.perChannel(4, dims)
	factor := graph.Div(scale, graph.Sqrt(graph.Add(variance, constLike(variance, o.float("epsilon")))))
	y := graph.Add(graph.Mul(graph.Sub(o.inputNode(0), center), factor), shift)
	return computedValue(o.in[0].elem, y)
}

func instanceNorm(o *op) *value {
	_, _, spatial := o.imageDims()
	axes := fill(len(spatial), func(i int) int { return i + 2 })
	y, _, _ := standardize(o.inputNode(0), o.float("epsilon"), axes...)
	dims := o.in[0].dims
	return computedValue(o.in[0].elem, graph.Add(graph.Mul(y, o.perChannel(1, dims)), o.perChannel(2, dims)))
}

// groupNorm has a factor per group up to opset 20, and later one per channel.
func groupNorm(o *op) *value {
	records, channels, _ := o.imageDims()
	dims, groups := o.in[0].dims, o.int("num_groups")
	if groups < 1 || channels%groups != 0 {
		fail("%d groups of %d channels", groups, channels)
	}
	x := graph.Reshape(o.inputNode(0), records, groups, o.in[0].size()/(records*groups))
	y, _, _ := standardize(x, o.float("epsilon"), 2)
	if o.opset < 21 {
		y = graph.Add(graph.Mul(y, o.perChannel(1, y.Shape().Dimensions)), o.perChannel(2, y.Shape().Dimensions))
		return computedValue(o.in[0].elem, graph.Reshape(y, dims...))
	}
	y = graph.Reshape(y, dims...)
	return computedValue(o.in[0].elem, graph.Add(graph.Mul(y, o.perChannel(1, dims)), o.perChannel(2, dims)))
}

// layerNorm is over all axes from one on.
func layerNorm(o *op) []*value {
	v := o.in[0]
	axes := iotaList(v.rank())[o.axis(v.rank()):]
	y, center, inverse := standardize(o.inputNode(0), o.float("epsilon"), axes...)
	y = graph.Mul(y, broadcast(o.inputNode(1), v.dims))
	if o.hasInput(2) {
		y = graph.Add(y, broadcast(o.inputNode(2), v.dims))
	}
	return []*value{computedValue(v.elem, y), computedValue(float32s, center), computedValue(float32s, inverse)}
}

func rmsNorm(o *op) *value {
	v := o.in[0]
	axes := iotaList(v.rank())[o.axis(v.rank()):]
	x := o.inputNode(0)
	square := reduceKeeping(mean, graph.Mul(x, x), axes...)
	y := graph.Div(x, graph.Sqrt(graph.Add(square, constLike(square, o.float("epsilon")))))
	return computedValue(v.elem, graph.Mul(y, broadcast(o.inputNode(1), v.dims)))
}

// lpNorm divides by the norm along an axis; zeros stay zeros.
func lpNorm(o *op) *value {
	x := o.inputNode(0)
	norm := reduceKeeping(graph.ReduceSum, powers(x, float64(o.int("p"))), o.axis(o.in[0].rank()))
	norm = root(norm, float64(o.int("p")))
	none := graph.Equal(norm, constLike(norm, 0))
	return computedValue(o.in[0].elem, graph.Where(none, constLike(x, 0), graph.Div(x, graph.Where(none, constLike(norm, 1), norm))))
}

// responseNorm divides by the squares of neighbouring channels.
func responseNorm(o *op) *value {
	_, channels, _ := o.imageDims()
	size := o.int("size")
	if size < 1 || size > maxBytes {
		fail("its attribute size = %d", size)
	}
	x := o.inputNode(0)
	dims := o.in[0].dims
	rows := graph.Reshape(graph.Mul(x, x), dims[0], 1, channels, o.in[0].size()/max(1, dims[0]*channels))
	w := windows{size: []int{size, 1}, strides: []int{1, 1}, dilations: []int{1, 1},
		borders: [][2]int{{(size - 1) / 2, size / 2}, {}}, beyond: []int{0, 0}}
	sum := graph.Reshape(w.reduceWindows(rows, compute.ReduceOpSum), dims...)
	base := graph.Add(graph.Mul(sum, constLike(x, o.float("alpha")/float64(size))), constLike(x, o.float("bias")))
	return computedValue(o.in[0].elem, graph.Div(x, graph.Pow(base, constLike(x, o.float("beta")))))
}

// meanVariance standardises along axes.
func meanVariance(o *op) *value {
	v := o.in[0]
	axes := o.list("axes", -1, 0)
	if o.attribute("axes") == nil {
		axes = []int{0, 2, 3}
	}
	x := o.inputNode(0)
	axes = axesOf(slices.Clone(axes), v.rank())
	y := graph.Sub(x, reduceKeeping(mean, x, axes...))
	deviation := graph.Sqrt(reduceKeeping(mean, graph.Mul(y, y), axes...))
	return computedValue(v.elem, graph.Div(y, graph.Add(deviation, constLike(x, 1e-9))))
}
