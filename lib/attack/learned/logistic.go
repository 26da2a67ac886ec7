package learned

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Logistic is logistic regression with a ridge penalty on the weights, not on the
// intercept,
//
//	minimise  sum_i log(1 + exp(-s_i (w.x_i + b))) + Ridge/2 ||w||^2,  s_i = +-1
//
// by Newton's method in float64; the score is w.x + b. The zero value is
// scikit-learn's (C = 1). It draws nothing. It wants standardised features.
type Logistic struct {
	Ridge float64 `json:"ridge,omitempty"` // 0: 1
}

var _ Attacker = Logistic{}

// Name implements Attacker.
func (Logistic) Name() string { return "logistic" }

// About implements Attacker.
func (Logistic) About() string { return "logistic regression on features" }

const (
	newtonSteps = 100
	newtonDone  = 1e-10 // the longest step, in any weight, that still counts as none
)

// Fit implements Attacker.
func (a Logistic) Fit(ctx context.Context, _ *engine.Engine, known Records, _ engine.Root) (Judge, error) {
	if err := known.check(""); err != nil {
		return nil, err
	}
	ridge := cmp.Or(a.Ridge, 1)
	if !(ridge > 0) || math.IsInf(ridge, 1) {
		return nil, fmt.Errorf("learned: the ridge %v is not a positive number", ridge)
	}
	x, members := known.stacked(), known.Members.Rows
	w := make([]float64, x.Cols+1) // the intercept last
	for range newtonSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step, err := newton(x, members, w, ridge)
		if err != nil {
			return nil, err
		}
		if descend(x, members, w, step, ridge) < newtonDone {
			return linear(w), nil
		}
	}
	return nil, fmt.Errorf("learned: logistic regression has not converged after %d steps; are the features standardised?", newtonSteps)
}

func linear(w []float64) Judge {
	return func(x array.Matrix[float64]) ([]float64, error) {
		if x.Cols != len(w)-1 {
			return nil, fmt.Errorf("learned: %d features, the attacker has learned on %d", x.Cols, len(w)-1)
		}
		out := make([]float64, x.Rows)
		for i := range out {
			out[i] = logit(x.Row(i), w)
		}
		return out, nil
	}
}

func logit(x, w []float64) float64 {
	z := w[len(x)]
	for j, v := range x {
		z += float64(v * w[j])
	}
	return z
}

// newton is the step H^-1 g from w.
func newton(x array.Matrix[float64], members int, w []float64, ridge float64) ([]float64, error) {
	d := len(w)
	h, g := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	row := make([]float64, d)
	row[d-1] = 1
	at := mat.NewVecDense(d, row)
	for i := range x.Rows {
		copy(row, x.Row(i))
		p := 1 / (1 + math.Exp(-logit(x.Row(i), w)))
		y := 0.0
		if i < members {
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
		return nil, fmt.Errorf("learned: the Hessian of the logistic regression is not positive; are the features standardised?")
	}
	step := mat.NewVecDense(d, nil)
	if err := chol.SolveVecTo(step, g); err != nil {
		return nil, fmt.Errorf("learned: logistic regression: %w", err)
	}
	return step.RawVector().Data, nil
}

// descend takes the step, halved until the objective does not rise, and returns
// the length of its longest part.
func descend(x array.Matrix[float64], members int, w, step []float64, ridge float64) float64 {
	before := penalised(x, members, w, ridge)
	from := append([]float64(nil), w...)
	for t := 1.0; t > 1e-10; t /= 2 {
		longest := 0.0
		for j, s := range step {
			w[j] = from[j] - float64(t*s)
			longest = math.Max(longest, math.Abs(t*s))
		}
		if penalised(x, members, w, ridge) <= before+1e-12*math.Abs(before) {
			return longest
		}
	}
	copy(w, from)
	return 0
}

func penalised(x array.Matrix[float64], members int, w []float64, ridge float64) float64 {
	sum := 0.0
	for _, v := range w[:len(w)-1] {
		sum += float64(ridge / 2 * v * v)
	}
	for i := range x.Rows {
		z := logit(x.Row(i), w)
		if i < members {
			z = -z
		}
		sum += math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	return sum
}
