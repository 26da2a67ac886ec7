// Quantile regression (Bertran et al. 2023): a record's score against a
// non-member's with the same features.

package population

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/stats"
)

// QuantileRegression is the attack by quantile regression (Bertran et al. 2023, "Scalable
// membership inference attacks via quantile regression"), with the normal distribution that the
// paper uses for images. From known non-members it learns the distribution of the score of a
// non-member with features x,
//
//	s | x ~ N(m(x), exp(2 v(x))),   m(x) = a.f(x),   v(x) = b.f(x)
//	minimise over a and b   mean of ( v + exp(-2 v) (s - m)^2 / 2 ) + ridge/2 (||a||^2 + ||b||^2) / n
//	score(x) = (s(x) - m(x)) / exp(v(x))
//
// where f are the features, standardised by the known non-members, and a 1, whose weights are not
// penalised. A record is called a member with the false-positive rate alpha if its score is above
// the normal distribution's 1 - alpha quantile. A record that is easy for every model is not
// suspected for it, and no shadow model is trained.
//
// Null: AUC 0.5. Direction: nearest to the null.
//
// Differences from the paper: (1) m and v are linear and fitted by Newton's method to convergence,
// where the paper trains a network (images) or boosted trees (tables) and selects by held-out
// records; non-linear effects stay in the spread. (2) The paper's scores on tables come from the
// pinball loss at one alpha at a time. (3) Ridge is ours, 1 by default, because there may be as
// many features as records.
type QuantileRegression struct {
	Ridge float64 `json:"ridge,omitempty"` // 0: 1
}

var _ Attack = QuantileRegression{}

// Name implements Attack.
func (QuantileRegression) Name() string { return "quantile-regression" }

// About implements Attack.
func (QuantileRegression) About() string {
	return "how far a score lies above what non-members that look like the record have"
}

// Scores implements Attack.
func (a QuantileRegression) Scores(e Evidence) ([]float64, error) {
	if err := e.Check(true); err != nil {
		return nil, err
	}
	if slices.Min(e.Known.Scores) == slices.Max(e.Known.Scores) {
		return nil, errors.New("the scores of the known non-members are all the same")
	}
	ridge := cmp.Or(a.Ridge, 1)
	if !(ridge > 0) || math.IsInf(ridge, 1) {
		return nil, errors.New("the ridge is no positive number")
	}
	dist, err := fitDistribution(e.Known, ridge)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(e.Asked.Scores))
	for i, s := range e.Asked.Scores {
		m, v := dist.meanLogSD(e.Asked.Features.Row(i))
		out[i] = (s - m) * math.Exp(-v)
	}
	return out, nil
}

// scoreDistribution is a normal distribution of a score, given features.
type scoreDistribution struct{ centre, scale, mean, spread []float64 }

// features returns a record's standardised features, and a 1.
func (l scoreDistribution) features(x []float64) []float64 {
	out := make([]float64, len(x)+1)
	for k, v := range x {
		if l.scale[k] > 0 {
			out[k] = (v - l.centre[k]) / l.scale[k]
		}
	}
	out[len(x)] = 1
	return out
}

// meanLogSD returns the mean and the logarithm of the standard deviation.
func (l scoreDistribution) meanLogSD(x []float64) (m, v float64) {
	f := l.features(x)
	return dot(l.mean, f), dot(l.spread, f)
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k, v := range a {
		sum += float64(v * b[k])
	}
	return sum
}

// maxSteps bounds the alternation, which usually takes about ten steps, and hundreds if there are
// nearly as many features as records.
const maxSteps = 5000

// fitDistribution alternates two steps: the mean given the spread is a weighted ridge regression;
// the spread given the mean takes a damped Newton step.
func fitDistribution(known Records, ridge float64) (scoreDistribution, error) {
	n, cols := known.Features.Rows, known.Features.Cols
	l := scoreDistribution{centre: make([]float64, cols), scale: make([]float64, cols), mean: make([]float64, cols+1), spread: make([]float64, cols+1)}
	for k := range cols {
		for i := range n {
			l.centre[k] += known.Features.Row(i)[k] / float64(n)
		}
		for i := range n {
			l.scale[k] += math.Pow(known.Features.Row(i)[k]-l.centre[k], 2) / float64(n)
		}
		l.scale[k] = math.Sqrt(l.scale[k])
	}
	f := make([][]float64, n)
	for i := range f {
		f[i] = l.features(known.Features.Row(i))
	}
	sd, err := stats.SD(known.Scores)
	if err != nil {
		return l, err
	}
	l.spread[cols] = math.Log(sd) // from a spread of 1 a step may reach where all weights are 0
	weights, residuals := make([]float64, n), make([]float64, n)
	last := math.Inf(1)
	for range maxSteps {
		for i := range f {
			weights[i] = math.Exp(-2 * dot(l.spread, f[i]))
		}
		if l.mean, err = solveRidge(f, weights, ridge, func(i int) float64 { return weights[i] * known.Scores[i] }); err != nil {
			return l, err
		}
		for i := range f {
			residuals[i] = known.Scores[i] - dot(l.mean, f[i])
		}
		if err := l.stepSpread(f, residuals, ridge); err != nil {
			return l, err
		}
		now := objective(f, residuals, l, ridge)
		if last-now < 1e-10*(1+math.Abs(now)) {
			return l, nil
		}
		last = now
	}
	return l, errors.New("the fit of the non-members' scores does not converge")
}

// stepSpread takes a step of the logarithm of the spread, halved until the objective does not rise.
// With q = exp(-2 v) r^2 the gradient of a record is 1 - q, the curvature 2 q.
func (l *scoreDistribution) stepSpread(f [][]float64, residuals []float64, ridge float64) error {
	q := make([]float64, len(f))
	for i := range f {
		q[i] = math.Exp(-2*dot(l.spread, f[i])) * residuals[i] * residuals[i]
	}
	// Fisher's information has 2 for 2 q: it is positive where all residuals are small.
	two := make([]float64, len(f))
	for i := range two {
		two[i] = 2
	}
	step, err := solveRidge(f, two, ridge, func(i int) float64 { return q[i] - 1 }, l.spread...)
	if err != nil {
		return err
	}
	before, old := objective(f, residuals, *l, ridge), l.spread
	for size := 1.0; size > 1e-9; size /= 2 {
		l.spread = make([]float64, len(old))
		for k := range old {
			l.spread[k] = old[k] + float64(size*step[k])
		}
		if objective(f, residuals, *l, ridge) <= before {
			return nil
		}
	}
	l.spread = old
	return nil
}

// objective is n times the minimised function.
func objective(f [][]float64, residuals []float64, l scoreDistribution, ridge float64) float64 {
	sum := 0.0
	for i := range f {
		v := dot(l.spread, f[i])
		sum += v + math.Exp(-2*v)*residuals[i]*residuals[i]/2
	}
	last := len(l.mean) - 1
	for k := range last {
		sum += float64(ridge / 2 * (float64(l.mean[k]*l.mean[k]) + float64(l.spread[k]*l.spread[k])))
	}
	return sum
}

// solveRidge returns (F' W F + R)^-1 (F' t - R at), with R the ridge on all features but the 1.
func solveRidge(f [][]float64, weights []float64, ridge float64, target func(i int) float64, at ...float64) ([]float64, error) {
	p := len(f[0])
	h, g := mat.NewSymDense(p, nil), mat.NewVecDense(p, nil)
	for i, x := range f {
		t := target(i)
		for a := range p {
			g.SetVec(a, g.AtVec(a)+float64(t*x[a]))
			for b := a; b < p; b++ {
				h.SetSym(a, b, h.At(a, b)+float64(weights[i]*x[a]*x[b]))
			}
		}
	}
	for a := range p - 1 {
		h.SetSym(a, a, h.At(a, a)+ridge)
		if at != nil {
			g.SetVec(a, g.AtVec(a)-float64(ridge*at[a]))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(h) {
		return nil, errors.New("the non-members do not determine the distribution of their scores")
	}
	var out mat.VecDense
	// The next steps correct a badly conditioned one.
	if err := c.SolveVecTo(&out, g); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, err
	}
	return out.RawVector().Data, nil
}
