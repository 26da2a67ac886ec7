package sde

import "math/rand/v2"

// MMD is a competitor from the paper's table 3: the distance between target T and reference R is
// the biased squared maximum mean discrepancy with SDE's kernel,
//
//	MMD^2 = mean k(T, T) + mean k(R, R) - 2 mean k(T, R),
//
// over all pairs, including a record with itself. 0 is equal sets. The paper does not say which
// estimator or bandwidth it used.
type MMD struct{}

var _ Method = MMD{}

// Name implements Method.
func (MMD) Name() string { return "mmd" }

// About implements Method.
func (MMD) About() string { return "squared maximum mean discrepancy, with the kernel of SDE" }

// Prepare implements Method.
func (MMD) Prepare(pool *Pool, refs References, opt Options) (*Prepared, error) {
	sigma, err := validatePool(pool, refs, opt)
	if err != nil {
		return nil, err
	}
	a, b := newEmbedding(pool, refs.In, sigma), newEmbedding(pool, refs.Out, sigma)
	return &Prepared{Compare: func(rows []int, _ *rand.Rand) Distances {
		k := pool.kernel(rows, sigma, 1)
		own := mean(rowMeans(&k))
		return Distances{In: a.discrepancy(own, rows), Out: b.discrepancy(own, rows)}
	}}, nil
}

// embedding holds the kernel means of a reference. Kernel values are minus one, which cancels.
type embedding struct {
	own   float64   // mean kernel value within the reference
	cross []float64 // per record of the pool, mean kernel value to the reference
}

func newEmbedding(pool *Pool, ref *Matrix, sigma float64) embedding {
	own := newCloud(ref).kernel(sigma, 0)
	cross := pool.cloud.distancesTo(ref, 0)
	gaussian(&cross, sigma)
	return embedding{mean(rowMeans(&own)), rowMeans(&cross)}
}

// discrepancy is the squared MMD, cut at 0 against rounding.
func (e embedding) discrepancy(own float64, rows []int) float64 {
	cross := make([]float64, len(rows))
	for k, r := range rows {
		cross[k] = e.cross[r]
	}
	return max(0, own+e.own-2*mean(cross))
}

func mean(x []float64) float64 { return sum(x) / float64(len(x)) }
