// Package features computes the feature vectors that "Fishing for Privacy" attacks with, from the
// outputs of a variational autoencoder on plain arrays.
package features

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Posterior holds an autoencoder's outputs for n records: one value, or one row, per record. Mu and
// LogVar may be float32 or float64.
type Posterior struct {
	Recon  []float64  // the reconstruction's loss; the paper's is summed over the genes, with library size
	KL     []float64  // divergence of the posterior from the prior, summed over the latent axes
	Mu     array.Rows // means of the posterior, a column per latent axis
	LogVar array.Rows // logarithms of its variances
}

// Full returns the paper's vector (section 4.1; 69 features for 32 latent axes), a row per record:
//
//	[recon, KL, recon + KL, mu_1 ... mu_d, logvar_1 ... logvar_d, ||mu||, ||logvar||]
//
// Nothing is standardised: see package learned. All but two results of the paper's main tables have
// one more column, WithDistance.
func Full(p Posterior) (array.Matrix[float64], error) { return p.columns(true, true) }

// WithoutNorms is Full without the two norms, for the second of the paper's three critics (67
// features for 32 axes).
func WithoutNorms(p Posterior) (array.Matrix[float64], error) { return p.columns(true, false) }

// Losses is [recon, KL, recon + KL], the third of the paper's critics.
func Losses(p Posterior) (array.Matrix[float64], error) { return p.columns(false, false) }

// Invariant returns features that no rotation of the latent axes changes, a row per record. The
// logarithm of the trace of the posterior covariance replaces the norm of the log-variances:
//
//	[recon, KL, recon + KL, ||mu||, log trace]
func Invariant(p Posterior) (array.Matrix[float64], error) {
	d, err := p.check()
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	out, buffer, spread := array.New[float64](len(p.Recon), 5), make([]float64, d), Spread(p.LogVar)
	for i, recon := range p.Recon {
		copy(out.Row(i), []float64{recon, p.KL[i], recon + p.KL[i], norm(p.Mu.Read(buffer, i)), spread[i]})
	}
	return out, nil
}

// Names returns the names of the columns of Full for a number of latent axes. WithoutNorms has all
// but the last two, Losses the first three.
func Names(axes int) []string {
	out := []string{"recon", "kl", "elbo"}
	for _, name := range []string{"mu", "logvar"} {
		for k := range axes {
			out = append(out, fmt.Sprintf("%s_%d", name, k+1))
		}
	}
	return append(out, "norm_mu", "norm_logvar")
}

func (p Posterior) columns(axes, norms bool) (array.Matrix[float64], error) {
	d, err := p.check()
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	var rows []float64
	buffer := make([]float64, d)
	for i, recon := range p.Recon {
		rows = append(rows, recon, p.KL[i], recon+p.KL[i])
		var lengths []float64
		for _, m := range []array.Rows{p.Mu, p.LogVar} {
			row := m.Read(buffer, i)
			lengths = append(lengths, norm(row))
			if axes {
				rows = append(rows, row...)
			}
		}
		if norms {
			rows = append(rows, lengths...)
		}
	}
	return array.Matrix[float64]{Rows: len(p.Recon), Cols: len(rows) / len(p.Recon), Data: rows}, nil
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}

// check returns the number of latent axes.
func (p Posterior) check() (int, error) {
	n := len(p.Recon)
	switch {
	case n == 0:
		return 0, errors.New("features: there are no reconstruction losses")
	case len(p.KL) != n:
		return 0, fmt.Errorf("features: %d divergences for %d reconstruction losses", len(p.KL), n)
	case p.Mu == nil || p.LogVar == nil:
		return 0, errors.New("features: there are no posterior means, or no log-variances")
	}
	_, d := p.Mu.Shape()
	for _, m := range []struct {
		name string
		rows array.Rows
	}{
		{"posterior means", p.Mu}, {"posterior log-variances", p.LogVar},
		{"reconstruction losses", column(p.Recon)}, {"divergences", column(p.KL)},
	} {
		if err := m.rows.Check(m.name); err != nil {
			return 0, fmt.Errorf("features: %w", err)
		}
	}
	for _, m := range []array.Rows{p.Mu, p.LogVar} {
		if rows, cols := m.Shape(); rows != n || cols != d || d == 0 {
			return 0, fmt.Errorf("features: a posterior of %d x %d, want %d x %d", rows, cols, n, max(d, 1))
		}
	}
	return d, nil
}

func column(x []float64) array.Rows { return array.Matrix[float64]{Rows: len(x), Cols: 1, Data: x} }
