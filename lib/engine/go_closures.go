// A repair of GoMLX's Go backend, whose loops lose inputs.

package engine

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

// closureBackend is GoMLX's Go backend with closures that work. The backend (compute v0.1.6)
// compiles the body of a loop first and removes broadcasts from it later, so that the body frees
// the input of a broadcast before its last use ("not computed yet"). Here every broadcast in a
// closure is followed by an identity, which that pass leaves alone.
type closureBackend struct{ compute.Backend }

// A tensor belongs to the backend that its buffer names, so buffers name this one.
type closureBuffer struct{ compute.Buffer }

func (b closureBuffer) Backend() compute.Backend { return closureBackend{b.Buffer.Backend()} }

func (b closureBuffer) CopyToDevice(device compute.DeviceNum) (compute.Buffer, error) {
	c, err := b.Buffer.CopyToDevice(device)
	return closureBuffer{c}, err
}

// BufferFromFlatData implements compute.Backend.
func (b closureBackend) BufferFromFlatData(device compute.DeviceNum, flat any, shape shapes.Shape) (compute.Buffer, error) {
	c, err := b.Backend.BufferFromFlatData(device, flat, shape)
	return closureBuffer{c}, err
}

// NewSharedBuffer implements compute.Backend.
func (b closureBackend) NewSharedBuffer(device compute.DeviceNum, shape shapes.Shape) (compute.Buffer, any, error) {
	c, flat, err := b.Backend.NewSharedBuffer(device, shape)
	return closureBuffer{c}, flat, err
}

type closureExecutable struct{ compute.Executable }

// Execute implements compute.Executable.
func (e closureExecutable) Execute(in []compute.Buffer, donate []bool, device compute.DeviceNum) ([]compute.Buffer, error) {
	own := make([]compute.Buffer, len(in))
	for i, b := range in {
		own[i] = b.(closureBuffer).Buffer
	}
	out, err := e.Executable.Execute(own, donate, device)
	for i, b := range out {
		out[i] = closureBuffer{b}
	}
	return out, err
}

// Builder implements compute.Backend.
func (b closureBackend) Builder(name string) compute.Builder {
	return closureBuilder{b.Backend.Builder(name)}
}

type closureBuilder struct{ compute.Builder }

// Compile implements compute.Builder.
func (b closureBuilder) Compile() (compute.Executable, error) {
	e, err := b.Builder.Compile()
	return closureExecutable{e}, err
}

// Main implements compute.Builder.
func (b closureBuilder) Main() compute.Function { return closureFunction{b.Builder.Main(), false} }

type closureFunction struct {
	compute.Function
	closure bool
}

// Closure implements compute.Function.
func (f closureFunction) Closure() (compute.Function, error) {
	inner, err := f.Function.Closure()
	return closureFunction{inner, true}, err
}

// While implements compute.Function.
func (f closureFunction) While(cond, body compute.Function, state ...compute.Value) ([]compute.Value, error) {
	return f.Function.While(cond.(closureFunction).Function, body.(closureFunction).Function, state...)
}

// BroadcastInDim implements compute.Function.
func (f closureFunction) BroadcastInDim(x compute.Value, to shapes.Shape, axes []int) (compute.Value, error) {
	out, err := f.Function.BroadcastInDim(x, to, axes)
	if err != nil || !f.closure {
		return out, err
	}
	return f.Function.Identity(out)
}
