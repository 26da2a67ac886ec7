package train

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
)

// thin is a network with batch normalisation on images of 8 x 8 pixels.
var thin = vision.SmallCNN{Side: 8, Width: 2, Hidden: 4, Outputs: 3, Norm: true}

// thinWeights repeats the formula of testdata/golden_inference.py.
func thinWeights() nn.Params {
	p := model.InitialWeights(thin, engine.Root(0).Stream(engine.StreamInit))
	for k := range p {
		for i := range p[k].Data {
			v := float32((i*i*13+i*29+k*53+7)%97-42) / 64
			if strings.HasSuffix(p[k].Name, "running_var") {
				v = float32(math.Abs(float64(v))) + 0.25
			}
			p[k].Data[i] = v
		}
	}
	return p
}

func images(n int) (array.Matrix[float32], []int) {
	x, y := array.New[float32](n, 64), make([]int, n)
	for i := range n {
		for j := range x.Row(i) {
			x.Row(i)[j] = float32((i*31+j*17+5)%61-30) / 16
		}
		y[i] = (i/2 + i%3) % 3
	}
	return x, y
}

// testdata/inference.json was made by testdata/golden_inference.py with PyTorch
// 2.15.0 in float64, model.eval(), three batches.
func TestTheGradientInInferenceIsPyTorchsWithBatchNormalisation(t *testing.T) {
	b, err := os.ReadFile("testdata/inference.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Grads map[string][]float64 }
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	x, y := images(10)
	p := thinWeights()
	before := p.Hash()
	got, err := Gradient(context.Background(), openRunner(t, thin, 3), p, Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}, 4, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range p {
		if v.State {
			if got[k] != nil {
				t.Errorf("%s is state and has a gradient", v.Name)
			}
			continue
		}
		g := want.Grads[v.Name]
		if len(g) != len(got[k]) {
			t.Fatalf("%s: %d elements, PyTorch has %d", v.Name, len(got[k]), len(g))
		}
		for j := range g {
			if math.Abs(got[k][j]-g[j]) > 3e-6 {
				t.Errorf("%s element %d: %v, PyTorch %v", v.Name, j, got[k][j], g[j])
			}
		}
	}
	if p.Hash() != before {
		t.Error("the weights or the running statistics have moved")
	}
}

func TestTheGradientInInferenceHasDropoutOff(t *testing.T) {
	arch, still := tabular.MLP{Features: 5, Outputs: 3, Hidden: 9, Dropout: new(0.5)}, tabular.MLP{Features: 5, Outputs: 3, Hidden: 9, Dropout: new(0.0)}
	p, o := initial(arch), mixed(70, 6, 5)
	for _, size := range []int{0, 16, 1} {
		got, err := Gradient(context.Background(), openRunner(t, arch, 32), p, o, size, Mode{})
		if err != nil {
			t.Fatal(err)
		}
		var want [][]float64
		for _, b := range cutByHand(o, size) {
			_, g := twin{still}.evaluate(float64s(p), o, []batch{b}, keys)
			want = added(want, g)
		}
		if d := worst(got, want); !(d < 3e-6) {
			t.Errorf("batches of %d: %g off the twin's", size, d)
		}
	}
}

// cutByHand lists neighbours by a loop of its own.
func cutByHand(o Objective, size int) []batch {
	var out []batch
	for k, t := range o {
		var rows []int
		for i := range t.X.Rows {
			rows = append(rows, i)
			if size > 0 && len(rows) == size || i == t.X.Rows-1 {
				out, rows = append(out, batch{k, rows}), nil
			}
		}
	}
	return out
}

func added(a, b [][]float64) [][]float64 {
	if a == nil {
		return b
	}
	for i := range b {
		for j, v := range b[i] {
			a[i][j] += v
		}
	}
	return a
}

func TestTheGradientInTrainingHasDropoutOfItsSeed(t *testing.T) {
	arch := tabular.MLP{Features: 5, Outputs: 3, Hidden: 9, Dropout: new(0.5)}
	p, o := initial(arch), mixed(70, 6, 5)[:1]
	got, err := Gradient(context.Background(), openRunner(t, arch, 32), p, o, 16, Mode{Training: true, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	var want [][]float64
	for i, b := range cutByHand(o, 16) {
		_, g := twin{arch}.evaluate(float64s(p), o, []batch{b}, func(term, layer int) uint64 {
			return engine.Root(9).Counter(engine.StreamDropout, uint64(i), uint64(term), uint64(layer))
		})
		want = added(want, g)
	}
	if d := worst(got, want); !(d < 3e-6) {
		t.Errorf("%g off the twin's", d)
	}
}

// A normalisation that uses the batch has another gradient than one that does not.
func TestTheGradientInTrainingUsesTheBatchsStatistics(t *testing.T) {
	x, y := images(10)
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	r := openRunner(t, thin, 0)
	at := func(p nn.Params, m Mode) [][]float64 {
		g, err := Gradient(context.Background(), r, p, o, 0, m)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	p, other := thinWeights(), thinWeights()
	for k := range other {
		if strings.HasSuffix(other[k].Name, "running_mean") {
			other[k].Data[0]++
		}
	}
	if d := worst(at(p, Mode{Training: true}), at(other, Mode{Training: true})); d != 0 {
		t.Errorf("in training running statistics change the gradient by %g", d)
	}
	if d := worst(at(p, Mode{}), at(other, Mode{})); !(d > 1e-3) {
		t.Errorf("in inference running statistics change the gradient by %g only", d)
	}
}

func TestAGradientThatCannotBeTakenIsRefusedByName(t *testing.T) {
	r, o := openRunner(t, small, 0), mixed(70, 6, 5)
	at := func(ctx context.Context, r *model.Runner, p nn.Params, o Objective, size int) error {
		g, err := Gradient(ctx, r, p, o, size, Mode{})
		if g != nil {
			t.Error("a gradient beside the error")
		}
		return err
	}
	background := context.Background()
	wantWords(t, at(background, r, initial(small), nil, 0), "no terms")
	wantWords(t, at(background, r, initial(small), o, -1), "batches of -1")
	wantWords(t, at(background, r, initial(small)[:3], o, 0), "3 tensors against 6")
	gone, cancel := context.WithCancel(background)
	cancel()
	if err := at(gone, r, initial(small), o, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}
