package train

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/nn"
)

// gramOf returns the inner products of vectors.
func gramOf(g ...[]float64) [][]float64 {
	out := make([][]float64, len(g))
	for i := range g {
		for j := range g {
			out[i] = append(out[i], gradientDot([][]float64{g[i]}, [][]float64{g[j]}))
		}
	}
	return out
}

// mustWeights returns a combiner's weights; an error fails the test.
func mustWeights(t *testing.T, m GradientCombiner, values []float64, gram [][]float64) []float64 {
	t.Helper()
	w, err := m.Weights(values, gram)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func closeTo(a, b []float64, by float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= by })
}

// Two gradients: the point of the segment between them that is closest to 0, in closed form.
// Three gradients around 0 give 0; equal ones give themselves.
func TestMGDAFindsTheShortestMixture(t *testing.T) {
	for _, c := range []struct {
		gram [][]float64
		want []float64
		by   float64
	}{
		{gramOf([]float64{1, 0}, []float64{0, 1}), []float64{0.5, 0.5}, 1e-12},
		{gramOf([]float64{1, 0}, []float64{0, 3}), []float64{0.9, 0.1}, 1e-12},
		{gramOf([]float64{3, 0}, []float64{0, 1}), []float64{0.1, 0.9}, 1e-12},
		{gramOf([]float64{1, 0}, []float64{3, 1}), []float64{1, 0}, 1e-12}, // the first is closer than any combination
		{gramOf([]float64{1, 0}, []float64{-2, 0}), []float64{2. / 3, 1. / 3}, 1e-12},
		{gramOf([]float64{1, 2}, []float64{1, 2}), []float64{0.5, 0.5}, 1e-12},
		{gramOf([]float64{1, 0}, []float64{-0.5, math.Sqrt(3) / 2}, []float64{-0.5, -math.Sqrt(3) / 2}),
			[]float64{1. / 3, 1. / 3, 1. / 3}, 1e-12},
		{gramOf([]float64{2}, []float64{2}, []float64{2}), []float64{1. / 3, 1. / 3, 1. / 3}, 1e-12},
		{gramOf([]float64{1, 0}, []float64{0, 3}, []float64{1, 0}), []float64{0.45, 0.1, 0.45}, 1e-12}, // the same twice shares
		{gramOf([]float64{1, 0}, []float64{0, 3}, []float64{0, 0}), []float64{0, 0, 1}, 1e-12},
		{gramOf([]float64{0}, []float64{0}, []float64{0}), []float64{1. / 3, 1. / 3, 1. / 3}, 0},
		{gramOf([]float64{2, 1}, []float64{-2, 1}, []float64{0, 3}), []float64{0.5, 0.5, 0}, 1e-12},
		{gramOf([]float64{1, 0, 1}, []float64{-1, 0, 1}, []float64{0, 1, 1}, []float64{0, -1, 1}), []float64{0.25, 0.25, 0.25, 0.25}, 1e-12},
		{gramOf([]float64{1e-150, 0}, []float64{0, 3e-150}, []float64{0, 3e-150}), []float64{0.9, 0.05, 0.05}, 1e-12},
	} {
		if w := mustWeights(t, MGDA{}, make([]float64, len(c.gram)), c.gram); !closeTo(w, c.want, c.by) {
			t.Errorf("%v: weights %v, want %v", c.gram, w, c.want)
		}
	}
}

// frankWolfe returns the weights by the method of Frank and Wolfe, started at equal ones.
func frankWolfe(gram [][]float64, rounds int) []float64 {
	w, longest := make([]float64, len(gram)), 0.0
	for i := range gram {
		w[i] = 1 / float64(len(gram))
		longest = math.Max(longest, gram[i][i])
	}
	for range rounds {
		along := make([]float64, len(w))
		var norm float64
		for i := range w {
			for j, v := range w {
				along[i] += v * gram[i][j]
			}
			norm += w[i] * along[i]
		}
		k := slices.Index(along, slices.Min(along))
		if norm-along[k] <= 1e-10*longest {
			break
		}
		step := math.Min(1, (norm-along[k])/(norm-2*along[k]+gram[k][k]))
		for i := range w {
			w[i] *= 1 - step
		}
		w[k] += step
	}
	return w
}

// everySet returns the smallest squared norm of a combination, by exhaustive search: the best
// unconstrained combination of every set of terms, if it has no negative weight.
func everySet(gram [][]float64) float64 {
	least := math.Inf(1)
	for set := 1; set < 1<<len(gram); set++ {
		var at []int
		for i := range gram {
			if set>>i&1 == 1 {
				at = append(at, i)
			}
		}
		// The weights are in proportion to the sum of the rows of the inverse.
		a := mat.NewDense(len(at), len(at), nil)
		for i := range at {
			for j := range at {
				a.Set(i, j, gram[at[i]][at[j]]+1) // that of the gradients with a coordinate 1 behind them, which moves no weight
			}
		}
		ones, w := mat.NewVecDense(len(at), slices.Repeat([]float64{1}, len(at))), mat.NewVecDense(len(at), nil)
		if err := w.SolveVec(a, ones); err != nil {
			continue // a smaller set does as well
		}
		w.ScaleVec(1/mat.Sum(w), w)
		if mat.Min(w) < -1e-12 {
			continue
		}
		norm := 0.0
		for i := range at {
			for j := range at {
				norm += w.AtVec(i) * w.AtVec(j) * gram[at[i]][at[j]]
			}
		}
		least = min(least, norm)
	}
	return least
}

// For several numbers of gradients and dimensions the combination has the smallest norm: that
// of an exhaustive search, and no gradient has a smaller product with it than it has with
// itself. The method of Frank and Wolfe has not converged after 1000 iterations; for two terms
// the weights have its bits.
func TestMGDAIsExact(t *testing.T) {
	rng, short := rand.New(rand.NewPCG(5, 6)), 0
	for _, terms := range []int{2, 3, 4, 5, 6} {
		for trial := range 300 {
			g := make([][]float64, terms)
			for i := range g {
				g[i] = normals(rng, 1+trial%(terms+2))
				g[i][0] += float64(trial % 3) // whether 0 lies among them
				for d := range g[i] {
					g[i][d] *= math.Pow(10, float64(trial%2*(i%3))) // of one length, or of lengths far apart
				}
			}
			switch trial % 7 {
			case 4:
				g[terms-1] = slices.Clone(g[0])
			case 5:
				clear(g[1])
			case 6:
				for d, v := range g[0] {
					g[terms-1][d] = -2 * v
				}
			}
			gram := gramOf(g...)
			w := mustWeights(t, MGDA{}, make([]float64, terms), gram)
			old := frankWolfe(gram, 1000)
			if terms == 2 {
				if !slices.Equal(w, old) {
					t.Fatalf("%v: two terms have the weights %v, had %v", gram, w, old)
				}
				continue
			}
			longest, sum := 0.0, 0.0
			for i, v := range w {
				sum += v
				longest = max(longest, gram[i][i])
				if v < 0 {
					t.Fatalf("%v: weights %v", gram, w)
				}
			}
			along, norm := gramProducts(w, gram)
			if least := everySet(gram); math.Abs(sum-1) > 1e-12 || norm > least+1e-11*longest || slices.Min(along) < norm-1e-11*longest {
				t.Fatalf("%v: weights %v, of the square %v, the shortest has %v; products %v", gram, w, norm, least, along)
			}
			if _, far := gramProducts(old, gram); far > norm+1e-9*longest {
				short++
			}
		}
	}
	if short < 20 {
		t.Errorf("Frank and Wolfe's method is behind in %d cases alone: these are easy", short)
	}
}

// Nothing depends on the order of terms.
func TestMGDAKnowsNoOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		g := [][]float64{normals(rng, 3), normals(rng, 3), normals(rng, 3), normals(rng, 3)}
		w := mustWeights(t, MGDA{}, make([]float64, 4), gramOf(g...))
		order := rng.Perm(4)
		var moved [][]float64
		want := make([]float64, 4)
		for i, k := range order {
			moved, want[i] = append(moved, g[k]), w[k]
		}
		if got := mustWeights(t, MGDA{}, make([]float64, 4), gramOf(moved...)); !closeTo(got, want, 1e-7) {
			t.Errorf("%v in another order are %v", want, got)
		}
	}
}

// The printed weight is the right one's complement, whatever the gradients.
func TestThePrintedWeightIsTheComplement(t *testing.T) {
	if w := mustWeights(t, PrintedMGDA{}, []float64{0, 0}, gramOf([]float64{1, 0}, []float64{0, 3})); !closeTo(w, []float64{0.1, 0.9}, 1e-12) {
		t.Errorf("(1, 0) and (0, 3): %v", w)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		gram := gramOf(normals(rng, 3), normals(rng, 3))
		right, printed := mustWeights(t, MGDA{}, []float64{0, 0}, gram), mustWeights(t, PrintedMGDA{}, []float64{0, 0}, gram)
		if !closeTo(printed, []float64{right[1], right[0]}, 1e-9) {
			t.Errorf("%v: printed %v, right %v", gram, printed, right)
		}
	}
	if w := mustWeights(t, PrintedMGDA{}, []float64{0, 0}, gramOf([]float64{1, 2}, []float64{1, 2})); !closeTo(w, []float64{0.5, 0.5}, 0) {
		t.Errorf("equal gradients have the weights %v", w)
	}
}

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// Projections of vectors, as the paper's algorithm has them, give the step that the
// weights give.
func TestPCGradProjectsAsOnVectors(t *testing.T) {
	rng, conflicts := rand.New(rand.NewPCG(3, 4)), 0
	for _, terms := range []int{1, 2, 3, 5} {
		for range 20 {
			g := make([][]float64, terms)
			for i := range g {
				g[i] = normals(rng, 4)
			}
			want := make([]float64, 4)
			for i := range g {
				h := slices.Clone(g[i])
				for j := range g {
					along := gradientDot([][]float64{h}, [][]float64{g[j]})
					if j == i || along >= 0 {
						continue
					}
					conflicts++
					for d := range h {
						h[d] -= along / gradientDot(g[j:j+1], g[j:j+1]) * g[j][d]
					}
				}
				for d := range want {
					want[d] += h[d]
				}
			}
			got := make([]float64, 4)
			for i, w := range mustWeights(t, PCGrad{}, make([]float64, terms), gramOf(g...)) {
				for d := range got {
					got[d] += w * g[i][d]
				}
			}
			if !closeTo(got, want, 1e-9) {
				t.Errorf("%d terms: the step is %v, on vectors %v", terms, got, want)
			}
			for i := 0; terms == 2 && i < 2; i++ {
				if rises := gradientDot([][]float64{got}, g[i:i+1]); rises < -1e-9 {
					t.Errorf("the step climbs term %d of two: %v", i, rises)
				}
			}
		}
	}
	if conflicts < 20 {
		t.Errorf("only %d conflicts were tried", conflicts)
	}
	if w := mustWeights(t, PCGrad{}, []float64{0, 0}, gramOf([]float64{1, 0}, []float64{0, 3})); !closeTo(w, []float64{1, 1}, 0) {
		t.Errorf("without a conflict the weights are %v", w)
	}
	if w := mustWeights(t, PCGrad{}, []float64{0, 0}, gramOf([]float64{1, 0}, []float64{0, 0})); !closeTo(w, []float64{1, 1}, 0) {
		t.Errorf("beside a term without a gradient the weights are %v", w)
	}
}

// The weights are the derivatives of the program's loss by its two values.
func TestRatioWeightsAreTheLossesDerivatives(t *testing.T) {
	loss := func(a, b float64) float64 { return (math.Abs(a)*a + b*b) / (math.Abs(a) + b) }
	const h = 1e-6
	for _, v := range [][]float64{{-3, 0.5}, {-0.2, 4}, {-1, 1e-3}, {0.1, 2}, {0.5, 2}, {2, 2}, {5, 0.1}} {
		a, b := v[0], v[1]
		w := mustWeights(t, RatioWeights{}, v, gramOf([]float64{1, 0}, []float64{0, 1}))
		want := []float64{(loss(a+h, b) - loss(a-h, b)) / (2 * h), (loss(a, b+h) - loss(a, b-h)) / (2 * h)}
		if !closeTo(w, want, 1e-6) {
			t.Errorf("A = %v, B = %v: weights %v, derivatives %v", a, b, w, want)
		}
		if sum := w[0]*a + w[1]*b; math.Abs(sum-loss(a, b)) > 1e-12 {
			t.Errorf("A = %v, B = %v: the weighted values add up to %v, the loss is %v", a, b, sum, loss(a, b))
		}
		if climbs := a > 0 && a < (math.Sqrt2-1)*b; climbs != (w[0] < 0) {
			t.Errorf("A = %v, B = %v: weight %v", a, b, w[0])
		}
	}
	if w := mustWeights(t, RatioWeights{}, []float64{0, 2}, gramOf([]float64{1}, []float64{1})); !closeTo(w, []float64{0, 1}, 0) {
		t.Errorf("A = 0: weights %v", w)
	}
}

func TestCombinersRefuse(t *testing.T) {
	one, two, three := []float64{1}, gramOf([]float64{1, 0}, []float64{0, 1}), gramOf([]float64{1}, []float64{1}, []float64{1})
	broken := [][]float64{{math.NaN(), 0}, {0, 1}}
	for _, c := range []struct {
		combiner GradientCombiner
		values   []float64
		gram     [][]float64
		want     string
	}{
		{MGDA{}, nil, nil, "no gradients"}, {PCGrad{}, nil, nil, "no gradients"},
		{PrintedMGDA{}, nil, nil, "no gradients"}, {RatioWeights{}, nil, nil, "no gradients"},
		{MGDA{}, []float64{0, 0}, broken, "term 0"}, {PCGrad{}, []float64{0, 0}, broken, "term 0"},
		{PrintedMGDA{}, []float64{0, 0}, broken, "term 0"}, {RatioWeights{}, []float64{0, 0}, broken, "term 0"},
		{PrintedMGDA{}, one, gramOf(one), "2 terms, not 1"}, {RatioWeights{}, one, gramOf(one), "2 terms, not 1"},
		{PrintedMGDA{}, []float64{1, 1, 1}, three, "2 terms, not 3"}, {RatioWeights{}, []float64{1, 1, 1}, three, "2 terms, not 3"},
		{RatioWeights{}, []float64{1, -1}, two, "second term has the value -1"},
		{RatioWeights{}, []float64{math.NaN(), 1}, two, "NaN"}, {RatioWeights{}, []float64{1, math.Inf(1)}, two, "+Inf"},
	} {
		_, err := c.combiner.Weights(c.values, c.gram)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T of %v, %v: %v, want %q", c.combiner, c.values, c.gram, err, c.want)
		}
		if bad := (*nn.NotFinite)(nil); strings.Contains(c.want, "term 0") && !errors.As(err, &bad) {
			t.Errorf("%T: a gradient that is no number is not told as one: %v", c.combiner, err)
		}
	}
}

// The combined step is the combination of the terms' steps and has a positive product with
// every term's gradient.
func TestACombinedStepGoesDownEveryTerm(t *testing.T) {
	o := descending()
	got := captured(t, Plan{Passes: singlePass(o), Combiner: MGDA{}}, 1)
	for k := range o {
		if product := gradientDot(got, captured(t, Plan{Passes: singlePass(o[k : k+1])}, 1)); !(product >= -1e-9) {
			t.Errorf("the step climbs term %d: product %v", k, product)
		}
	}
}

// descending is a mixed objective whose weights are all positive.
func descending() Objective {
	o := mixed(40, 6, 5)
	for k := range o {
		for i := range o[k].Targets {
			o[k].Targets[i].Weight = math.Abs(o[k].Targets[i].Weight)
		}
	}
	return o
}

// A combiner gets every term's loss and the inner products, and its weights, also negative
// ones, are those of the terms' gradients and losses in the step.
func TestACombinerGetsTheTermsValues(t *testing.T) {
	o := descending()
	w := []float64{-0.5, 2}
	asked := &recorder{weights: w}
	got := captured(t, Plan{Passes: singlePass(o), Combiner: asked}, 1)
	want := make([][]float64, len(got))
	for k := range o {
		own := captured(t, Plan{Passes: singlePass(o[k : k+1])}, 1)
		if square := gradientDot(own, own); math.Abs(asked.gram[k][k]-square) > 1e-6*square {
			t.Errorf("term %d has the product %v with itself, its gradient %v", k, asked.gram[k][k], square)
		}
		for i, g := range own {
			if want[i] == nil && g != nil {
				want[i] = make([]float64, len(g))
			}
			for j, v := range g {
				want[i][j] += w[k] * v
			}
		}
		value, err := Evaluate(t.Context(), openRunner(t, still, 32), initial(still), o[k:k+1])
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(asked.values[k]-value) > 1e-5*math.Abs(value) {
			t.Errorf("term %d has the value %v, the combiner is told %v", k, value, asked.values[k])
		}
	}
	for i := range got {
		if !closeTo(got[i], want[i], 1e-6) {
			t.Errorf("tensor %d: the step is not the weighted sum", i)
		}
	}
}

type recorder struct {
	weights, values []float64
	gram            [][]float64
}

func (r *recorder) Weights(values []float64, gram [][]float64) ([]float64, error) {
	r.values, r.gram = values, gram
	return r.weights, nil
}

// The error of a combiner has its type.
func TestACombinersErrorNamesIt(t *testing.T) {
	o := descending()
	o = append(o, o[0])
	_, _, err := FitPlan(t.Context(), openRunner(t, still, 32), initial(still), Plan{Passes: singlePass(o), Combiner: PrintedMGDA{}}, Config{Epochs: 1}, Hooks{})
	if want := fmt.Sprintf("%T", PrintedMGDA{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not name %s", err, want)
	}
}
