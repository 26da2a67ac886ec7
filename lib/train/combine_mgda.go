// MGDA: weights of a step's objectives by the combination of gradients with the smallest norm.

package train

import (
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// MGDA is the multiple-gradient descent algorithm (Desideri 2012; Sener and Koltun
// 2018): the weights w >= 0 with sum 1 that minimise || sum_i w_i g_i ||. Along the
// combination no term increases to first order; it is 0 if there is no such direction.
// For two terms the solution has a closed form,
//
//	w_1 = clamp(((g_2 - g_1) . g_2) / |g_1 - g_2|^2, 0, 1)
//
// and 1/2 if they are closer together than 1e-5 of the longest. For more terms it is found
// by an active-set method that starts at equal weights and changes them as little as
// possible, so that three equal gradients get 1/3 each. Gradients closer together than 3e-7
// of the longest count as equal.
//
// Difference from Sener and Koltun: they use the method of Frank and Wolfe, which for
// three terms or more converges only like 1/n in the number n of its iterations.
type MGDA struct{}

var _ GradientCombiner = MGDA{}

// Weights implements GradientCombiner.
func (MGDA) Weights(_ []float64, gram [][]float64) ([]float64, error) {
	if err := checkGram(gram, 0); err != nil {
		return nil, err
	}
	w, longest := make([]float64, len(gram)), 0.0
	for i := range gram {
		w[i] = 1 / float64(len(gram))
		longest = math.Max(longest, gram[i][i])
	}
	if len(w) > 2 && longest > 0 {
		return minNormWeights(w, gram, longest), nil
	}
	// The first iteration is the closed form; another one corrects rounding errors.
	for range 1000 {
		along, norm := gramProducts(w, gram)
		k := argMin(along)
		if norm-along[k] <= 1e-10*longest {
			break
		}
		// The point of the segment from the combination to g_k that is closest to 0.
		step := math.Min(1, (norm-along[k])/(norm-2*along[k]+gram[k][k]))
		for i := range w {
			w[i] *= 1 - step
		}
		w[k] += step
	}
	return w, nil
}

// gramProducts returns the inner product of every gradient with the combination, and the
// squared norm of the combination.
func gramProducts(w []float64, gram [][]float64) (along []float64, norm float64) {
	along = make([]float64, len(w))
	for i := range w {
		for j, v := range w {
			along[i] += float64(v * gram[i][j])
		}
		norm += float64(w[i] * along[i])
	}
	return along, norm
}

func argMin(x []float64) int {
	k := 0
	for i := range x {
		if x[i] < x[k] {
			k = i
		}
	}
	return k
}

// minNormWeights returns the weights of the combination of smallest norm, by an active-set
// method. It solves for the terms of the set without sign constraints, removes those whose
// weight would become negative, and then adds the term with the smallest inner product. The
// norm decreases with every set, so no set comes back.
func minNormWeights(w []float64, gram [][]float64, longest float64) []float64 {
	unit := make([][]float64, len(gram))
	for i, row := range gram {
		unit[i] = make([]float64, len(row))
		for j, v := range row {
			unit[i][j] = v / longest
		}
	}
	best, least := w, math.Inf(1)
	set := make([]int, len(w))
	for i := range set {
		set[i] = i
	}
	for {
		w, set = solveActiveSet(w, set, unit)
		along, norm := gramProducts(w, unit)
		if norm >= least {
			return best
		}
		best, least = w, norm
		k := argMin(along)
		if slices.Contains(set, k) {
			return best
		}
		set = append(set, k)
	}
}

// solveActiveSet moves the weights to the optimum over a set of terms. It returns them and
// the terms that remain in the set.
func solveActiveSet(w []float64, set []int, gram [][]float64) ([]float64, []int) {
	for {
		change, step, out := minNormDirection(w, set, gram), 1.0, -1
		for a, i := range set {
			if change[a] < 0 && w[i]+float64(step*change[a]) < 0 {
				step, out = -w[i]/change[a], a
			}
		}
		w = slices.Clone(w)
		for a, i := range set {
			w[i] = max(0, w[i]+float64(step*change[a]))
		}
		if out >= 0 {
			w[set[out]] = 0
		}
		floats.Scale(1/floats.Sum(w), w) // corrects rounding
		if out < 0 {
			return w, set
		}
		set = slices.Delete(slices.Clone(set), out, out+1)
	}
}

// equalTolerance is the squared distance, relative to the longest, at which gradients count
// as equal.
const equalTolerance = 1e-13

// minNormDirection returns the smallest change d of the weights of a set, with sum 0, that
// minimises the norm of the combination without sign constraints:
//
//	C G C d = -C G w,  C = 1 - 1/n
//
// d is 0 in directions in which the combination hardly changes.
func minNormDirection(w []float64, set []int, gram [][]float64) []float64 {
	n := len(set)
	along, _ := gramProducts(w, gram)
	level, rows, all := 0.0, make([]float64, n), 0.0
	for a, i := range set {
		level += along[i] / float64(n)
		for _, j := range set {
			rows[a] += gram[i][j] / float64(n)
		}
		all += rows[a] / float64(n)
	}
	centred := mat.NewSymDense(n, nil)
	for a, i := range set {
		for b, j := range set[:a+1] {
			centred.SetSym(a, b, gram[i][j]-rows[a]-rows[b]+all)
		}
	}
	d := make([]float64, n)
	var e mat.EigenSym
	if !e.Factorize(centred, true) {
		return d
	}
	var axes mat.Dense
	e.VectorsTo(&axes)
	for k, v := range e.Values(nil) {
		if v <= equalTolerance {
			continue
		}
		up := 0.0
		for a, i := range set {
			up += float64(axes.At(a, k) * (along[i] - level))
		}
		for a := range d {
			d[a] -= float64(axes.At(a, k) * up / v)
		}
	}
	return d
}

// PrintedMGDA has the weight of two terms as the BlindU paper prints it (below its
// equation (8); term 1 is the retain loss, term 2 the forget loss):
//
//	w_1 = clamp(((g_1 - g_2) . g_1) / |g_1 - g_2|^2, 0, 1)
//
// This is the weight that [MGDA] gives to the other term, so the longer gradient gets
// more weight, not less: for (1, 0) and (0, 3) it is 0.1, and the minimum norm has 0.9.
// It is 1/2 for equal gradients. Other numbers of terms are an error.
type PrintedMGDA struct{}

var _ GradientCombiner = PrintedMGDA{}

// Weights implements GradientCombiner.
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

var (
	_ GraphCombiner = MGDA{}
	_ GraphCombiner = PrintedMGDA{}
)

// GraphTerms implements GraphCombiner: the closed form is that of two terms.
func (MGDA) GraphTerms(terms int) bool { return terms == 2 }

// GraphWeights implements GraphCombiner.
func (MGDA) GraphWeights(_ []*graph.Node, gram [][]*graph.Node) []*graph.Node {
	longest := graph.Max(gram[0][0], gram[1][1])
	return segmentWeights(graph.Sub(gram[1][1], gram[0][1]), gram, graph.MulScalar(longest, 1e-10))
}

// GraphTerms implements GraphCombiner.
func (PrintedMGDA) GraphTerms(terms int) bool { return terms == 2 }

// GraphWeights implements GraphCombiner.
func (PrintedMGDA) GraphWeights(_ []*graph.Node, gram [][]*graph.Node) []*graph.Node {
	return segmentWeights(graph.Sub(gram[0][0], gram[0][1]), gram, graph.ZerosLike(gram[0][0]))
}

// segmentWeights returns along / |g_1 - g_2|^2, between 0 and 1, and what it lacks of 1; 1/2 and
// 1/2 if the squared distance is not above least.
func segmentWeights(along *graph.Node, gram [][]*graph.Node, least *graph.Node) []*graph.Node {
	apart := graph.Add(graph.Sub(gram[0][0], graph.MulScalar(gram[0][1], 2)), gram[1][1])
	w := graph.MinScalar(graph.MaxScalar(graph.Div(along, apart), 0), 1)
	w = graph.Where(graph.GreaterThan(apart, least), w, graph.MulScalar(graph.OnesLike(w), 0.5))
	return []*graph.Node{w, graph.OneMinus(w)}
}
