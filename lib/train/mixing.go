package train

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Mixer weighs the terms of an objective at every step by the inner products of
// their gradients, gram[i][j] = g_i . g_j. The step goes down the weighted sum.
type Mixer interface {
	Weights(gram [][]float64) ([]float64, error)
}

// MGDA is the multiple-gradient descent algorithm (Desideri 2012; Sener and Koltun
// 2018): the weights w >= 0 with sum 1 for which || sum_i w_i g_i || is smallest.
// The mixture is then a direction in which no term rises, or 0 where there is
// none. For two terms the solution is closed; for more it is Frank and Wolfe's
// with exact line search, to a gap of 1e-10 of the longest gradient's square or
// after 1000 rounds.
type MGDA struct{}

// Weights implements Mixer.
func (MGDA) Weights(gram [][]float64) ([]float64, error) {
	w := make([]float64, len(gram))
	if len(w) == 0 {
		return nil, fmt.Errorf("no gradients to mix")
	}
	longest := 0.0
	for i := range gram {
		if math.IsNaN(gram[i][i]) || math.IsInf(gram[i][i], 0) {
			return nil, nn.NotFinitef("", "the gradient of term %d has the squared length %v", i, gram[i][i])
		}
		w[i] = 1 / float64(len(gram))
		longest = math.Max(longest, gram[i][i])
	}
	for range 1000 {
		along := make([]float64, len(w)) // g_i . mixture
		var norm float64
		for i := range w {
			for j, v := range w {
				along[i] += v * gram[i][j]
			}
			norm += w[i] * along[i]
		}
		k := 0
		for i := range along {
			if along[i] < along[k] {
				k = i
			}
		}
		if norm-along[k] <= 1e-10*longest {
			break
		}
		// The point of the segment from the mixture to g_k that is nearest to 0.
		step := math.Min(1, (norm-along[k])/(norm-2*along[k]+gram[k][k]))
		for i := range w {
			w[i] *= 1 - step
		}
		w[k] += step
	}
	return w, nil
}

// mix adds the parts up with the mixer's weights.
func mix(m Mixer, parts []stepped) (stepped, error) {
	gram := make([][]float64, len(parts))
	for i := range gram {
		gram[i] = make([]float64, len(parts))
		for j := range gram[i] {
			gram[i][j] = inner(parts[i].grads, parts[j].grads)
		}
	}
	w, err := m.Weights(gram)
	if err != nil {
		return stepped{}, fmt.Errorf("train: mixing %d gradients: %w", len(parts), err)
	}
	if len(w) != len(parts) {
		return stepped{}, fmt.Errorf("train: %d weights for %d gradients", len(w), len(parts))
	}
	var out stepped
	for k, p := range parts {
		scale(p.grads, w[k])
		p.loss *= w[k]
		if k == 0 {
			out.sum = p.sum
		} else {
			out.add(p.sum)
		}
		out.states = append(out.states, p.states...)
	}
	return out, nil
}

func inner(a, b [][]float64) float64 {
	var sum float64
	for i, g := range a {
		for j, v := range g {
			sum += float64(v * b[i][j])
		}
	}
	return sum
}
