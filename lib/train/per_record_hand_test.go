// Gradients per record of a network computed by hand, and networks that have none.

package train

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

// In a chain of one unit per layer, with x = 1, h1 = 2, h2 = 1 and z = (log 3, 0), p is (3/4, 1/4).
// With label 0 the adjoint of z is (-1/4, 1/4), that of h2 is -log 3 / 4, and that of h1 is -log 3 / 8.
func TestGradientsOfAChainComputedByHand(t *testing.T) {
	arch, l := tabular.MLP{Features: 1, Outputs: 2, Hidden: 1}, math.Log(3)
	r, p := openRunner(t, arch, 0), initial(arch)
	for i, v := range [][]float32{{2}, {0}, {0.5}, {0}, {float32(l), 0}, {0, 0}} {
		copy(p[i].Data, v)
	}
	one := array.Matrix[float32]{Rows: 1, Cols: 1, Data: []float32{1}}
	o := Objective{{X: one, Targets: []Target{CrossEntropy([]int{0}, 2, 1)}}}
	norms, err := GradientNorms(t.Context(), r, p, o, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(4*(1./16) + l*l*(1./4+1./16+2./64)); math.Abs(norms[0]-want) > 1e-6*want {
		t.Errorf("norm %v, by hand %v", norms[0], want)
	}
	squares, err := SquaredGradients(t.Context(), r, p, o, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range [][]float64{{-l / 8}, {-l / 8}, {-l / 2}, {-l / 4}, {-0.25, 0.25}, {-0.25, 0.25}} {
		for j, v := range g {
			if want := v * v; math.Abs(squares[i][j]-want) > 1e-6*want {
				t.Errorf("%s[%d]: squared gradient %v, by hand %v", p[i].Name, j, squares[i][j], want)
			}
		}
	}
}

// reuse has one weight in two layers, which squares per record cannot add up.
type reuse struct{ tabular.MLP }

func (s reuse) Build(b *nn.Builder, x *graph.Node) model.Trace {
	h := b.Dense("hidden2", b.Dense("hidden1", x, s.Hidden), s.Hidden)
	h = b.Reuse().Dense("hidden2", h, s.Hidden)
	return model.ClassifierTrace(b.Dense("head", h, s.Outputs), h)
}

func TestAWeightUsedTwiceIsRefusedByName(t *testing.T) {
	arch := reuse{tabular.MLP{Features: 2, Outputs: 2, Hidden: 3}}
	o := Objective{{X: array.New[float32](1, 2), Targets: []Target{CrossEntropy([]int{0}, 2, 1)}}}
	_, err := GradientNorms(t.Context(), openRunner(t, arch, 0), initial(arch.MLP), o, Mode{})
	wantWords(t, err, "hidden2.weight")
}
