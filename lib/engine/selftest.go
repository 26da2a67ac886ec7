// A short test of an engine: does it compute what it should, does it repeat, how fast is it?

package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// SelfTest is the result of Engine.SelfTest.
type SelfTest struct {
	Compile  time.Duration `json:"compile_ns"` // of the two programs
	Product  float64       `json:"gflops"`     // 10^9 operations per second of a product of two 2048 x 2048 matrices
	Step     time.Duration `json:"step_ns"`    // of one step of a small network, with its upload
	Repeats  bool          `json:"repeats"`    // two trainings have the same bits
	Compiled int           `json:"compiled"`   // programs that XLA has compiled in this process
	Loaded   int           `json:"loaded"`     // programs that were loaded from an earlier process
}

// String returns the result in one line.
func (s SelfTest) String() string {
	repeats := "two trainings have the same bits"
	if !s.Repeats {
		repeats = "two trainings differ in their bits"
	}
	return fmt.Sprintf("compiled in %.1f s (%d programs compiled, %d loaded), products at %.0f GFLOP/s, a small step in %.2f ms, %s",
		s.Compile.Seconds(), s.Compiled, s.Loaded, s.Product, float64(s.Step)/1e6, repeats)
}

// selfTestSteps is the number of steps of the small network.
const selfTestSteps = 20

// SelfTest multiplies matrices for at most half of the time, and trains a small network twice.
// It is an error if a product or the loss is wrong. The time does not limit compiling.
func (e *Engine) SelfTest(ctx context.Context, limit time.Duration) (SelfTest, error) {
	var out SelfTest
	if err := e.timeProducts(ctx, limit/2, &out); err != nil {
		return out, Explain(err)
	}
	if err := e.trainTwice(ctx, &out); err != nil {
		return out, Explain(err)
	}
	out.Compiled, out.Loaded = e.Programs()
	return out, nil
}

// timeProducts multiplies a matrix of ones by itself, eight times in one execution.
func (e *Engine) timeProducts(ctx context.Context, limit time.Duration, out *SelfTest) error {
	const n, chain = 2048, 8
	exec, err := graph.NewExec(e.backend, func(x *graph.Node) *graph.Node {
		y := x
		for range chain {
			y = graph.MulScalar(graph.Dot(y, x).Product(), 1.0/n)
		}
		return y
	})
	if err != nil {
		return err
	}
	defer exec.Finalize()
	x, err := e.FromFunc(func(flat []float32) {
		for i := range flat {
			flat[i] = 1
		}
	}, n, n)
	if err != nil {
		return err
	}
	defer x.FinalizeAll()
	once := func() error {
		y, err := exec.Call(x)
		if err != nil {
			return err
		}
		defer y[0].FinalizeAll()
		return tensors.ConstFlatData(y[0], func(flat []float32) {
			if flat[0] != 1 || flat[len(flat)-1] != 1 {
				err = fmt.Errorf("a product of ones has %g and %g for 1", flat[0], flat[len(flat)-1])
			}
		})
	}
	start := time.Now()
	if err := once(); err != nil {
		return err
	}
	out.Compile = time.Since(start)
	best := time.Duration(math.MaxInt64)
	for start = time.Now(); best == math.MaxInt64 || time.Since(start) < limit; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		began := time.Now()
		if err := once(); err != nil {
			return err
		}
		best = min(best, time.Since(began))
	}
	out.Product = 2 * n * n * n * chain / best.Seconds() / 1e9
	return nil
}

// trainTwice trains a network of one hidden layer twice on the same numbers.
func (e *Engine) trainTwice(ctx context.Context, out *SelfTest) error {
	const records, inputs, hidden, rate = 256, 64, 128, 0.1
	exec, err := graph.NewExec(e.backend, func(x, w, v *graph.Node) []*graph.Node {
		y := graph.Dot(graph.Max(graph.Dot(w, x).Product(), graph.Scalar(x.Graph(), x.DType(), 0)), v).Product()
		loss := graph.ReduceAllMean(graph.Square(graph.AddScalar(y, -1)))
		slopes := graph.Gradient(loss, w, v)
		return []*graph.Node{loss, graph.Sub(w, graph.MulScalar(slopes[0], rate)), graph.Sub(v, graph.MulScalar(slopes[1], rate))}
	})
	if err != nil {
		return err
	}
	defer exec.Finalize()
	var runs [2][]float32
	for i := range runs {
		start := time.Now()
		losses, first, err := e.trainOnce(ctx, exec, [3][]int{{inputs, records}, {hidden, inputs}, {records, 1}})
		if err != nil {
			return err
		}
		runs[i] = losses
		if i == 0 {
			out.Compile += first
		} else {
			out.Step = time.Since(start) / selfTestSteps
		}
	}
	out.Repeats = slices.Equal(runs[0], runs[1])
	if last := runs[0][selfTestSteps-1]; !(last < runs[0][0]) {
		return fmt.Errorf("the loss of a small network went from %g to %g", runs[0][0], last)
	}
	return nil
}

// trainOnce returns the losses of all steps and the time of the first.
func (e *Engine) trainOnce(ctx context.Context, exec *graph.Exec, shapes [3][]int) (losses []float32, first time.Duration, err error) {
	var in [3]*tensors.Tensor
	for i, dims := range shapes {
		if in[i], err = e.FromFunc(func(flat []float32) {
			for j := range flat {
				flat[j] = float32(math.Sin(float64(j*(i+3)))) / 8
			}
		}, dims...); err != nil {
			return nil, 0, err
		}
	}
	defer func() {
		for _, t := range in {
			t.FinalizeAll()
		}
	}()
	for step := range selfTestSteps {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		start := time.Now()
		got, err := exec.Call(in[0], in[1], in[2])
		if err != nil {
			return nil, 0, err
		}
		if err := tensors.ConstFlatData(got[0], func(flat []float32) { losses = append(losses, flat[0]) }); err != nil {
			return nil, 0, err
		}
		got[0].FinalizeAll()
		in[1].FinalizeAll()
		in[2].FinalizeAll()
		in[1], in[2] = got[1], got[2]
		if step == 0 {
			first = time.Since(start)
		}
	}
	return losses, first, nil
}
