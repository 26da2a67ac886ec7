// Hutchinson's estimator of the diagonal of the Hessian, from differences of two gradients.

package train

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Curvature estimates the diagonal of an objective's Hessian H by Hutchinson's estimator
// from one random vector:
//
//	h = v (H v) by element,  v_j = 1 or -1, each with chance 1/2,  E h = diag H
//
// H v is a difference of two gradients, whatever the network,
//
//	H v = (g(p + s v) - g(p - s v)) / 2s,  s = 0.01/sqrt(n)
//
// for n weights, so that both points are 0.01 from p. They share a batch and the network's
// random inputs. This is the Hessian of the objective smoothed between the points, which
// exists also where a ReLU has its kink.
type Curvature struct {
	g *gradients
	o Objective
}

// probeDistance is the distance of either point from the weights.
const probeDistance = 0.01

// NewCurvature returns the estimator for an objective of one term in training mode. Call
// Close to free its memory.
func NewCurvature(r *model.Runner, o Objective) (*Curvature, error) {
	if len(o) != 1 {
		return nil, fmt.Errorf("train: curvature needs an objective of one term, this one has %d", len(o))
	}
	if err := checkRunner(r); err != nil {
		return nil, err
	}
	if err := o.check(r.Arch); err != nil {
		return nil, err
	}
	return &Curvature{newGradients(r), o}, nil
}

// Close frees the estimator's memory.
func (c *Curvature) Close() { c.g.close() }

// Estimate returns h at the weights p on the records rows (nil: all): one slice per
// tensor, nil for a tensor that is state. The signs v are the first draws of rng, tensor
// by tensor.
func (c *Curvature) Estimate(p nn.Params, rows []int, rng *rand.Rand) ([][]float64, error) {
	n, signs := 0, make([][]float64, len(p))
	for i, w := range p {
		if w.State {
			continue
		}
		signs[i] = make([]float64, len(w.Data))
		for j := range signs[i] {
			signs[i][j] = float64(2*rng.IntN(2) - 1)
		}
		n += len(w.Data)
	}
	step, seed := probeDistance/math.Sqrt(float64(n)), engine.Root(rng.Uint64())
	ahead, err := c.gradient(p, signs, step, rows, seed)
	if err != nil {
		return nil, err
	}
	behind, err := c.gradient(p, signs, -step, rows, seed)
	if err != nil {
		return nil, err
	}
	for i, v := range signs {
		for j := range v {
			v[j] *= (ahead[i][j] - behind[i][j]) / (2 * step)
		}
	}
	return signs, nil
}

// gradient returns the gradient at p + step signs, with random inputs from the seed.
func (c *Curvature) gradient(p nn.Params, signs [][]float64, step float64, rows []int, seed engine.Root) ([][]float64, error) {
	at := p.Clone()
	for i, v := range signs {
		for j, sign := range v {
			at[i].Data[j] += float32(step * sign)
		}
	}
	key := func(term, layer int) uint64 {
		return seed.Counter(engine.StreamDropout, 0, uint64(term), uint64(layer))
	}
	got, states, err := c.g.step(at, c.o, []batch{{rows: rows}}, key)
	return stepGradient{got, states}.clone().grads, err
}
