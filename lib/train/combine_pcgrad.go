package train

// PCGrad is gradient surgery by projection (Yu et al., NeurIPS 2020, algorithm 1):
// from each term's gradient is taken, one other term after another, the part that
// goes against that term's gradient, and the results are added up:
//
//	h_i = g_i;  for j other than i:  if h_i . g_j < 0:  h_i -= (h_i . g_j / |g_j|^2) g_j
//	step = sum_i h_i
//
// Every h_i is a combination of the gradients, so that the products decide the
// weights, which are at least 1. Terms that do not conflict have weight 1. Of two
// terms neither rises; of more one may, because a later projection can undo an
// earlier one.
//
// Differs from the paper: 1. The others come in the order of the terms, where the
// paper draws an order in every step. For two terms there is only one.
type PCGrad struct{}

var _ GradientCombiner = PCGrad{}

// Weights implements Mixer.
func (PCGrad) Weights(_ []float64, gram [][]float64) ([]float64, error) {
	if err := checkGram(gram, 0); err != nil {
		return nil, err
	}
	w := make([]float64, len(gram))
	for i := range gram {
		for k, v := range projected(i, gram) {
			w[k] += v
		}
	}
	return w, nil
}

// projected is h_i as a combination of the gradients.
func projected(i int, gram [][]float64) []float64 {
	h := make([]float64, len(gram))
	h[i] = 1
	for j := range gram {
		if j == i {
			continue
		}
		var along float64 // h_i . g_j
		for k, v := range h {
			along += float64(v * gram[k][j])
		}
		if along < 0 {
			h[j] -= along / gram[j][j]
		}
	}
	return h
}
