// Elementwise operators.

package onnx

import (
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// inputNode returns an input's node.
func (o *op) inputNode(i int) *graph.Node { return o.nodeOf(o.in[i]) }

// constLike returns a constant of the type and shape of another node.
func constLike(like *graph.Node, v float64) *graph.Node {
	return broadcast(graph.Scalar(like.Graph(), like.DType(), v), like.Shape().Dimensions)
}

// broadcast broadcasts a value to a shape, by NumPy's rules.
func broadcast(x *graph.Node, dims []int) *graph.Node {
	have := x.Shape().Dimensions
	if slices.Equal(have, dims) {
		return x
	}
	if len(have) > len(dims) {
		fail("a value of shape %v where one of shape %v is needed", have, dims)
	}
	full := append(slices.Repeat([]int{1}, len(dims)-len(have)), have...)
	for i, d := range full {
		if d != dims[i] && d != 1 {
			fail("a value of shape %v where one of shape %v is needed", have, dims)
		}
	}
	checkSize(dims)
	return graph.BroadcastToDims(graph.Reshape(x, full...), dims...)
}

// checkSize refuses a shape that is too large.
func checkSize(dims []int) []int {
	n, err := product(dims)
	if err != nil {
		failLarge("%v", err)
	}
	if n > maxValueBytes {
		failLarge("its shape %v is too large (at most %d GiB)", dims, maxValueBytes>>30)
	}
	return dims
}

// maxListed is the maximum length of lists built during translation: of positions, or of
// source elements when resizing images.
const maxListed = 1 << 22

// checkListSize refuses a longer list.
func checkListSize(n int) int {
	if n > maxListed {
		fail("a list of %d numbers; at most %d are supported", n, maxListed)
	}
	return n
}

// broadcastShape returns the shape that shapes broadcast to, by NumPy's rules.
func broadcastShape(shapes ...[]int) []int {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := slices.Repeat([]int{1}, rank)
	for _, s := range shapes {
		for i, d := range s {
			at := &out[rank-len(s)+i]
			if *at != d && *at != 1 && d != 1 {
				fail("shapes %v cannot be broadcast together", shapes)
			}
			if *at == 1 {
				*at = d
			}
		}
	}
	return checkSize(out)
}

// broadcastInputs returns all inputs, broadcast to one shape.
func (o *op) broadcastInputs() []*graph.Node {
	var shapes [][]int
	for i, v := range o.in {
		if v == nil {
			fail("its input %d is missing", i)
		}
		shapes = append(shapes, v.dims)
	}
	dims := broadcastShape(shapes...)
	out := make([]*graph.Node, len(o.in))
	for i := range o.in {
		out[i] = broadcast(o.inputNode(i), dims)
	}
	return out
}

// singleResult translates an operator with one result.
func singleResult(f func(o *op) *value) func(o *op) []*value {
	return func(o *op) []*value { return []*value{f(o)} }
}

// elementwiseUnary translates an elementwise operator of one input.
func elementwiseUnary(f func(x *graph.Node) *graph.Node) func(o *op) []*value {
	return singleResult(func(o *op) *value { return computedValue(o.in[0].elem, f(o.inputNode(0))) })
}

// unaryWithAttrs translates a unary operator with attributes.
func unaryWithAttrs(f func(o *op, x *graph.Node) *graph.Node) func(o *op) []*value {
	return singleResult(func(o *op) *value { return computedValue(o.in[0].elem, f(o, o.inputNode(0))) })
}

// elementwiseBinary translates an operator of two inputs, by the rules of its opset.
func elementwiseBinary(f func(a, b *graph.Node) *graph.Node) func(o *op) []*value {
	return singleResult(func(o *op) *value {
		a, b := o.inputPair()
		return computedValue(o.in[0].elem, f(a, b))
	})
}

// comparison translates a binary operator with a boolean result.
func comparison(f func(a, b *graph.Node) *graph.Node) func(o *op) []*value {
	return singleResult(func(o *op) *value {
		a, b := o.inputPair()
		return computedValue(bools, f(a, b))
	})
}

// inputPair returns two inputs of one shape. Before opset 7 the second is broadcast to the
// first if an attribute asks for it, starting at an axis.
func (o *op) inputPair() (a, b *graph.Node) {
	if !o.hasAttribute("broadcast") {
		both := o.broadcastInputs()
		return both[0], both[1]
	}
	a, b = o.inputNode(0), o.inputNode(1)
	if !o.flag("broadcast") {
		if !slices.Equal(o.in[0].dims, o.in[1].dims) {
			fail("shapes %v and %v differ, and it does not ask for a broadcast", o.in[0].dims, o.in[1].dims)
		}
		return a, b
	}
	rank, dims := o.in[0].rank(), o.in[1].dims
	at := rank - len(dims)
	if o.attribute("axis") != nil {
		at = axisOf(o.int("axis"), rank)
	}
	if at < 0 || at+len(dims) > rank {
		fail("shapes %v and %v cannot be broadcast together", o.in[0].dims, dims)
	}
	full := slices.Concat(slices.Repeat([]int{1}, at), dims, slices.Repeat([]int{1}, rank-at-len(dims)))
	return a, broadcast(graph.Reshape(b, full...), o.in[0].dims)
}

// variadic folds inputs from the left.
func variadic(f func(a, b *graph.Node) *graph.Node) func(o *op) []*value {
	return singleResult(func(o *op) *value {
		in := o.broadcastInputs()
		if o.opset < 8 {
			for _, v := range o.in {
				if !slices.Equal(v.dims, o.in[0].dims) {
					fail("in opset %d its inputs must have the same shape", o.opset)
				}
			}
		}
		out := in[0]
		for _, x := range in[1:] {
			out = f(out, x)
		}
		return computedValue(o.in[0].elem, out)
	})
}

func meanOf(o *op) *value {
	sum := variadic(graph.Add)(o)[0]
	return computedValue(sum.elem, graph.Div(sum.node, constLike(sum.node, float64(len(o.in)))))
}

// quotient rounds a quotient of integers towards zero; a divisor of zero is refused.
func quotient(o *op) *value {
	a, b := o.inputPair()
	if o.in[0].elem.isInteger() {
		o.requireAlways(graph.NotEqual(b, constLike(b, 0)), "a whole number is divided by zero")
	}
	return computedValue(o.in[0].elem, graph.Div(a, b))
}

// modulo has the sign of the divisor for integers, and of the dividend with fmod.
func modulo(o *op) *value {
	a, b := o.inputPair()
	whole := o.in[0].elem.isInteger()
	if !whole && !o.flag("fmod") {
		fail("for floats its attribute fmod must be 1")
	}
	if whole {
		o.requireAlways(graph.NotEqual(b, constLike(b, 0)), "a whole number is divided by zero")
	}
	rest := graph.Rem(a, b)
	if o.flag("fmod") || o.in[0].elem.dtype().IsUnsigned() {
		return computedValue(o.in[0].elem, rest)
	}
	zero := constLike(rest, 0)
	other := graph.LogicalXor(graph.LessThan(rest, zero), graph.LessThan(b, zero))
	other = graph.LogicalAnd(other, graph.NotEqual(rest, zero))
	return computedValue(o.in[0].elem, graph.Where(other, graph.Add(rest, b), rest))
}

// power is computed in float64 if an integer is involved, as in onnxruntime.
func power(o *op) *value {
	a, b := o.inputPair()
	e := o.in[0].elem
	if e == o.in[1].elem && e.isFloat() {
		return computedValue(e, graph.Pow(a, b))
	}
	wide := graph.Pow(graph.ConvertDType(a, dtypes.Float64), graph.ConvertDType(b, dtypes.Float64))
	return computedValue(e, graph.ConvertDType(wide, e.dtype()))
}

// selectWhere selects between two values by a condition.
func selectWhere(o *op) *value {
	in := o.broadcastInputs()
	return computedValue(o.in[1].elem, graph.Where(in[0], in[1], in[2]))
}

// clip clamps a value between two bounds; if the lower bound exceeds the upper one, the
// upper one counts.
func clip(o *op) *value {
	x := o.inputNode(0)
	bound := func(i int, name string, f func(a, b *graph.Node) *graph.Node) {
		switch {
		case o.hasAttribute(name):
			x = f(x, constLike(x, o.float(name)))
		case o.hasInput(i):
			if o.in[i].size() != 1 {
				fail("its input %d is not a single number", i)
			}
			x = f(x, broadcast(graph.Reshape(o.inputNode(i)), o.in[0].dims))
		}
	}
	bound(1, "min", graph.Max)
	bound(2, "max", graph.Min)
	return computedValue(o.in[0].elem, x)
}

func relu(x *graph.Node) *graph.Node { return graph.Max(x, constLike(x, 0)) }

func absolute(x *graph.Node) *graph.Node {
	if x.DType().IsUnsigned() {
		return graph.Identity(x)
	}
	return graph.Abs(x)
}

func signum(x *graph.Node) *graph.Node {
	if x.DType().IsUnsigned() {
		return graph.Min(x, constLike(x, 1))
	}
	return graph.Sign(x)
}

func reciprocal(x *graph.Node) *graph.Node { return graph.Div(constLike(x, 1), x) }
func tangent(x *graph.Node) *graph.Node    { return graph.Div(graph.Sin(x), graph.Cos(x)) }
func arctan(x *graph.Node) *graph.Node     { return graph.Atan2(x, constLike(x, 1)) }

// cathetus returns sqrt(1 - x^2), the other leg of a right triangle with hypotenuse 1.
func cathetus(x *graph.Node) *graph.Node {
	return graph.Sqrt(graph.Mul(graph.Sub(constLike(x, 1), x), graph.Add(constLike(x, 1), x)))
}
func arcsin(x *graph.Node) *graph.Node { return graph.Atan2(x, cathetus(x)) }
func arccos(x *graph.Node) *graph.Node { return graph.Atan2(cathetus(x), x) }

func sinh(x *graph.Node) *graph.Node {
	return graph.Mul(graph.Sub(graph.Expm1(x), graph.Expm1(graph.Neg(x))), constLike(x, 0.5))
}

func cosh(x *graph.Node) *graph.Node {
	return graph.Mul(graph.Add(graph.Exp(x), graph.Exp(graph.Neg(x))), constLike(x, 0.5))
}

func arsinh(x *graph.Node) *graph.Node {
	size := graph.Abs(x)
	square := graph.Mul(x, x)
	root := graph.Add(graph.Sqrt(graph.Add(square, constLike(x, 1))), constLike(x, 1))
	return graph.Mul(graph.Sign(x), graph.Log1p(graph.Add(size, graph.Div(square, root))))
}

func arcosh(x *graph.Node) *graph.Node {
	one := constLike(x, 1)
	return graph.Log(graph.Add(x, graph.Mul(graph.Sqrt(graph.Sub(x, one)), graph.Sqrt(graph.Add(x, one)))))
}

func artanh(x *graph.Node) *graph.Node {
	return graph.Mul(graph.Sub(graph.Log1p(x), graph.Log1p(graph.Neg(x))), constLike(x, 0.5))
}

// wherePositive returns a where x is above zero, and b elsewhere.
func wherePositive(x, a, b *graph.Node) *graph.Node {
	return graph.Where(graph.GreaterThan(x, constLike(x, 0)), a, b)
}

func leaky(o *op, x *graph.Node) *graph.Node { return leakyOf(x, o.float("alpha"), 0) }

func leakyOf(x *graph.Node, alpha, _ float64) *graph.Node {
	return graph.Where(graph.LessThan(x, constLike(x, 0)), graph.Mul(x, constLike(x, alpha)), x)
}

func elu(o *op, x *graph.Node) *graph.Node { return eluOf(x, o.float("alpha"), 0) }

func eluOf(x *graph.Node, alpha, _ float64) *graph.Node {
	return wherePositive(x, x, graph.Mul(graph.Expm1(x), constLike(x, alpha)))
}

func selu(o *op, x *graph.Node) *graph.Node {
	return graph.Mul(elu(o, x), constLike(x, o.float("gamma")))
}

func celu(o *op, x *graph.Node) *graph.Node {
	alpha := constLike(x, o.float("alpha"))
	low := graph.Mul(alpha, graph.Expm1(graph.Div(x, alpha)))
	return graph.Add(relu(x), graph.Min(low, constLike(x, 0)))
}

func threshold(o *op, x *graph.Node) *graph.Node { return thresholdOf(x, o.float("alpha"), 0) }

func thresholdOf(x *graph.Node, alpha, _ float64) *graph.Node {
	return graph.Where(graph.GreaterThan(x, constLike(x, alpha)), x, constLike(x, 0))
}

func shrink(o *op, x *graph.Node) *graph.Node {
	lambda, bias := constLike(x, o.float("lambd")), constLike(x, o.float("bias"))
	low := graph.Where(graph.LessThan(x, graph.Neg(lambda)), graph.Add(x, bias), constLike(x, 0))
	return graph.Where(graph.GreaterThan(x, lambda), graph.Sub(x, bias), low)
}

func hardSigmoid(o *op, x *graph.Node) *graph.Node {
	return hardSigmoidOf(x, o.float("alpha"), o.float("beta"))
}

func hardSigmoidOf(x *graph.Node, alpha, beta float64) *graph.Node {
	y := graph.Add(graph.Mul(x, constLike(x, alpha)), constLike(x, beta))
	return graph.Max(graph.Min(y, constLike(x, 1)), constLike(x, 0))
}

func hardSwish(x *graph.Node) *graph.Node {
	y := graph.Add(graph.Mul(x, constLike(x, 1.0/6)), constLike(x, 0.5))
	return graph.Mul(x, graph.Max(graph.Min(y, constLike(x, 1)), constLike(x, 0)))
}

func softplus(x *graph.Node) *graph.Node {
	return graph.Add(relu(x), graph.Log1p(graph.Exp(graph.Neg(graph.Abs(x)))))
}

func softsign(x *graph.Node) *graph.Node {
	return graph.Div(x, graph.Add(graph.Abs(x), constLike(x, 1)))
}

func mish(x *graph.Node) *graph.Node { return graph.Mul(x, graph.Tanh(softplus(x))) }

func swish(o *op, x *graph.Node) *graph.Node {
	return graph.Mul(x, graph.Logistic(graph.Mul(x, constLike(x, o.float("alpha")))))
}

func gelu(o *op, x *graph.Node) *graph.Node {
	half := graph.Mul(x, constLike(x, 0.5))
	if o.string("approximate") == "tanh" {
		cube := graph.Mul(graph.Mul(x, x), x)
		inner := graph.Mul(graph.Add(x, graph.Mul(cube, constLike(x, 0.044715))), constLike(x, math.Sqrt(2/math.Pi)))
		return graph.Mul(half, graph.Add(graph.Tanh(inner), constLike(x, 1)))
	}
	return graph.Mul(half, graph.Add(graph.Erf(graph.Mul(x, constLike(x, math.Sqrt2/2))), constLike(x, 1)))
}

// prelu has a slope that is broadcast to its input.
func prelu(o *op) *value {
	x := o.inputNode(0)
	var slope *graph.Node
	switch {
	case o.in[1].size() == 1:
		slope = broadcast(graph.Reshape(o.inputNode(1)), o.in[0].dims)
	case o.opset < 7 && o.in[1].rank() == 1:
		slope = o.perChannel(1, o.in[0].dims)
	default:
		slope = broadcast(o.inputNode(1), o.in[0].dims)
	}
	return computedValue(o.in[0].elem, graph.Where(graph.LessThan(x, constLike(x, 0)), graph.Mul(x, slope), x))
}

func isInf(o *op) *value {
	x := o.inputNode(0)
	no := graph.LogicalNot(graph.IsFinite(x))
	yes := graph.LogicalAnd(no, graph.LogicalNot(graph.IsNaN(x)))
	if !o.flag("detect_negative") {
		yes = graph.LogicalAnd(yes, graph.GreaterThan(x, constLike(x, 0)))
	}
	if !o.flag("detect_positive") {
		yes = graph.LogicalAnd(yes, graph.LessThan(x, constLike(x, 0)))
	}
	return computedValue(bools, yes)
}

func isNaN(o *op) *value { return computedValue(bools, graph.IsNaN(o.inputNode(0))) }

// bitShift shifts bits.
func bitShift(o *op) *value {
	a, b := o.inputPair()
	if o.string("direction") == "LEFT" {
		return computedValue(o.in[0].elem, graph.BitwiseShiftLeft(a, b))
	}
	return computedValue(o.in[0].elem, graph.BitwiseShiftRightLogical(a, b))
}

// cast converts to another type, as in C; values that do not fit are refused where
// implementations differ.
func (o *op) cast(to elem) *value {
	if storages[to].dtype == dtypes.InvalidDType {
		fail("a conversion to %s is not implemented", to)
	}
	v := o.in[0]
	x := o.inputNode(0)
	if v.elem.isFloat() && to.isInteger() {
		o.checkRange(x, to)
		x = truncate(x)
	}
	return computedValue(to, graph.ConvertDType(x, to.dtype()))
}

// checkRange requires floats to be within the range of an integer type.
func (o *op) checkRange(x *graph.Node, to elem) {
	bits := 8 * storages[to].bytes
	low, high := -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)
	if to.dtype().IsUnsigned() {
		low, high = 0, math.Ldexp(1, bits)
	}
	wide := truncate(graph.ConvertDType(x, dtypes.Float64))
	inside := graph.LogicalAnd(graph.GreaterOrEqual(wide, constLike(wide, low)), graph.LessThan(wide, constLike(wide, high)))
	o.requireAlways(inside, "a number does not fit %s, and what becomes of it is not defined", to)
}

// truncate drops the fraction of a float.
func truncate(x *graph.Node) *graph.Node {
	return graph.Where(graph.LessThan(x, constLike(x, 0)), graph.Ceil(x), graph.Floor(x))
}

func castTo(o *op) *value { return o.cast(elem(o.int("to"))) }

func castLike(o *op) *value { return o.cast(o.in[1].elem) }

// identity passes a value on.
func identity(o *op) []*value { return []*value{o.in[0]} }

// dropout passes a value on: in inference nothing is dropped. Its mask, if requested, is
// true everywhere.
func dropout(o *op) []*value {
	if o.hasAttribute("is_test") && !o.flag("is_test") {
		fail("its attribute is_test = 0 drops values at random, which is not implemented")
	}
	if o.hasInput(2) {
		none := o.hasInput(1) && o.in[1].known && floats(o.in[1])[0] == 0
		if !o.in[2].known || !none && slices.Contains(o.in[2].flat.([]bool), true) {
			fail("its input training_mode is set, which is not supported")
		}
	}
	yes := bools
	if o.opset < 10 {
		yes = o.in[0].elem
	}
	mask := broadcast(graph.ConvertDType(graph.Scalar(o.g, dtypes.Uint8, 1), yes.dtype()), o.in[0].dims)
	return []*value{o.in[0], computedValue(yes, mask)}
}
