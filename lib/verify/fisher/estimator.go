// Two estimators of the diagonal: exact, from the gradient of each record, and as the paper's
// program.

package fisher

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Estimator computes the diagonal of an objective's records at a model's weights.
type Estimator interface {
	// Name is short: "exact".
	Name() string
	// About says in one sentence what is squared.
	About() string
	// Estimate is over the records of an objective with one term.
	Estimate(ctx context.Context, r *model.Runner, p nn.Params, o train.Objective) (Diagonal, error)
}

// Estimators lists the estimators.
func Estimators() []Estimator { return []Estimator{Exact{}, Coded{}} }

// Exact is the mean of every record's own squared gradient,
//
//	F_i = 1/n sum over records of (dL/dw_i)^2
//
// in one pass, without damping and without dropout. By default there are no random inputs either:
// the latent variable of an autoencoder is its posterior's mean.
type Exact struct {
	// Draws is the number of draws of the network's random inputs in training, such as the latent
	// variable of an autoencoder, over which the mean is taken; 0: none, as above. A network with
	// dropout is refused.
	Draws int
	Seed  engine.Root // of the draws
}

var _ Estimator = Exact{}

// Name implements Estimator.
func (Exact) Name() string { return "exact" }

// About implements Estimator.
func (Exact) About() string { return "the mean of every record's own squared gradient" }

// Estimate implements Estimator.
func (e Exact) Estimate(ctx context.Context, r *model.Runner, p nn.Params, o train.Objective) (Diagonal, error) {
	if len(o) != 1 {
		return Diagonal{}, fmt.Errorf("fisher: an objective of %d terms; one is possible", len(o))
	}
	var out Diagonal
	all := make([]int, o[0].X.Rows)
	for i := range all {
		all[i] = i
	}
	err := e.Each(ctx, r, p, o, [][]int{all}, func(_ int, d Diagonal) error { out = d; return nil })
	return out, err
}

// Each calls each with the diagonal of every group of an objective's records, given by their
// positions, as it is computed. It stops at the first error of each.
func (e Exact) Each(ctx context.Context, r *model.Runner, p nn.Params, o train.Objective, groups [][]int, each func(k int, d Diagonal) error) error {
	if err := e.check(r.Arch); err != nil {
		return err
	}
	if e.Draws == 0 {
		return e.eachInMode(ctx, r, p, o, groups, train.Mode{}, each)
	}
	for k, group := range groups {
		var mean Diagonal
		for draw := range e.Draws {
			mode := train.Mode{Training: true, Seed: e.Seed + engine.Root(draw)}
			err := e.eachInMode(ctx, r, p, o, [][]int{group}, mode, func(_ int, d Diagonal) error {
				mean = mean.addScaled(d, 1/float64(e.Draws))
				return nil
			})
			if err != nil {
				return err
			}
		}
		if err := each(k, mean); err != nil {
			return err
		}
	}
	return nil
}

func (e Exact) eachInMode(ctx context.Context, r *model.Runner, p nn.Params, o train.Objective, groups [][]int, m train.Mode,
	each func(k int, d Diagonal) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := train.EachSquaredGradients(ctx, r, p, o, groups, m, func(k int, squares [][]float64) {
		if ctx.Err() != nil {
			return
		}
		if err := each(k, newDiagonal(p, squares, 0)); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (e Exact) check(a model.Architecture) error {
	if e.Draws < 0 {
		return fmt.Errorf("fisher: %d draws", e.Draws)
	}
	for _, d := range model.RandomInputs(a) {
		if e.Draws > 0 && d.Distribution == nn.Dropout && d.Active() {
			return fmt.Errorf("fisher: %s drops out units (%s); the mean over draws is of a network that does not", a.Name(), d.Name)
		}
	}
	return nil
}

// addScaled returns d + factor e; d may be empty.
func (d Diagonal) addScaled(e Diagonal, factor float64) Diagonal {
	for i, t := range e.Tensors {
		if i == len(d.Tensors) {
			d.Tensors = append(d.Tensors, Tensor{Name: t.Name, Shape: t.Shape, Values: make([]float64, len(t.Values))})
		}
		for j, v := range t.Values {
			d.Tensors[i].Values[j] += float64(factor * v)
		}
	}
	return d
}

// Coded is the estimator of the program of "Fishing for Privacy": the squared gradient of the sum
// of every batch's losses, added over batches and divided by the number of records,
//
//	F_i = Damping + 1/n sum over batches b of (sum over x in b of dL(x)/dw_i)^2
//
// with dropout on and one draw of the latent variable. The records are taken in their order; a set
// of at most Batch records is one batch, as the paper's forget set is.
//
// Differences from the Fisher information (Exact): (1) for B records in a batch, with gradients of
// mean m and variance v, it is about v + B m^2 and not v + m^2. So it measures the mean gradient,
// and sets of different size are not comparable; at the end of training the retain set's mean is
// near 0 and the forget set's is not. (2) The damping makes two dead tensors equal: their cosine is
// exactly 1 (the paper prints 0.998, because it adds in float32).
type Coded struct {
	Batch   int      `default:"256"`
	Damping *float64 `default:"1e-8"` // new(0.0): none
	Seed    engine.Root
}

var _ Estimator = Coded{}

// Name implements Estimator.
func (Coded) Name() string { return "as coded" }

// About implements Estimator.
func (Coded) About() string {
	return "the squared gradient of every batch's summed loss, over the number of records"
}

// Estimate implements Estimator.
func (c Coded) Estimate(ctx context.Context, r *model.Runner, p nn.Params, o train.Objective) (Diagonal, error) {
	c = defaults.Fill(c)
	if err := c.check(); err != nil {
		return Diagonal{}, err
	}
	f, err := train.BatchSquaredGradients(ctx, r, p, o, c.Batch, train.Mode{Training: true, Seed: c.Seed})
	if err != nil {
		return Diagonal{}, err
	}
	return newDiagonal(p, f, *c.Damping), nil
}
