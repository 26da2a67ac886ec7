package train

import "math"

// MGDA is the multiple-gradient descent algorithm (Desideri 2012; Sener and Koltun
// 2018): the weights w >= 0 with sum 1 for which || sum_i w_i g_i || is smallest.
// The mixture is then a direction in which no term rises, or 0 where there is
// none. For two terms the solution is closed,
//
//	w_1 = clamp(((g_2 - g_1) . g_2) / |g_1 - g_2|^2, 0, 1)
//
// and half where the gradients are the same; for more it is Frank and Wolfe's with
// exact line search, to a gap of 1e-10 of the longest gradient's square or after
// 1000 rounds.
type MGDA struct{}

var _ Mixer = MGDA{}

// Weights implements Mixer.
func (MGDA) Weights(_ []float64, gram [][]float64) ([]float64, error) {
	if err := checkGram(gram, 0); err != nil {
		return nil, err
	}
	w, longest := make([]float64, len(gram)), 0.0
	for i := range gram {
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

// PrintedMGDA is the weight of two terms as BlindU prints it (below its equation
// (8), where term 1 is the retained loss and term 2 the forgotten one):
//
//	w_1 = clamp(((g_1 - g_2) . g_1) / |g_1 - g_2|^2, 0, 1)
//
// which is the weight that [MGDA] gives to the other term, so that the longer
// gradient gets more of the step instead of less: for (1, 0) and (0, 3) it is 0.1
// where 0.9 makes the shortest mixture. Half where the gradients are the same. It
// refuses other than two terms.
type PrintedMGDA struct{}

var _ Mixer = PrintedMGDA{}

// Weights implements Mixer.
func (PrintedMGDA) Weights(_ []float64, gram [][]float64) ([]float64, error) {
	if err := checkGram(gram, 2); err != nil {
		return nil, err
	}
	apart := gram[0][0] - 2*gram[0][1] + gram[1][1]
	if apart <= 0 {
		return []float64{0.5, 0.5}, nil
	}
	w := min(1, max(0, (gram[0][0]-gram[0][1])/apart))
	return []float64{w, 1 - w}, nil
}
