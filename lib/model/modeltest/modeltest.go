// Package modeltest has what tests of networks share.
package modeltest

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// OpenRunner returns a runner on the engine of the tests, which closes when the test ends.
func OpenRunner(t testing.TB, arch model.Architecture) *model.Runner {
	t.Helper()
	return NewRunner(t, arch, enginetest.Open)
}

// NewRunner is OpenRunner on the engine that open opens.
func NewRunner(t testing.TB, arch model.Architecture, open func() (*engine.Engine, error)) *model.Runner {
	t.Helper()
	e, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	r, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// IsSlope checks a gradient at the weights p: in every tensor, the central difference of the loss
// over steps of h along the gradient is the gradient's norm, to 2 %.
func IsSlope(t *testing.T, p nn.Params, grads [][]float64, h float64, loss func(p nn.Params) float64) {
	t.Helper()
	for i := range p {
		var norm float64
		for _, g := range grads[i] {
			norm += g * g
		}
		norm = math.Sqrt(norm)
		at := func(h float64) float64 {
			q := p.Clone()
			for j, g := range grads[i] {
				q[i].Data[j] += float32(h * g / norm)
			}
			return loss(q)
		}
		if slope := (at(h) - at(-h)) / (2 * h); math.Abs(slope-norm) > 0.02*norm+5e-4 {
			t.Errorf("%s: slope %v, gradient %v", p[i].Name, slope, norm)
		}
	}
}
