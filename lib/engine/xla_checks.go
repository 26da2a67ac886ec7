//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// Tests of an XLA plugin before use: products on stale inputs, and convolutions rounded to TF32.

package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// ErrStale is the error of a plugin that computes with stale inputs, those of an earlier
// execution.
var ErrStale = errors.New("a matrix product used stale inputs of an earlier execution: this plugin would train on records of other batches")

// ErrRounded is the error of a plugin whose convolutions round their inputs.
var ErrRounded = errors.New("convolutions round their inputs to ten bits (TF32); NVIDIA_TF32_OVERRIDE=0 and, in XLA_FLAGS, " +
	"--xla_gpu_enable_triton_gemm=false turn this off")

// checkStaleInputs multiplies two inputs at the same address one after the other and returns
// ErrStale if the second product is not that of the second input. XLA's CPU plugin fails with
// matrices of such sizes.
func (e *Engine) checkStaleInputs() error {
	const rows, inner, columns = 1024, 2048, 256
	exec, err := graph.NewExec(e.backend, func(w, x *graph.Node) *graph.Node { return graph.Dot(w, x).Product() })
	if err != nil {
		return err
	}
	defer exec.Finalize()
	w, err := e.constantTensor(1, rows, inner)
	if err != nil {
		return err
	}
	defer w.FinalizeAll()
	x, err := e.Zeros(inner, columns)
	if err != nil {
		return err
	}
	defer x.FinalizeAll()
	for _, value := range []float32{1, 2} {
		if err := fill(x, value); err != nil {
			return err
		}
		if err := isProduct(exec, w, x, value*inner); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) constantTensor(value float32, dims ...int) (*tensors.Tensor, error) {
	t, err := e.Zeros(dims...)
	if err != nil {
		return nil, err
	}
	return t, fill(t, value)
}

func fill(t *tensors.Tensor, value float32) error {
	return tensors.MutableFlatData(t, func(flat []float32) {
		for i := range flat {
			flat[i] = value
		}
	})
}

func isProduct(exec *graph.Exec, w, x *tensors.Tensor, want float32) error {
	out, err := exec.Call(w, x)
	if err != nil {
		return err
	}
	defer out[0].FinalizeAll()
	wrong := 0
	err = tensors.ConstFlatData(out[0], func(flat []float32) {
		for _, v := range flat {
			if v != want {
				wrong++
			}
		}
	})
	if err == nil && wrong > 0 {
		return fmt.Errorf("%w (%d of %d numbers)", ErrStale, wrong, out[0].Size())
	}
	return err
}

// checkPrecision convolves numbers that need eleven bits of mantissa with kernels of ones
// (1 x 1 and 3 x 3) and returns ErrRounded if they were rounded.
func (e *Engine) checkPrecision() error {
	const channels, side, records, value = 64, 6, 32, 1 + 1.0/(1<<11)
	exec, err := graph.NewExec(e.backend, func(x *graph.Node) []*graph.Node {
		var out []*graph.Node
		for _, k := range []int{1, 3} {
			ones := graph.Ones(x.Graph(), shapes.Make(dtypes.Float32, channels, channels, k, k))
			y := graph.Convolve(x, ones).AxesConfig(channelsFirst).Done()
			out = append(out, graph.DivScalar(y, channels*k*k))
		}
		return out
	})
	if err != nil {
		return err
	}
	defer exec.Finalize()
	x, err := e.constantTensor(value, records, channels, side, side)
	if err != nil {
		return err
	}
	defer x.FinalizeAll()
	out, err := exec.Call(x)
	if err != nil {
		return err
	}
	for _, y := range out {
		defer y.FinalizeAll()
		var got float32
		if err := tensors.ConstFlatData(y, func(flat []float32) { got = flat[0] }); err != nil {
			return err
		}
		if err := checkMean(got, value); err != nil {
			return err
		}
	}
	return nil
}

// checkMean returns ErrRounded if the mean of equal numbers differs from them by more than
// the rounding of the sum.
func checkMean(mean float32, of float64) error {
	if off := math.Abs(float64(mean) - of); !(off <= 1.0/(1<<16)) {
		return fmt.Errorf("%w (%g for %g)", ErrRounded, mean, of)
	}
	return nil
}

// channelsFirst is PyTorch's layout of images.
var channelsFirst = compute.ConvolveAxesConfig{
	InputBatch: 0, InputChannels: 1, InputSpatial: []int{2, 3},
	KernelOutputChannels: 0, KernelInputChannels: 1, KernelSpatial: []int{2, 3},
	OutputBatch: 0, OutputChannels: 1, OutputSpatial: []int{2, 3},
}
