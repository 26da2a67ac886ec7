// Every operation, for every choice of shared and stacked operands, against single runs.

package stacked

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// allOf returns a graph with one result for each of the functions of one value.
func allOf(fs ...func(x *Node) *Node) func(in []*Node) []*Node {
	return func(in []*Node) (out []*Node) {
		for _, f := range fs {
			out = append(out, f(in[0]))
		}
		return out
	}
}

// pairsOf is allOf for functions of two values.
func pairsOf(fs ...func(x, y *Node) *Node) func(in []*Node) []*Node {
	return func(in []*Node) (out []*Node) {
		for _, f := range fs {
			out = append(out, f(in[0], in[1]))
		}
		return out
	}
}

var (
	arithmetic  = pairsOf(Add, Sub, Mul, Div, Max, Min, Atan2)
	comparisons = pairsOf(Equal, NotEqual, GreaterThan, GreaterOrEqual, LessThan, LessOrEqual,
		EqualTotalOrder, NotEqualTotalOrder, GreaterThanTotalOrder, GreaterOrEqualTotalOrder, LessThanTotalOrder, LessOrEqualTotalOrder)
	bitwise = pairsOf(BitwiseAnd, BitwiseOr, BitwiseXor)
	logical = pairsOf(LogicalAnd, LogicalOr, LogicalXor)
)

// conv builds a convolution of images [records, rows, columns, channels] and its gradients.
func conv(change func(c *ConvolutionBuilder)) func(in []*Node) []*Node {
	return func(in []*Node) []*Node {
		c := Convolve(in[0], in[1])
		change(c)
		y := c.Done()
		return append([]*Node{y}, Gradient(ReduceAllSum(Mul(y, Sin(y))), in[0], in[1])...)
	}
}

const rounding = 1e-5

// outer is a case that XLA does not do for one model.
const outer = "If on values around it"

// cases are graphs by the operations that they are for.
func cases() map[string]comparison {
	zero := func(g *Graph) *Node { return Const(g, int32(0)) }
	return map[string]comparison{
		"Abs Ceil Cos Erf Exp Expm1 Floor Neg Round Sign Sin Tanh Logistic": {[]sample{floats(4, 5)}, allOf(Abs, Ceil, Cos, Erf, Exp, Expm1, Floor, Neg, Round, Sign, Sin, Tanh, Sigmoid), 1e-6},
		"Log Log1p Rsqrt Sqrt": {[]sample{fractions(4, 5)}, allOf(Log, Log1p, Rsqrt, Sqrt), 1e-6},
		"of numbers":           {[]sample{floats()}, allOf(Abs, Neg, Exp, OnePlus), 1e-6},
		"IsFinite IsNaN":       {[]sample{floats(7)}, allOf(func(x *Node) *Node { return IsFinite(Log(x)) }, func(x *Node) *Node { return IsNaN(Log(x)) }), 0},
		"LogicalNot":           {[]sample{bools(6)}, allOf(LogicalNot), 0},
		"BitwiseNot":           {[]sample{words(6)}, allOf(BitwiseNot), 0},
		"BitCount Clz":         {[]sample{ints(0, 1000, 6)}, allOf(BitCount, Clz), 0},
		"Identity":             {[]sample{floats(2, 3)}, allOf(Identity), 0},
		"Complex Conj Real Imag": {[]sample{floats(4), floats(4)}, func(in []*Node) []*Node {
			z := Conj(Complex(in[0], in[1]))
			return []*Node{Real(z), Imag(z)}
		}, 0},
		"Add Sub Mul Div Max Min Atan2": {[]sample{floats(4, 5), fractions(4, 5)}, arithmetic, 1e-6},
		"of a tensor and a number":      {[]sample{floats(4, 5), fractions()}, arithmetic, 1e-6},
		"of a number and a tensor":      {[]sample{fractions(), fractions(3, 2)}, arithmetic, 1e-6},
		"of two numbers":                {[]sample{fractions(), fractions()}, arithmetic, 1e-6},
		"along an axis of 1":            {[]sample{floats(4, 1), fractions(4, 5)}, arithmetic, 1e-6},
		"along axes of 1 in both":       {[]sample{floats(4, 1), fractions(1, 5)}, arithmetic, 1e-6},
		"Pow":                           {[]sample{fractions(4, 5), floats(4, 5)}, pairsOf(Pow), 1e-6},
		"Rem":                           {[]sample{ints(0, 100, 9), ints(1, 7, 9)}, pairsOf(Rem), 0},
		"Equal NotEqual GreaterThan GreaterOrEqual LessThan LessOrEqual": {[]sample{ints(0, 3, 30), ints(0, 3, 30)}, pairsOf(Equal, NotEqual, GreaterThan, GreaterOrEqual, LessThan, LessOrEqual), 0},
		"total orders":                    {[]sample{floats(30), floats(30)}, comparisons, 0},
		"BitwiseAnd BitwiseOr BitwiseXor": {[]sample{words(8), words(8)}, bitwise, 0},
		"LogicalAnd LogicalOr LogicalXor": {[]sample{bools(8), bools(8)}, logical, 0},
		"ShiftLeft ShiftRightLogical":     {[]sample{words(8), ints(0, 63, 8).typed(dtypes.Uint64)}, pairsOf(BitwiseShiftLeft, BitwiseShiftRightLogical), 0},
		"ShiftRightArithmetic":            {[]sample{ints(-100, 100, 8), ints(0, 5, 8)}, pairsOf(BitwiseShiftRightArithmetic), 0},
		"Where":                           {[]sample{bools(4, 3), floats(4, 3), floats(4, 3)}, func(in []*Node) []*Node { return []*Node{Where(in[0], in[1], in[2])} }, 0},
		"Where of numbers":                {[]sample{bools(4, 3), floats(), floats(4, 3)}, func(in []*Node) []*Node { return []*Node{Where(in[0], in[1], in[2])} }, 0},
		"Clamp":                           {[]sample{floats(4, 3), floats(4, 3), floats(4, 3)}, func(in []*Node) []*Node { return []*Node{Clamp(in[0], in[1], in[2])} }, 0},
		"Clamp between numbers":           {[]sample{floats(), floats(4, 3), floats()}, func(in []*Node) []*Node { return []*Node{Clamp(in[0], in[1], in[2])} }, 0},
		"Clamp of a number":               {[]sample{floats(), floats(), floats()}, func(in []*Node) []*Node { return []*Node{Clamp(in[0], in[1], in[2])} }, 0},
		"ConvertDType":                    {[]sample{floats(9)}, allOf(func(x *Node) *Node { return ConvertDType(x, dtypes.Int32) }, func(x *Node) *Node { return ConvertDType(x, dtypes.Float64) }), 0},
		"Bitcast":                         {[]sample{words(3)}, allOf(func(x *Node) *Node { return Bitcast(Bitcast(x, dtypes.Uint16), dtypes.Uint64) }, func(x *Node) *Node { return Bitcast(x, dtypes.Uint32) }), 0},
		"Constant Iota": {[]sample{floats(2, 3)}, func(in []*Node) []*Node {
			return []*Node{Add(in[0], Add(Const(in[0].Graph(), [][]float32{{1, 2, 3}, {4, 5, 6}}), Iota(in[0].Graph(), in[0].Shape(), 1)))}
		}, 0},
		"Reshape":        {[]sample{floats(4, 6)}, allOf(func(x *Node) *Node { return Reshape(x, 2, 2, 3, 2) }, func(x *Node) *Node { return Reshape(Slice(x, AxisElem(0), AxisElem(0))) }), 0},
		"Transpose":      {[]sample{floats(2, 3, 4)}, allOf(func(x *Node) *Node { return TransposeAllAxes(x, 2, 0, 1) }), 0},
		"Reverse":        {[]sample{floats(2, 3, 4)}, allOf(func(x *Node) *Node { return Reverse(x, 0, 2) }), 0},
		"BroadcastInDim": {[]sample{floats(3, 1)}, allOf(func(x *Node) *Node { return BroadcastToDims(x, 3, 4) }, func(x *Node) *Node { return ExpandAndBroadcast(x, []int{2, 3, 1}, []int{0}) }), 0},
		"Slice":          {[]sample{floats(6, 5)}, allOf(func(x *Node) *Node { return Slice(x, AxisRange(1, 5).Stride(2), AxisRange(2)) }), 0},
		"Pad": {[]sample{floats(3, 2)}, allOf(func(x *Node) *Node {
			return Pad(x, ScalarOne(x.Graph(), x.DType()), PadAxis{Start: 1, End: 2, Interior: 1})
		}), 0},
		"Concatenate":                            {[]sample{floats(3, 2), floats(3, 4)}, pairsOf(func(x, y *Node) *Node { return Concatenate([]*Node{x, y, x}, 1) }), 0},
		"ReduceSum ReduceMax ReduceMin":          {[]sample{floats(3, 4, 5)}, reductions(ReduceSum, ReduceMax, ReduceMin), 1e-6},
		"ReduceProduct":                          {[]sample{fractions(3, 4, 2)}, reductions(ReduceMultiply), 1e-6},
		"reductions of numbers":                  {[]sample{floats()}, allOf(ReduceAllSum, ReduceAllMax), 0},
		"ReduceBitwiseAnd ReduceBitwiseOr":       {[]sample{words(3, 4)}, reductions(ReduceBitwiseAnd, ReduceBitwiseOr, ReduceBitwiseXor), 0},
		"ReduceLogicalAnd ReduceLogicalOr":       {[]sample{bools(3, 4)}, reductions(ReduceLogicalAnd, ReduceLogicalOr, ReduceLogicalXor), 0},
		"ArgMinMax":                              {[]sample{floats(3, 4, 5)}, allOf(func(x *Node) *Node { return ArgMax(x, 1) }, func(x *Node) *Node { return ArgMin(x, 0) }), 0},
		"CumSum":                                 {[]sample{floats(3, 4)}, allOf(func(x *Node) *Node { return CumSum(x, 1) }), 1e-6},
		"ReduceWindow SelectAndScatterMax":       {[]sample{floats(2, 6, 6, 3)}, pools(MaxPool), 0},
		"ReduceWindow SelectAndScatterMin":       {[]sample{floats(2, 6, 6, 3)}, pools(MinPool), 0},
		"ReduceWindow, sums":                     {[]sample{floats(2, 6, 6, 3)}, pools(MeanPool), 1e-6},
		"DotGeneral":                             {[]sample{floats(4, 5), floats(5, 3)}, pairsOf(func(x, y *Node) *Node { return Dot(x, y).General([]int{1}, nil, []int{0}, nil) }), rounding},
		"DotGeneral of vectors":                  {[]sample{floats(5), floats(5)}, pairsOf(func(x, y *Node) *Node { return Dot(x, y).General([]int{0}, nil, []int{0}, nil) }), rounding},
		"DotGeneral, all outer":                  {[]sample{floats(5), floats(2, 3)}, pairsOf(func(x, y *Node) *Node { return Dot(x, y).General(nil, nil, nil, nil) }), rounding},
		"DotGeneral with a batch":                {[]sample{floats(2, 4, 5, 6), floats(5, 7, 2, 6)}, pairsOf(func(x, y *Node) *Node { return Dot(x, y).General([]int{2}, []int{0, 3}, []int{0}, []int{2, 3}) }), rounding},
		"ConvGeneral":                            {[]sample{floats(2, 6, 7, 3), floats(3, 3, 3, 4)}, conv(func(c *ConvolutionBuilder) { c.PadSame() }), rounding},
		"ConvGeneral with strides":               {[]sample{floats(2, 6, 7, 3), floats(3, 3, 3, 4)}, conv(func(c *ConvolutionBuilder) { c.StridePerAxis(2, 3).PaddingPerDim([][2]int{{1, 0}, {0, 1}}) }), rounding},
		"ConvGeneral with dilation":              {[]sample{floats(2, 8, 9, 3), floats(3, 3, 3, 4)}, conv(func(c *ConvolutionBuilder) { c.DilationPerAxis(2, 1).NoPadding() }), rounding},
		"ConvGeneral with groups of channels":    {[]sample{floats(2, 6, 7, 4), floats(3, 3, 2, 6)}, conv(func(c *ConvolutionBuilder) { c.ChannelGroupCount(2).PadSame() }), rounding},
		"ConvGeneral with groups of records":     {[]sample{floats(4, 6, 7, 3), floats(3, 3, 3, 4)}, convForward(func(c *ConvolutionBuilder) { c.BatchGroupCount(2).PadSame() }), rounding},
		"ConvGeneral with other axes":            {[]sample{floats(3, 6, 7, 2), floats(4, 3, 3, 3)}, conv(func(c *ConvolutionBuilder) { c.AxesConfig(featureMajor).NoPadding() }), rounding},
		"ConvGeneral with input dilation":        {[]sample{floats(2, 4, 5, 3), floats(3, 3, 3, 4)}, convForward(func(c *ConvolutionBuilder) { c.InputDilationPerAxis(2, 1).PaddingPerDim([][2]int{{1, 1}, {1, 1}}) }), rounding},
		"BatchNormForTraining BatchNormGradient": {[]sample{floats(6, 4, 3), fractions(3), floats(3), floats(6, 4, 3)}, normalised, 1e-4},
		"BatchNormForInference": {[]sample{floats(6, 3), fractions(3), floats(3), floats(3), fractions(3)}, func(in []*Node) []*Node {
			return []*Node{InternalBatchNormForInference(in[0], in[1], in[2], in[3], in[4], 1e-3, 1)}
		}, rounding},
		"Gather ScatterSum":      {[]sample{floats(5, 3), ints(0, 5, 4, 1)}, lookups, 1e-6},
		"Gather outside":         {[]sample{floats(5, 3), ints(-3, 9, 8, 1)}, pairsOf(func(x, i *Node) *Node { return Gather(x, i) }), 0},
		"Gather by pairs":        {[]sample{floats(5, 3, 2), ints(0, 3, 2, 4, 2)}, lookups, 1e-6},
		"Gather by a small type": {[]sample{floats(5, 3), ints(0, 5, 4, 1).typed(dtypes.Int8)}, lookups, 1e-6},
		"Gather by one index":    {[]sample{floats(5, 3), ints(0, 5)}, func(in []*Node) []*Node { return []*Node{Gather(in[0], Reshape(in[1], 1))} }, 0},
		"Gather of slices":       {[]sample{floats(5, 6), ints(0, 4, 3, 1)}, func(in []*Node) []*Node { return []*Node{GatherSlices(in[0], []int{1}, in[1], []int{2}, false)} }, 0},
		"ScatterSum ScatterMax ScatterMin": {[]sample{floats(5, 3), ints(0, 5, 4, 1), floats(4, 3)}, func(in []*Node) []*Node {
			return []*Node{ScatterSum(in[0], in[1], in[2], false, false), ScatterMax(in[0], in[1], in[2], false, false), ScatterMin(in[0], in[1], in[2], false, false)}
		}, 1e-6},
		"DynamicSlice": {[]sample{floats(5, 6), ints(-1, 6), ints(0, 4)}, func(in []*Node) []*Node { return []*Node{DynamicSlice(in[0], []*Node{in[1], in[2]}, []int{1, 3})} }, 0},
		"DynamicSlice along one axis": {[]sample{floats(5, 6), ints(0, 5)}, func(in []*Node) []*Node {
			return []*Node{DynamicSlice(in[0], []*Node{in[1], zero(in[0].Graph())}, []int{1, 6})}
		}, 0},
		"DynamicUpdateSlice": {[]sample{floats(5, 6), floats(2, 3), ints(0, 5).shared()}, func(in []*Node) []*Node {
			return []*Node{DynamicUpdateSlice(in[0], in[1], []*Node{in[2], zero(in[0].Graph())})}
		}, 0},
		"OptimizationBarrier SchedulingBarrier": {[]sample{floats(3), floats(2)}, func(in []*Node) []*Node { return append(OptimizationBarriers(in...), SchedulingBarrier(in[0], in[1])) }, 0},
		"FFT":                                   {[]sample{floats(8).shared(), floats(8)}, func(in []*Node) []*Node { return []*Node{Mul(in[1], Real(FFT(ConvertDType(in[0], dtypes.Complex64))))} }, rounding},
		"RNGBitGenerator": {[]sample{words(3).shared(), floats(8)}, func(in []*Node) []*Node {
			_, u := RandomUniform(in[0], shapes.Make(dtypes.Float32, 8))
			return []*Node{Mul(in[1], u)}
		}, 0},
		"Call":  {[]sample{floats(4), floats(4)}, called, 0},
		"If":    {[]sample{floats(4), floats(4), ints(0, 9).shared()}, chosen, 0},
		outer:   {[]sample{floats(4), floats(4), ints(0, 9).shared()}, around, 0},
		"Sort":  {[]sample{floats(4, 5)}, allOf(func(x *Node) *Node { return Sort(x, 1, true) }, func(x *Node) *Node { return Sort(x, 0, true) }), 0},
		"While": {[]sample{floats(4), floats(4)}, looped, 0},
	}
}

var featureMajor = ConvolveAxesConfig{
	InputBatch: 3, InputChannels: 0, InputSpatial: []int{1, 2},
	KernelInputChannels: 1, KernelOutputChannels: 0, KernelSpatial: []int{2, 3},
	OutputBatch: 3, OutputChannels: 0, OutputSpatial: []int{1, 2},
}

func convForward(change func(c *ConvolutionBuilder)) func(in []*Node) []*Node {
	return func(in []*Node) []*Node {
		c := Convolve(in[0], in[1])
		change(c)
		return []*Node{c.Done()}
	}
}

// reductions reduces over all axes, the first and the last.
func reductions(fs ...func(x *Node, axes ...int) *Node) func(in []*Node) []*Node {
	return func(in []*Node) (out []*Node) {
		for _, f := range fs {
			out = append(out, f(in[0]), f(in[0], 0), f(in[0], -1))
		}
		return out
	}
}

// pools is a pool and its gradient.
func pools(pool func(x *Node) *PoolBuilder) func(in []*Node) []*Node {
	return func(in []*Node) []*Node {
		y := pool(in[0]).Window(2).Strides(2).Done()
		overlapping := pool(in[0]).Window(3).Strides(2).PaddingPerDim([][2]int{{1, 1}, {0, 1}}).Done()
		return []*Node{y, overlapping, Gradient(ReduceAllSum(Mul(y, Sin(y))), in[0])[0]}
	}
}

// normalised is a batch normalisation with its gradients.
func normalised(in []*Node) []*Node {
	y, mean, variance := InternalBatchNormForTraining(in[0], in[1], in[2], 1e-3, 2)
	return append([]*Node{y, mean, variance}, Gradient(ReduceAllSum(Mul(y, in[3])), in[0], in[1], in[2])...)
}

// lookups is a lookup with its gradient.
func lookups(in []*Node) []*Node {
	y := Gather(in[0], in[1])
	return []*Node{y, Gradient(ReduceAllSum(Mul(y, Sin(y))), in[0])[0]}
}

func called(in []*Node) []*Node {
	f := NewFunction(in[0].Graph(), "f", func(g *Graph) []*Node {
		x, y := Parameter(g, "x", in[0].Shape()), Parameter(g, "y", in[0].Shape())
		return []*Node{Add(x, MulScalar(y, 2)), Neg(y)}
	})
	return append(f.Call(in...), f.Call(in[1], in[1])...)
}

func chosen(in []*Node) []*Node {
	g := in[0].Graph()
	of := func(v float32) *Function {
		return NewClosure(g, func(g *Graph) []*Node {
			return []*Node{Const(g, []float32{v, 2 * v}), Const(g, v)}
		})
	}
	out := If(GreaterThan(in[2], Const(g, int32(4))), of(1), of(-1))
	return []*Node{out[0], Mul(in[0], out[1]), in[1]}
}

// around is a choice between closures that use values of the function around them.
func around(in []*Node) []*Node {
	g := in[0].Graph()
	yes := NewClosure(g, func(*Graph) []*Node { return []*Node{Add(Mul(in[0], in[0]), in[1])} })
	no := NewClosure(g, func(*Graph) []*Node { return []*Node{Neg(in[0])} })
	return If(GreaterThan(in[2], Const(g, int32(4))), yes, no)
}

// looped is a loop whose state becomes stacked only in the second iteration if the first
// input is shared and the second is not.
func looped(in []*Node) []*Node {
	g := in[0].Graph()
	state := []*Node{Const(g, int32(0)), in[0], Const(g, []float32{0, 0, 0, 0}), in[1]}
	params := func(g *Graph) (out []*Node) {
		for i, s := range state {
			out = append(out, Parameter(g, fmt.Sprint("s", i), s.Shape()))
		}
		return out
	}
	cond := NewClosure(g, func(g *Graph) []*Node { return []*Node{LessThan(params(g)[0], Const(g, int32(5)))} })
	body := NewClosure(g, func(g *Graph) []*Node {
		s := params(g)
		return []*Node{AddScalar(s[0], 1), Add(MulScalar(s[1], 0.5), s[2]), s[3], s[3]}
	})
	return While(cond, body, state...)
}

func TestOperationsDoTheSameAsForOneModel(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b compute.Backend) {
		for name, c := range cases() {
			t.Run(name, func(t *testing.T) {
				err := c.checkAll(b)
				if lacks := (aloneError{}); errors.As(err, &lacks) && (b.Name() != "xla" || name == outer) {
					t.Skip(err)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// Every operation that a backend has is in some case.
func TestEveryOperationIsTested(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b compute.Backend) {
		var seen []string
		for _, c := range cases() {
			seen = append(seen, recordedOperations(b, c)...)
		}
		for op := range b.Capabilities().Operations {
			if op > 0 && !slices.Contains(seen, op.String()) && !notRecorded.MatchString(op.String()) {
				t.Errorf("%s is in no case", op)
			}
		}
	})
}

// notRecorded are what a recorded graph does not have as operations, or always refuses.
var notRecorded = regexp.MustCompile("^(Parameter|Dot|AllReduce|Fused.*|Quantized.*|Dynamic(DimensionSize|Shape|Reshape|BroadcastInDim|Iota|Pad))$")

// Lists of arguments belong to the caller, who may use them again.
func TestArgumentsMayChangeAfterTheCall(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b compute.Backend) {
		type on = compute.Function
		type v = compute.Value
		for name, call := range map[string]func(f on, x v, list []int) (v, error){
			"Reshape":   func(f on, x v, list []int) (v, error) { return f.Reshape(x, list...) },
			"Transpose": func(f on, x v, list []int) (v, error) { return f.Transpose(x, list[1:]...) },
			"Reverse":   func(f on, x v, list []int) (v, error) { return f.Reverse(x, list[1:]...) },
			"ReduceSum": func(f on, x v, list []int) (v, error) { return f.ReduceSum(x, list[1:]...) },
			"Slice":     func(f on, x v, list []int) (v, error) { return f.Slice(x, []int{0, 0}, list[:2], nil) },
			"BroadcastInDim": func(f on, x v, list []int) (v, error) {
				return f.BroadcastInDim(x, shapes.Make(dtypes.Float32, 1, 2, 2), list[:2])
			},
		} {
			builder := (&recorder{Backend: b, models: models, inputs: []Input{{Name: "x"}}}).Builder(name)
			f := builder.Main()
			x, err := f.Parameter("x", shapes.Make(dtypes.Float32, 2, 2), nil)
			if err != nil {
				t.Fatal(err)
			}
			list := []int{1, 2, 2}
			if name == "Transpose" || name == "Reverse" || name == "ReduceSum" {
				list = []int{1, 1, 0}
			}
			y, err := call(f, x, list)
			if err != nil {
				t.Fatal(name, err)
			}
			want, err := f.Shape(y)
			if err == nil {
				err = f.Return([]v{y}, nil)
			}
			if err != nil {
				t.Fatal(name, err)
			}
			copy(list, []int{7, 7, 7})
			exec, err := builder.Compile()
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := exec.Outputs()[0]; !got.Equal(withModels(models, want)) {
				t.Errorf("%s: the result has the shape %s, for one model %s", name, got, want)
			}
		}
	})
}

// recordedOperations returns the names of the operations of a case.
func recordedOperations(b compute.Backend, c comparison) (names []string) {
	w := &watched{recorder: &recorder{Backend: b, models: models}}
	defer func() {
		_ = recover() // from what the backend lacks
		for _, o := range w.built.main.operations {
			names = append(names, o.name)
		}
	}()
	g := NewGraph(w, "")
	var nodes []*Node
	for i, s := range c.in {
		nodes = append(nodes, Parameter(g, fmt.Sprint("in", i), s.shape))
	}
	c.build(nodes)
	return names
}

// watched is a recorder that keeps its builder.
type watched struct {
	*recorder
	built *builder
}

func (w *watched) Builder(name string) compute.Builder {
	w.built = w.recorder.Builder(name).(*builder)
	return w.built
}
