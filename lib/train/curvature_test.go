package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// smooth is a network without a kink, of 24 weights: dense, SiLU, dense.
type smooth struct{}

func (smooth) Name() string                     { return "smooth" }
func (smooth) Inputs() int                      { return 3 }
func (smooth) Classes() int                     { return 3 }
func (smooth) Returns() []model.Output          { return model.ClassifierOutputs(3) }
func (smooth) WithDefaults() model.Architecture { return smooth{} }
func (smooth) Check() error                     { return nil }
func (smooth) Build(b *nn.Builder, x *graph.Node) model.Trace {
	h := nn.SiLU(b.Tape, b.Dense("hidden", x, 3))
	z := b.Dense("head", h, 3)
	return model.ClassifierTrace(z, h, model.Layer{Name: "logits", Value: z})
}

// curvedNetwork is a network with 40 records.
func curvedNetwork(t *testing.T) (*model.Runner, nn.Params, Objective) {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	arch := smooth{}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 1))
	x, y := array.New[float32](40, 3), make([]int, 40)
	for i := range x.Data {
		x.Data[i] = float32(1.5 * rng.NormFloat64())
	}
	for i := range y {
		y[i] = rng.IntN(3)
	}
	return r, model.InitialWeights(arch, engine.Root(3).Stream(engine.StreamInit)), Objective{{Name: "records", X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
}

// secondDerivative is the whole matrix, a column by differences along a weight of its
// own.
func secondDerivative(t *testing.T, r *model.Runner, p nn.Params, o Objective) [][]float64 {
	t.Helper()
	const h = 3e-3
	slope := func(p nn.Params) (flat []float64) {
		g, err := Gradient(context.Background(), r, p, o, 0, Mode{Training: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range g {
			flat = append(flat, v...)
		}
		return flat
	}
	var out [][]float64
	for i := range p {
		for j := range p[i].Data {
			ahead, behind := p.Clone(), p.Clone()
			ahead[i].Data[j] += h
			behind[i].Data[j] -= h
			a, b := slope(ahead), slope(behind)
			for k := range a {
				a[k] = (a[k] - b[k]) / (2 * h)
			}
			out = append(out, a)
		}
	}
	return out
}

// With the signs known every estimate is v (H v), and their mean is the diagonal.
func TestTheCurvatureIsHutchinsonsEstimate(t *testing.T) {
	r, p, o := curvedNetwork(t)
	exact := secondDerivative(t, r, p, o)
	c, err := NewCurvature(r, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const draws = 600
	n := len(exact)
	mean, square := make([]float64, n), make([]float64, n)
	for s := range uint64(draws) {
		h, err := c.Estimate(p, nil, rand.New(rand.NewPCG(s, 9)))
		if err != nil {
			t.Fatal(err)
		}
		signs, again := make([]float64, n), rand.New(rand.NewPCG(s, 9))
		for i := range signs {
			signs[i] = float64(2*again.IntN(2) - 1)
		}
		k := 0
		for _, part := range h {
			for _, got := range part {
				want := 0.0
				for j, v := range signs {
					want += signs[k] * exact[k][j] * v
				}
				if math.Abs(got-want) > 0.02+0.02*math.Abs(want) {
					t.Fatalf("draw %d, weight %d: %v, want %v", s, k, got, want)
				}
				mean[k] += got / draws
				square[k] += got * got / draws
				k++
			}
		}
	}
	for k, m := range mean {
		chance := 5 * math.Sqrt(math.Max(0, square[k]-m*m)/draws)
		if math.Abs(m-exact[k][k]) > chance+5e-3 {
			t.Errorf("weight %d: the mean is %v +- %v, the second derivative %v", k, m, chance, exact[k][k])
		}
	}
}

// The rows that are asked about are those looked at.
func TestTheCurvatureOfSomeRecordsIsTheirOwn(t *testing.T) {
	r, p, o := curvedNetwork(t)
	rows := []int{3, 7, 30}
	some := Objective{o[0]}
	some[0].X = o[0].X.Gather(rows)
	for name, in := range o[0].Targets[0].Inputs {
		some[0].Targets = []Target{{Loss: o[0].Targets[0].Loss, Weight: 1, Inputs: map[string]array.Matrix[float32]{name: in.Gather(rows)}}}
	}
	estimate := func(o Objective, rows []int) [][]float64 {
		c, err := NewCurvature(r, o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		h, err := c.Estimate(p, rows, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	want, got, all := estimate(some, nil), estimate(o, rows), estimate(o, nil)
	differs := false
	for i := range want {
		for j, v := range want[i] {
			if math.Abs(v-got[i][j]) > 1e-6+1e-4*math.Abs(v) {
				t.Errorf("tensor %d[%d]: %v, want %v", i, j, got[i][j], v)
			}
			differs = differs || math.Abs(v-all[i][j]) > 0.01
		}
	}
	if !differs {
		t.Error("three records curve as all do: this test looks at nothing")
	}
	if _, err := NewCurvature(r, append(o, o...)); err == nil {
		t.Error("two terms are not refused")
	}
}
