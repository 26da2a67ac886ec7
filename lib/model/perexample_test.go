// Tests of perexample.go.

package model_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

func openRunner(arch model.Architecture) (*model.Runner, error) {
	e, err := engine.Open("auto")
	if err != nil {
		return nil, err
	}
	return model.NewRunner(e, arch)
}

// hand is a chain of one unit per layer: for x = 1, h1 = 2, h2 = 1 and
// z = (log 3, 0), so that p = (3/4, 1/4).
func hand(t *testing.T) (*model.Runner, nn.Params, array.Matrix[float32]) {
	t.Helper()
	arch := tabular.MLP{Features: 1, Outputs: 2, Hidden: 1}
	r, err := openRunner(arch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Engine.Close)
	p := arch.Init(engine.Root(1).Stream(engine.StreamInit))
	for i, v := range [][]float32{{2}, {0}, {0.5}, {0}, {float32(math.Log(3)), 0}, {0, 0}} {
		copy(p[i].Data, v)
	}
	x := array.New[float32](1, 1)
	x.Data[0] = 1
	return r, p, x
}

// labelled are records with labels of the runner's classes.
func labelled(r *model.Runner, x array.Matrix[float32], y []int) model.Examples {
	return model.LabelledExamples(x, y, model.OutputWidths(r.Arch)[nn.Logits])
}

func checkClose(t *testing.T, what string, got nn.Params, want [][]float64) {
	t.Helper()
	for i, w := range want {
		for j, v := range w {
			if g := float64(got[i].Data[j]); math.Abs(g-v) > 1e-6*math.Abs(v) {
				t.Errorf("%s: %s[%d] is %v, by hand %v", what, got[i].Name, j, g, v)
			}
		}
	}
}

// With label 0 the adjoint of z is (-1/4, 1/4), that of h2 is -log 3 / 4, and
// that of h1 is -log 3 / 8.
func TestGradientsOfAChainComputedByHand(t *testing.T) {
	r, p, x := hand(t)
	l := math.Log(3)
	norms, err := r.GradientNorms(p, labelled(r, x, []int{0}))
	if err != nil {
		t.Fatal(err)
	}
	want := math.Sqrt(4*(1./16) + l*l*(1./4+1./16+2./64))
	if math.Abs(norms[0]-want) > 1e-6*want {
		t.Errorf("norm %v, by hand %v", norms[0], want)
	}
	g := [][]float64{{-l / 8}, {-l / 8}, {-l / 2}, {-l / 4}, {-0.25, 0.25}, {-0.25, 0.25}}
	half := make([][]float64, len(g))
	squared := make([][]float64, len(g))
	for i := range g {
		for _, v := range g[i] {
			half[i] = append(half[i], v/2)
			squared[i] = append(squared[i], v*v)
		}
	}
	sum, share, err := r.ClippedSum(p, labelled(r, x, []int{0}), want/2)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "clipped to half its norm", sum, half)
	if share != 1 {
		t.Errorf("share clipped %v", share)
	}
	sum, share, err = r.ClippedSum(p, labelled(r, x, []int{0}), want*2)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "not clipped", sum, g)
	if share != 0 {
		t.Errorf("share clipped %v", share)
	}
	empirical, err := r.EmpiricalFisher(p, labelled(r, x, []int{0}))
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "empirical Fisher", empirical, squared)
}

// The adjoint of z has entries of second moment p (1-p) = 3/16 over the model's
// own classes, and everything behind it is linear.
func TestFisherDiagonalOfAChainComputedByHand(t *testing.T) {
	r, p, x := hand(t)
	l2 := math.Log(3) * math.Log(3)
	got, err := r.FisherDiagonal(p, x)
	if err != nil {
		t.Fatal(err)
	}
	const v = 3. / 16
	checkClose(t, "Fisher", got, [][]float64{{v * l2 / 4}, {v * l2 / 4}, {v * l2 * 4}, {v * l2}, {v, v}, {v, v}})
}

// A perfectly fitted record has gradient 0, which must not become 0 / 0.
func TestARecordWithoutAGradientIsNotClipped(t *testing.T) {
	r, p, x := hand(t)
	p[4].Data[0] = 500
	sum, share, err := r.ClippedSum(p, labelled(r, x, []int{0}), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := sum.Check(); err != nil || share != 0 {
		t.Errorf("share %v: %v", share, err)
	}
}

// shared uses one weight in two layers, which per-record squares cannot add up.
type shared struct{ tabular.MLP }

func (s shared) Forward(t *nn.Tape, p []*Node, x *Node, masks []*Node) model.Trace {
	h := nn.Dense(t, nn.Dense(t, x, p[0], p[1]), p[2], p[3])
	h = nn.Dense(t, h, p[2], p[3])
	z := nn.Dense(t, h, p[4], p[5])
	return model.ClassifierTrace(z, h)
}

func TestAWeightUsedTwiceIsRefusedByName(t *testing.T) {
	r, err := openRunner(shared{tabular.MLP{Features: 2, Outputs: 2, Hidden: 3}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Engine.Close()
	p := r.Arch.Init(engine.Root(1).Stream(engine.StreamInit))
	_, err = r.GradientNorms(p, labelled(r, array.New[float32](1, 2), []int{0}))
	if err == nil || !strings.Contains(err.Error(), "hidden2.weight") {
		t.Errorf("error %v", err)
	}
}

// The Fisher information tells which weights a model's predictions hang on: the
// input weight of a column that is always zero carries none.
func ExampleRunner_FisherDiagonal() {
	r, err := openRunner(tabular.MLP{Features: 2, Outputs: 2, Hidden: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Engine.Close()
	x := array.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{1, 0, -1, 0, 2, 0}}
	p := r.Arch.Init(engine.Root(1).Stream(engine.StreamInit))
	fisher, err := r.FisherDiagonal(p, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := fisher[0]
	fmt.Println(first.Name, first.Shape, first.Data[0] > 0, first.Data[1])
	// Output: hidden1.weight [4 2] true 0
}
