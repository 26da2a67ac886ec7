package train

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	softmax "github.com/lethe-ml/lethe/lib/nn/loss"
)

// twin is the paper's MLP and its training written out in float64, one record
// and one unit at a time: the reference for the engine's graphs, chunks, masks
// and sums. It shares the layout of the weights and the mask generator with the
// library and nothing else.
type twin struct{ arch tabular.MLP }

// evaluate computes gradients.valueAndGradient with the float64 reference.
func (w twin) evaluate(p [][]float64, o Objective, batches []batch, key func(term, layer int) uint64) (loss float64, grads [][]float64) {
	grads = make([][]float64, len(p))
	for i := range p {
		grads[i] = make([]float64, len(p[i]))
	}
	for _, b := range batches {
		n := b.size(o)
		masks := w.masks(n, func(layer int) uint64 { return key(b.term, layer) })
		for k := range n {
			row := k
			if b.rows != nil {
				row = b.rows[k]
			}
			loss += w.record(p, grads, o[b.term], row, float64(n), masks, k, n)
		}
	}
	return loss, grads
}

func (w twin) masks(n int, key func(layer int) uint64) [][]float32 {
	var out [][]float32
	for l, m := range model.RandomInputs(w.arch) {
		flat := make([]float32, m.Units*n)
		if m.Rate > 0 {
			m.Fill(flat, key(l), 0, n)
		} else {
			for i := range flat {
				flat[i] = 1
			}
		}
		out = append(out, flat)
	}
	return out
}

// record adds one record's gradient and returns its loss. The mask of unit u is
// masks[layer][u*n+k].
func (w twin) record(p, grads [][]float64, t Term, row int, records float64, masks [][]float32, k, n int) float64 {
	x := make([]float64, t.X.Cols)
	for j, v := range t.X.Row(row) {
		x[j] = float64(v)
	}
	acts := [][]float64{x}
	for l := range 2 {
		h := affine(p[2*l], p[2*l+1], acts[l])
		for u := range h {
			h[u] = math.Max(h[u], 0) * float64(masks[l][u*n+k])
		}
		acts = append(acts, h)
	}
	z := affine(p[4], p[5], acts[2])
	loss := 0.0
	adjoint := make([]float64, len(z))
	for _, g := range t.Targets {
		temperature := 1.0
		if d, ok := g.Loss.(softmax.Distillation); ok && d.Temperature != 0 {
			temperature = d.Temperature
		}
		q := softened(z, temperature)
		for c, pr := range g.Inputs[softmax.Probabilities].Row(row) {
			target := float64(pr)
			if target > 0 {
				loss += g.Weight / records * temperature * temperature * target * math.Log(target/q[c])
			}
			adjoint[c] += g.Weight / records * temperature * (q[c] - target)
		}
	}
	for l := 2; l >= 0; l-- {
		below := make([]float64, len(acts[l]))
		for i, a := range adjoint {
			grads[2*l+1][i] += a
			for j, v := range acts[l] {
				grads[2*l][i*len(acts[l])+j] += a * v
				below[j] += a * p[2*l][i*len(acts[l])+j]
			}
		}
		if l > 0 {
			for u := range below {
				if acts[l][u] > 0 {
					below[u] *= float64(masks[l-1][u*n+k])
				} else {
					below[u] = 0
				}
			}
		}
		adjoint = below
	}
	return loss
}

func affine(w, b, x []float64) []float64 {
	y := append([]float64(nil), b...)
	for i := range y {
		for j, v := range x {
			y[i] += w[i*len(x)+j] * v
		}
	}
	return y
}

func softened(z []float64, t float64) []float64 {
	q := make([]float64, len(z))
	var total float64
	for c, v := range z {
		q[c] = math.Exp(v / t)
		total += q[c]
	}
	for c := range q {
		q[c] /= total
	}
	return q
}

// fit is Fit: the batches and the dropout keys are the library's, the
// arithmetic is the twin's.
func (w twin) fit(start nn.Params, o Objective, c Config) (p [][]float64, losses []float64) {
	c = c.WithDefaults()
	p = float64s(start)
	m, v := zeros(p), zeros(p)
	step := 0
	for epoch := range c.Epochs {
		var total float64
		steps := c.epochBatches(o, epoch)
		for _, batches := range steps {
			t := uint64(step)
			loss, g := w.evaluate(p, o, batches, func(term, layer int) uint64 {
				return c.Seed.Counter(engine.StreamDropout, t, uint64(term), uint64(layer))
			})
			step++
			adam(p, g, m, v, step, c.Optimizer.(nn.Adam))
			total += loss
		}
		losses = append(losses, total/float64(len(steps)))
	}
	return p, losses
}

func adam(p, g, m, v [][]float64, step int, a nn.Adam) {
	for i := range p {
		for j, x := range g[i] {
			m[i][j] = a.Beta1*m[i][j] + (1-a.Beta1)*x
			v[i][j] = a.Beta2*v[i][j] + (1-a.Beta2)*x*x
			mHat := m[i][j] / (1 - math.Pow(a.Beta1, float64(step)))
			vHat := v[i][j] / (1 - math.Pow(a.Beta2, float64(step)))
			p[i][j] -= a.LR * mHat / (math.Sqrt(vHat) + a.Eps)
		}
	}
}

func float64s(p nn.Params) [][]float64 {
	out := make([][]float64, len(p))
	for i, t := range p {
		for _, v := range t.Data {
			out[i] = append(out[i], float64(v))
		}
	}
	return out
}

func zeros(like [][]float64) [][]float64 {
	out := make([][]float64, len(like))
	for i := range like {
		out[i] = make([]float64, len(like[i]))
	}
	return out
}

// worst is the largest difference of two gradients, relative to the largest
// entry of want.
func worst(got, want [][]float64) float64 {
	var d, scale float64
	for i := range want {
		for j, v := range want[i] {
			scale = math.Max(scale, math.Abs(v))
			d = math.Max(d, math.Abs(got[i][j]-v))
		}
	}
	return d / scale
}

// openRunner opens the Go engine for a test; a chunk size of 0 is the engine's own.
func openRunner(t testing.TB, arch model.Architecture, chunk int) *model.Runner {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if chunk > 0 {
		e = e.WithChunkRows(chunk)
	}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// toy is a small table with labels, drawn from a seed.
func toy(seed engine.Root, rows, features, classes int) (array.Matrix[float32], []int) {
	rng := seed.Stream("toy")
	x := array.New[float32](rows, features)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	y := make([]int, rows)
	for i := range y {
		y[i] = rng.IntN(classes)
		x.Row(i)[0] += float32(y[i])
	}
	return x, y
}

// mixed returns an objective with everything: two terms, one of them whole, two
// targets in one term, T = 2, and a negative weight.
func mixed(rows, forget, features int) Objective {
	x, y := toy(1, rows, features, 3)
	xf, yf := toy(2, forget, features, 3)
	logits, _ := toy(3, rows, 3, 3)
	return Objective{
		{Name: "retain", X: x, Targets: []Target{CrossEntropy(y, 3, 0.6), Distillation(logits, 2, 0.4)}},
		{Name: "forget", X: xf, Targets: []Target{CrossEntropy(yf, 3, -0.4)}, Whole: true},
	}
}
