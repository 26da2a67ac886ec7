package train

import (
	"math"
	"runtime"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
)

// keys stands in for the dropout keys of a step.
func keys(term, layer int) uint64 {
	return engine.Root(7).Counter(engine.StreamDropout, uint64(term), uint64(layer))
}

func TestGradientIsThatOfTheFloat64Twin(t *testing.T) {
	cases := map[string]struct {
		dropout *float64
		batches []batch
	}{
		"without dropout": {new(0.0), []batch{{term: 0}, {term: 1}}},
		"with dropout":    {new(0.2), []batch{{term: 0}, {term: 1}}},
		"heavy dropout":   {new(0.7), []batch{{term: 0}, {term: 1}}},
		"mini-batch":      {new(0.2), []batch{{term: 0, rows: []int{5, 0, 69, 33, 8}}, {term: 1}}},
		"one record":      {new(0.2), []batch{{term: 0, rows: []int{41}}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			arch := tabular.MLP{Features: 5, Outputs: 3, Hidden: 9, Dropout: c.dropout}
			o := mixed(70, 6, 5)
			p := model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit))
			g := newGradients(openRunner(t, arch, 0))
			defer g.close()
			loss, grads, err := g.valueAndGradient(p, o, c.batches, keys)
			if err != nil {
				t.Fatal(err)
			}
			wantLoss, want := twin{arch}.evaluate(float64s(p), o, c.batches, keys)
			if math.Abs(loss-wantLoss) > 1e-6 {
				t.Errorf("loss %v, twin %v", loss, wantLoss)
			}
			if d := worst(grads, want); !(d < 2e-6) {
				t.Errorf("gradient is %g off the twin's", d)
			}
		})
	}
}

// The twin is itself checked: central differences of its loss, where no unit of
// these records sits within the step of a kink.
func TestTwinGradientIsTheDifferenceQuotientOfItsLoss(t *testing.T) {
	arch := tabular.MLP{Features: 5, Outputs: 3, Hidden: 9, Dropout: new(0.3)}
	w, o := twin{arch}, mixed(20, 4, 5)
	p := float64s(model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit)))
	all := []batch{{term: 0}, {term: 1}}
	_, grads := w.evaluate(p, o, all, keys)
	const h = 1e-6
	for i := range p {
		for j := range p[i] {
			v := p[i][j]
			p[i][j] = v + h
			up, _ := w.evaluate(p, o, all, keys)
			p[i][j] = v - h
			down, _ := w.evaluate(p, o, all, keys)
			p[i][j] = v
			if d := math.Abs((up-down)/(2*h) - grads[i][j]); d > 1e-7 {
				t.Fatalf("tensor %d, element %d: %g off", i, j, d)
			}
		}
	}
}

func TestTheCutIntoChunksDoesNotChangeTheGradient(t *testing.T) {
	arch := tabular.MLP{Features: 5, Outputs: 3, Hidden: 9}
	o := mixed(333, 40, 5)
	p := model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit))
	all := []batch{{term: 0}, {term: 1}}
	wantLoss, want := twin{arch}.evaluate(float64s(p), o, all, keys)
	for _, chunk := range []int{1, 7, 32, 100, 256, 333, 5000} {
		g := newGradients(openRunner(t, arch, chunk))
		loss, grads, err := g.valueAndGradient(p, o, all, keys)
		if err != nil {
			t.Fatal(err)
		}
		g.close()
		if d := worst(grads, want); !(d < 3e-6) || math.Abs(loss-wantLoss) > 1e-6 {
			t.Errorf("chunks of %d: gradient %g off, loss %v instead of %v", chunk, d, loss, wantLoss)
		}
	}
}

// More chunks than lanes, so that the order of the sums would show.
func TestGradientHasTheSameBitsOnAnyNumberOfCores(t *testing.T) {
	arch := tabular.MLP{Features: 5, Outputs: 3, Hidden: 9}
	o := mixed(700, 40, 5)
	p := model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit))
	all := []batch{{term: 0}, {term: 1}}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var wantLoss float64
	var want [][]float64
	for _, cores := range []int{1, 2, 4, 2, 1} {
		runtime.GOMAXPROCS(cores)
		g := newGradients(openRunner(t, arch, 16))
		loss, grads, err := g.valueAndGradient(p, o, all, keys)
		if err != nil {
			t.Fatal(err)
		}
		g.close()
		if want == nil {
			wantLoss, want = loss, grads
		}
		if loss != wantLoss || worst(grads, want) != 0 {
			t.Errorf("%d cores: another result than on 1", cores)
		}
	}
}
