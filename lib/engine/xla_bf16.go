//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// Products and convolutions of operands rounded to bfloat16, below GoMLX's graph: gradients are
// taken of the unrounded graph, and their own products round in the same way.

package engine

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// bf16Backend is a backend whose float32 products and convolutions take bfloat16 operands.
type bf16Backend struct{ compute.Backend }

func (b bf16Backend) Builder(name string) compute.Builder {
	return bf16Builder{b.Backend.Builder(name), b}
}

// wrapBuffer returns a buffer of the wrapped backend as one of this backend: GoMLX copies buffers of
// other backends.
func (b bf16Backend) wrapBuffer(buffer compute.Buffer, err error) (compute.Buffer, error) {
	if err != nil {
		return nil, err
	}
	return bf16Buffer{buffer, b}, nil
}

func (b bf16Backend) BufferFromFlatData(device compute.DeviceNum, flat any, shape shapes.Shape) (compute.Buffer, error) {
	return b.wrapBuffer(b.Backend.BufferFromFlatData(device, flat, shape))
}

func (b bf16Backend) NewSharedBuffer(device compute.DeviceNum, shape shapes.Shape) (compute.Buffer, any, error) {
	inner, flat, err := b.Backend.NewSharedBuffer(device, shape)
	buffer, err := b.wrapBuffer(inner, err)
	return buffer, flat, err
}

type bf16Buffer struct {
	compute.Buffer
	backend bf16Backend
}

func (b bf16Buffer) Backend() compute.Backend { return b.backend }

func (b bf16Buffer) CopyToDevice(device compute.DeviceNum) (compute.Buffer, error) {
	return b.backend.wrapBuffer(b.Buffer.CopyToDevice(device))
}

type bf16Executable struct {
	compute.Executable
	backend bf16Backend
}

func (e bf16Executable) Execute(inputs []compute.Buffer, donate []bool, device compute.DeviceNum) ([]compute.Buffer, error) {
	inner := make([]compute.Buffer, len(inputs))
	for i, b := range inputs {
		inner[i] = b
		if wrapped, ok := b.(bf16Buffer); ok {
			inner[i] = wrapped.Buffer
		}
	}
	out, err := e.Executable.Execute(inner, donate, device)
	for i := range out {
		out[i] = bf16Buffer{out[i], e.backend}
	}
	return out, err
}

type bf16Builder struct {
	compute.Builder
	backend bf16Backend
}

func (b bf16Builder) Compile() (compute.Executable, error) {
	e, err := b.Builder.Compile()
	if err != nil {
		return nil, err
	}
	return bf16Executable{e, b.backend}, nil
}

func (b bf16Builder) Main() compute.Function { return bf16Function{b.Builder.Main(), b} }

func (b bf16Builder) NewFunction(name string) (compute.Function, error) {
	f, err := b.Builder.NewFunction(name)
	return bf16Function{f, b}, err
}

type bf16Function struct {
	compute.Function
	builder bf16Builder
}

// plain returns the backend's own function, which the backend expects as an argument.
func plain(f compute.Function) compute.Function {
	if rounds, ok := f.(bf16Function); ok {
		return rounds.Function
	}
	return f
}

func (f bf16Function) Builder() compute.Builder { return f.builder }

func (f bf16Function) Parent() compute.Function {
	if parent := f.Function.Parent(); parent != nil {
		return bf16Function{parent, f.builder}
	}
	return nil
}

func (f bf16Function) Closure() (compute.Function, error) {
	inner, err := f.Function.Closure()
	return bf16Function{inner, f.builder}, err
}

func (f bf16Function) Call(g compute.Function, inputs ...compute.Value) ([]compute.Value, error) {
	return f.Function.Call(plain(g), inputs...)
}

func (f bf16Function) Sort(comparator compute.Function, axis int, isStable bool, inputs ...compute.Value) ([]compute.Value, error) {
	return f.Function.Sort(plain(comparator), axis, isStable, inputs...)
}

func (f bf16Function) While(cond, body compute.Function, initial ...compute.Value) ([]compute.Value, error) {
	return f.Function.While(plain(cond), plain(body), initial...)
}

func (f bf16Function) If(pred compute.Value, trueBranch, falseBranch compute.Function) ([]compute.Value, error) {
	return f.Function.If(pred, plain(trueBranch), plain(falseBranch))
}

// round returns two float32 operands in bfloat16, and whether both were float32.
func (f bf16Function) round(a, b compute.Value) (ra, rb compute.Value, ok bool, err error) {
	for _, v := range []compute.Value{a, b} {
		if s, err := f.Shape(v); err != nil || s.DType != dtypes.Float32 {
			return a, b, false, err
		}
	}
	if ra, err = f.ConvertDType(a, dtypes.BFloat16); err == nil {
		rb, err = f.ConvertDType(b, dtypes.BFloat16)
	}
	return ra, rb, true, err
}

// DotGeneral sums in float32 and returns float32.
func (f bf16Function) DotGeneral(
	lhs compute.Value, lhsContracting, lhsBatch []int, rhs compute.Value, rhsContracting, rhsBatch []int, c compute.DotGeneralConfig,
) (compute.Value, error) {
	l, r, rounded, err := f.round(lhs, rhs)
	if err != nil {
		return nil, err
	}
	if rounded {
		c.AccumulatorDType, c.OutputDType = dtypes.Float32, dtypes.Float32
	}
	return f.Function.DotGeneral(l, lhsContracting, lhsBatch, r, rhsContracting, rhsBatch, c)
}

// ConvGeneral returns float32. XLA rounds its output to bfloat16 too.
func (f bf16Function) ConvGeneral(
	input, kernel compute.Value, axes compute.ConvolveAxesConfig, strides []int, paddings [][2]int,
	inputDilations, kernelDilations []int, channelGroups, batchGroups int,
) (compute.Value, error) {
	x, k, rounded, err := f.round(input, kernel)
	if err != nil {
		return nil, err
	}
	y, err := f.Function.ConvGeneral(x, k, axes, strides, paddings, inputDilations, kernelDilations, channelGroups, batchGroups)
	if err != nil || !rounded {
		return y, err
	}
	return f.ConvertDType(y, dtypes.Float32)
}
