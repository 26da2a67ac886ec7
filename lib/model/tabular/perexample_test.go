// Per-example gradients against a loop over records.

package tabular

import (
	"math"
	"reflect"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// byLoop computes every record's gradient, each in a batch of one and by the
// library's automatic differentiation.
func byLoop(t *testing.T, r *model.Runner, p nn.Params, x array.Matrix[float32], y []int) [][][]float64 {
	t.Helper()
	grads := make([][][]float64, x.Rows)
	s := newStep(t, r, x.Gather([]int{0}), y[:1])
	for i := range grads {
		s.load(x.Gather([]int{i}), y[i:i+1])
		_, grads[i] = s.run(s.auto, p, nil)
	}
	return grads
}

// labelled are records with labels of the runner's classes.
func labelled(r *model.Runner, x array.Matrix[float32], y []int) train.Objective {
	return train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, model.OutputWidths(r.Arch)[nn.Logits], 1)}}}
}

func norm(g [][]float64) float64 {
	var sum float64
	for _, t := range g {
		for _, v := range t {
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}

// add adds factor times f of every entry of g to sum.
func add(sum, g [][]float64, factor float64, f func(v float64) float64) [][]float64 {
	if sum == nil {
		for _, t := range g {
			sum = append(sum, make([]float64, len(t)))
		}
	}
	for i, t := range g {
		for j, v := range t {
			sum[i][j] += factor * f(v)
		}
	}
	return sum
}

func square(v float64) float64 { return v * v }

// The table is larger than a chunk, so that sums over chunks and padding enter.
const loopRows = 70

func TestPerExampleGradientsAreThoseOfALoop(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := weights(r.Arch, 1)
		x, y := toy(loopRows, 5)
		grads := byLoop(t, r, p, x, y)
		norms, err := train.GradientNorms(t.Context(), r, p, labelled(r, x, y), train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		var squares [][]float64
		for i, g := range grads {
			if want := norm(g); math.Abs(norms[i]-want) > 1e-6*want {
				t.Errorf("record %d: norm %v, in the loop %v", i, norms[i], want)
			}
			squares = add(squares, g, 1.0/loopRows, square)
		}
		got, err := train.SquaredGradients(t.Context(), r, p, labelled(r, x, y), train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		if d, name := apart(t, p, got, squares); !(d < 1e-6) {
			t.Errorf("squared gradients: %s is %g apart", name, d)
		}
	})
}

func TestPerExampleGradientsDoNotDependOnTheChunk(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := weights(r.Arch, 1)
		x, y := toy(loopRows, 5)
		small, err := model.NewRunner(r.Engine.WithChunkRows(32), r.Arch)
		if err != nil {
			t.Fatal(err)
		}
		squares := func(r *model.Runner) [][]float64 {
			got, err := train.SquaredGradients(t.Context(), r, p, labelled(r, x, y), train.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		a := squares(r)
		if d, name := apart(t, p, a, squares(small)); !(d < 1e-6) {
			t.Errorf("%s is %g apart", name, d)
		}
		if again := squares(r); !reflect.DeepEqual(again, a) {
			t.Error("the same call twice gives other bits")
		}
	})
}
