// The backend as GoMLX sees it: name, version of the arithmetic, number of workers, shared buffers.

package backend

import (
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/notimplemented"
	"github.com/gomlx/compute/shapes"
)

// Name is the backend's name for GoMLX.
const Name = "lethe"

// Version is the version of the arithmetic: results of one version have the same bits on
// every processor. It is part of store keys.
const Version = "3"

func init() { compute.Register(Name, New) }

// Backend implements compute.Backend.
type Backend struct {
	notimplemented.Backend
	workers   int
	running   atomic.Int64 // number of running executions
	finalized bool
}

var _ compute.Backend = (*Backend)(nil)

// New opens the backend. The configuration is the number of workers, shared by parallel
// executions; "" means the number of processors.
func New(config string) (compute.Backend, error) {
	if config == "" {
		return Open(runtime.GOMAXPROCS(0)), nil
	}
	n, err := strconv.Atoi(config)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("backend %s: %q is not a number of workers", Name, config)
	}
	return Open(n), nil
}

// Open opens the backend with a number of workers, which parallel executions share.
func Open(workers int) *Backend { return &Backend{workers: max(1, workers)} }

// Name implements compute.Backend.
func (b *Backend) Name() string { return Name }

// String implements compute.Backend.
func (b *Backend) String() string { return Name }

// Description implements compute.Backend.
func (b *Backend) Description() string { return "Lethe's own kernels in Go" }

// DeviceDescription implements compute.Backend.
func (b *Backend) DeviceDescription(compute.DeviceNum) string { return "processor" }

// Capabilities implements compute.Backend.
func (b *Backend) Capabilities() compute.Capabilities {
	c := compute.Capabilities{Operations: map[compute.OpType]bool{}, DTypes: map[dtypes.DType]bool{}}
	for _, op := range operations() {
		c.Operations[op] = true
	}
	for t := range types {
		c.DTypes[t] = true
	}
	return c
}

// Builder implements compute.Backend.
func (b *Backend) Builder(name string) compute.Builder { return newBuilder(b, name) }

// HasSharedBuffers implements compute.DataInterface: buffers are Go slices.
func (b *Backend) HasSharedBuffers() bool { return true }

// NewSharedBuffer implements compute.DataInterface.
func (b *Backend) NewSharedBuffer(_ compute.DeviceNum, shape shapes.Shape) (compute.Buffer, any, error) {
	buf, err := b.buffer(shape)
	if err != nil {
		return nil, nil, err
	}
	return buf, buf.flat, nil
}

// BufferFromFlatData implements compute.DataInterface.
func (b *Backend) BufferFromFlatData(_ compute.DeviceNum, flat any, shape shapes.Shape) (compute.Buffer, error) {
	buf, err := b.buffer(shape)
	if err != nil {
		return nil, err
	}
	return buf, buf.fill(flat)
}

// Finalize implements compute.Backend.
func (b *Backend) Finalize() { b.finalized = true }

// IsFinalized implements compute.Backend.
func (b *Backend) IsFinalized() bool { return b.finalized }
