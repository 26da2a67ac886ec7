// Ridge-penalised logistic regression by Newton's method.

package stats

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/progress"
)

const (
	newtonSteps = 100
	newtonDone  = 1e-10 // converged: no weight changes by more
)

// Linear is a weighted sum of features plus an intercept, which is the last weight.
type Linear []float64

// At returns w.x + b for a record with len(w)-1 features.
func (w Linear) At(x []float64) float64 {
	z := w[len(x)]
	for j, v := range x {
		z += float64(v * w[j])
	}
	return z
}

// Logistic returns the logistic regression with a ridge penalty on the weights, not on the
// intercept,
//
//	minimise  sum_i log(1 + exp(-s_i (w.x_i + b))) + ridge/2 ||w||^2,  s_i = +-1
//
// by Newton's method; s_i is +1 where positive is true. ridge = 1 is scikit-learn's default C = 1.
// Features should be standardised. It refuses a ridge that is not positive, records whose features
// differ in number or are not finite, and records of one class only.
func Logistic(ctx context.Context, x [][]float64, positive []bool, ridge float64) (Linear, error) {
	if !(ridge > 0) || math.IsInf(ridge, 1) {
		return nil, fmt.Errorf("stats.Logistic: the ridge %v is not a positive number", ridge)
	}
	if err := checkLogistic(x, positive); err != nil {
		return nil, err
	}
	w := make(Linear, len(x[0])+1)
	ctx, task := progress.Start(ctx, "logistic regression", 0)
	defer task.Done()
	for range newtonSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step, err := newton(x, positive, w, ridge)
		if err != nil {
			return nil, err
		}
		if takeStep(x, positive, w, step, ridge) < newtonDone {
			return w, nil
		}
	}
	return nil, fmt.Errorf("stats.Logistic: no convergence after %d steps; are the features standardised?", newtonSteps)
}

func checkLogistic(x [][]float64, positive []bool) error {
	if err := checkSameLength("Logistic", "x", len(x), "positive", len(positive)); err != nil {
		return err
	}
	n := 0
	for i, row := range x {
		if len(row) != len(x[0]) {
			return fmt.Errorf("stats.Logistic: record %d has %d features, record 0 has %d", i, len(row), len(x[0]))
		}
		if err := checkFinite("Logistic", fmt.Sprintf("x[%d]", i), row); len(row) > 0 && err != nil {
			return err
		}
		if positive[i] {
			n++
		}
	}
	if n == 0 || n == len(x) {
		return fmt.Errorf("stats.Logistic: %d of %d records are positive, want both classes", n, len(x))
	}
	return nil
}

// newton returns the step H^-1 g from w.
func newton(x [][]float64, positive []bool, w Linear, ridge float64) ([]float64, error) {
	d := len(w)
	h, g := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	row := make([]float64, d)
	row[d-1] = 1
	at := mat.NewVecDense(d, row)
	for i := range x {
		copy(row, x[i])
		p := 1 / (1 + math.Exp(-w.At(x[i])))
		y := 0.0
		if positive[i] {
			y = 1
		}
		g.AddScaledVec(g, p-y, at)
		h.SymRankOne(h, math.Max(p*(1-p), 1e-12), at)
	}
	for j := range d - 1 {
		g.SetVec(j, g.AtVec(j)+float64(ridge*w[j]))
		h.SetSym(j, j, h.At(j, j)+ridge)
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, fmt.Errorf("stats.Logistic: the Hessian is not positive; are the features standardised?")
	}
	step := mat.NewVecDense(d, nil)
	if err := chol.SolveVecTo(step, g); err != nil {
		return nil, fmt.Errorf("stats.Logistic: %w", err)
	}
	return step.RawVector().Data, nil
}

// takeStep takes the step, halved until the objective does not rise, and returns the greatest
// change of a weight.
func takeStep(x [][]float64, positive []bool, w Linear, step []float64, ridge float64) float64 {
	before := penalised(x, positive, w, ridge)
	from := append(Linear(nil), w...)
	for t := 1.0; t > 1e-10; t /= 2 {
		longest := 0.0
		for j, s := range step {
			w[j] = from[j] - float64(t*s)
			longest = math.Max(longest, math.Abs(t*s))
		}
		if penalised(x, positive, w, ridge) <= before+float64(1e-12*math.Abs(before)) {
			return longest
		}
	}
	copy(w, from)
	return 0
}

func penalised(x [][]float64, positive []bool, w Linear, ridge float64) float64 {
	sum := 0.0
	for _, v := range w[:len(w)-1] {
		sum += float64(ridge / 2 * v * v)
	}
	for i := range x {
		z := w.At(x[i])
		if positive[i] {
			z = -z
		}
		sum += math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	return sum
}
