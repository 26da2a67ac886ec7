package sde

import (
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Distribution is the split-half statistic H(S, h) of one set of activations.
type Distribution struct {
	// Values are the T draws.
	Values []float64 `json:"-"`
	// Mean and SD are of the draws, SD with divisor T-1.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	// ExactMean and ExactSD are what Mean and SD estimate, over all permutations. With fresh splits
	// the mean is over all splits, and ExactSD is NaN because it is not known.
	ExactMean float64 `json:"exact_mean"`
	ExactSD   float64 `json:"exact_sd"`
	// Identity is HSIC of the halves paired in the order given.
	Identity float64 `json:"identity"`
	// Spread is tr(Kc)/(n-1) of either half, the sample variance of the
	// activations in feature space: ExactMean = Spread[0] Spread[1]/(n-1).
	Spread [2]float64 `json:"spread"`
	// N is the number of records per half.
	N     int     `json:"n"`
	Sigma float64 `json:"sigma"`
}

// SplitHalf returns the distribution of the split-half statistic of a set of activations whose rows
// are in random order (equation (1) and algorithm 1).
//
// The set is cut into its first and second half S1 and S2 with n rows each, K and L are their
// centred kernel matrices, and each draw is
//
//	H_pi = sum_ij K_ij L_pi(i)pi(j) / (n-1)^2
//
// for a random order pi of S2. The kernel matrices are computed once.
//
// Null: there is none. The rows of S1 and S2 are not paired, so that the draws are the null
// distribution of the permutation test of independence, with the exact mean tr K tr L/(n-1)^3,
// whatever the model was trained on. Larger means that the activations have a larger spread on the
// scale of sigma.
//
// It refuses fewer than 4 rows, values that are not finite and invalid options. Differences from
// the paper:
//
//  1. permutations are independent draws, not one shuffled further each time, which is the same in distribution;
//  2. of an odd number of rows the last is left out;
//  3. kernel values are stored minus one (expm1), which changes nothing but the rounding.
func SplitHalf(m *Matrix, opt Options, rng *rand.Rand) (*Distribution, error) {
	if err := opt.check(rng); err != nil {
		return nil, err
	}
	if err := check("given", m, 4); err != nil {
		return nil, err
	}
	sigma, err := opt.Bandwidth.Resolve(m)
	if err != nil {
		return nil, err
	}
	return splitHalf(newCloud(m).halfKernels(sigma, opt.FreshSplits, 0), sigma, opt, rng, 0), nil
}

// halfKernels holds the kernel values minus one within the two halves of a set, and within the
// whole set if fresh splits need them.
type halfKernels struct {
	first, second Matrix
	whole         *Matrix
}

func (c cloud) halfKernels(sigma float64, whole bool, workers int) halfKernels {
	if whole {
		k := c.kernel(sigma, workers)
		return halfKernels{diagonalBlock(&k, 0, k.Rows/2), diagonalBlock(&k, k.Rows/2, k.Rows/2*2), &k}
	}
	n := c.m.Rows / 2
	half := func(from int) Matrix {
		part := cloud{m: Matrix{Rows: n, Cols: c.m.Cols, Data: c.m.Data[from*c.m.Cols : (from+n)*c.m.Cols]}}
		return part.kernel(sigma, workers)
	}
	return halfKernels{first: half(0), second: half(n)}
}

// splitHalf overwrites the kernel matrices that it is given.
func splitHalf(d halfKernels, sigma float64, opt Options, rng *rand.Rand, workers int) *Distribution {
	k, l := d.first, d.second
	n := k.Rows
	centre(&k)
	centre(&l)
	scale, t := float64(n-1)*float64(n-1), opt.permutations()
	r := &Distribution{N: n, Sigma: sigma, Identity: pairwise(&k, &l) / scale}
	r.Spread = [2]float64{trace(&k) / float64(n-1), trace(&l) / float64(n-1)}
	if opt.FreshSplits {
		r.ExactMean, r.ExactSD = freshMean(d.whole), math.NaN()
		r.Values = freshDraws(d.whole, t, rng)
	} else {
		r.ExactMean, r.ExactSD = moments(&k, &l)
		r.Values = permuted(&k, &l, permutations(n, t, rng), workers)
	}
	for i := range r.Values {
		r.Values[i] /= scale
	}
	r.summarise()
	return r
}

// summarise computes Mean and SD; values of a distribution are finite.
func (r *Distribution) summarise() {
	r.Mean, _ = stats.Mean(r.Values)
	r.SD, _ = stats.SD(r.Values) // 0 for a single draw
}

// diagonalBlock copies a square block on the diagonal of a symmetric matrix.
func diagonalBlock(d *Matrix, from, to int) Matrix {
	out := Matrix{Rows: to - from, Cols: to - from, Data: make([]float64, 0, (to-from)*(to-from))}
	for i := from; i < to; i++ {
		out.Data = append(out.Data, d.Row(i)[from:to]...)
	}
	return out
}
