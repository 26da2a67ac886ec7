package losstest_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/nn/loss/losstest"
)

// logCosh is the loss of docs/extending.md, in a package of its own: with exported names only.
type logCosh struct{}

func (logCosh) Name() string  { return "log-cosh" }
func (logCosh) About() string { return "an output against numbers, forgiving outliers" }

func (l logCosh) Inputs(outputs map[string]int) (map[string]int, error) {
	w, err := loss.OutputWidth(l, outputs, nn.Output)
	return map[string]int{loss.Target: w}, err
}

func (logCosh) Check(map[string]array.Matrix[float32]) error { return nil }

func (logCosh) Graph(g loss.Batch) loss.Value {
	x := Abs(Sub(g.Outputs[nn.Output], g.Inputs[loss.Target]))
	parts := Add(x, Log(MulScalar(AddScalar(Exp(MulScalar(x, -2)), 1), 0.5)))
	return loss.Value{Losses: ReduceAndKeep(parts, ReduceSum, 0)}
}

func TestALossOfAnotherPackageConforms(t *testing.T) { losstest.Run(t, logCosh{}, nil) }
