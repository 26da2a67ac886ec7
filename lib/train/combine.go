// Combining the gradients of the terms of an objective.

package train

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
)

// GradientCombiner weights the terms of an objective at every step. Its arguments are the
// terms' values and the inner products of their gradients, gram[i][j] = g_i . g_j, both
// with the targets' weights. The optimiser gets the gradient sum_i w_i g_i. Weights must
// be a pure function, so that a resumed training has the same bits. It makes one gradient of
// several; a GradientTransform changes that one.
type GradientCombiner interface {
	Weights(values []float64, gram [][]float64) ([]float64, error)
}

// checkGram returns an error if there are no gradients, not as many as terms (0: any
// number), or one that is not finite.
func checkGram(gram [][]float64, terms int) error {
	if len(gram) == 0 {
		return fmt.Errorf("no gradients to combine")
	}
	if terms > 0 && len(gram) != terms {
		return fmt.Errorf("it takes %d terms, not %d", terms, len(gram))
	}
	for i, row := range gram {
		if math.IsNaN(row[i]) || math.IsInf(row[i], 0) {
			return nn.NotFinitef("", "the gradient of term %d has the squared length %v", i, row[i])
		}
	}
	return nil
}

// combine adds up the parts with the combiner's weights.
func combine(m GradientCombiner, parts []stepGradient) (stepGradient, error) {
	values, gram := make([]float64, len(parts)), make([][]float64, len(parts))
	for i := range gram {
		values[i] = parts[i].loss
		gram[i] = make([]float64, len(parts))
		for j := range gram[i] {
			gram[i][j] = gradientDot(parts[i].grads, parts[j].grads)
		}
	}
	w, err := m.Weights(values, gram)
	if err != nil {
		return stepGradient{}, fmt.Errorf("train: combining %d gradients by %T: %w", len(parts), m, err)
	}
	if len(w) != len(parts) {
		return stepGradient{}, fmt.Errorf("train: %d weights for %d gradients", len(w), len(parts))
	}
	var out stepGradient
	for k, p := range parts {
		scale(p.grads, w[k])
		p.loss *= w[k]
		if k == 0 {
			out.gradientSum = p.gradientSum
		} else {
			out.add(p.gradientSum)
		}
		out.states = append(out.states, p.states...)
	}
	return out, nil
}

func gradientDot(a, b [][]float64) float64 {
	var sum float64
	for i, g := range a {
		for j, v := range g {
			sum += float64(v * b[i][j])
		}
	}
	return sum
}

// GraphCombiner is a GradientCombiner that can be part of a step's graph on a device. Others make
// the training run step by step on the host.
type GraphCombiner interface {
	GradientCombiner
	// GraphTerms reports whether it can combine this number of terms in a graph.
	GraphTerms(terms int) bool
	// GraphWeights is Weights on scalars. Weights for arguments that Weights refuses are not
	// finite.
	GraphWeights(values []*graph.Node, gram [][]*graph.Node) []*graph.Node
}

// combinerWeights returns a combiner's weights for the terms' gradients.
func combinerWeights(m GraphCombiner, parts []updateGradient) []*graph.Node {
	values, gram := make([]*graph.Node, len(parts)), make([][]*graph.Node, len(parts))
	for i := range parts {
		values[i], gram[i] = parts[i].loss, make([]*graph.Node, len(parts))
		for j := range i + 1 {
			var dot *graph.Node
			for k, g := range parts[i].grads {
				if g != nil {
					dot = addNodes(dot, engine.Sum(graph.Mul(g, parts[j].grads[k])))
				}
			}
			gram[i][j], gram[j][i] = dot, dot
		}
	}
	return m.GraphWeights(values, gram)
}
