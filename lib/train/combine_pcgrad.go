package train

import (
	"github.com/gomlx/gomlx/core/graph"
)

// PCGrad is gradient surgery by projection (Yu et al., NeurIPS 2020, algorithm 1). From
// each term's gradient it subtracts, for every other term in turn, the component against
// that term's gradient, and adds up the results:
//
//	h_i = g_i;  for j other than i:  if h_i . g_j < 0:  h_i -= (h_i . g_j / |g_j|^2) g_j
//	step = sum_i h_i
//
// Every h_i is a combination of the gradients, so the inner products determine the
// weights, which are at least 1. Terms that do not conflict have weight 1. With two terms
// neither increases; with more one may, because a later projection can undo an earlier
// one.
//
// Differs from the paper: 1. The other terms come in a fixed order; the paper draws an
// order in every step. For two terms there is only one.
type PCGrad struct{}

var _ GradientCombiner = PCGrad{}

// Weights implements GradientCombiner.
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

// projected returns h_i as coefficients of the gradients.
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

var _ GraphCombiner = PCGrad{}

// GraphTerms implements GraphCombiner: any number.
func (PCGrad) GraphTerms(int) bool { return true }

// GraphWeights implements GraphCombiner.
func (PCGrad) GraphWeights(_ []*graph.Node, gram [][]*graph.Node) []*graph.Node {
	w := make([]*graph.Node, len(gram))
	for i := range gram {
		for k, v := range projectedGraph(i, gram) {
			w[k] = addNodes(w[k], v)
		}
	}
	return w
}

// projectedGraph is projected on scalars.
func projectedGraph(i int, gram [][]*graph.Node) []*graph.Node {
	h := make([]*graph.Node, len(gram))
	for k := range h {
		h[k] = graph.ZerosLike(gram[i][i])
	}
	h[i] = graph.OnesLike(gram[i][i])
	for j := range gram {
		if j == i {
			continue
		}
		var along *graph.Node
		for k, v := range h {
			along = addNodes(along, graph.Mul(v, gram[k][j]))
		}
		// A conflict has along < 0, so the gradient of term j is not 0.
		against := graph.LessThan(along, graph.ZerosLike(along))
		h[j] = graph.Where(against, graph.Sub(h[j], graph.Div(along, gram[j][j])), h[j])
	}
	return h
}
