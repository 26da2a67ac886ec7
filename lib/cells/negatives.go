package cells

// Non-members for attacks: matched cells, sampled codes, halves of a cluster.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
)

// An attack compares forgotten cells with non-members, which should be as similar as possible.
// There are three ways to choose them:
//
//	as coded:     Match on SampleCodes of the baseline
//	corrected:    Match on the posterior means themselves
//	none needed:  Halves of a cluster, of which one is trained on and the other is not

// Matches are the matched non-members of the forgotten cells.
type Matches struct {
	Rows     []int     // rows of unseen, ascending, each once
	Distance []float64 // of every forgotten cell from each of its k neighbours, row by row
	Nearest  []int     // of each of Rows the nearest forgotten cell
}

// Match returns the union of the k unseen cells whose codes are nearest to each forgotten cell,
// by Euclidean distance. A cell that is near to several forgotten cells counts once. The paper
// has k = 10 in its tables and 7 in its series of sizes. It refuses what Nearest refuses, and an
// empty set of forgotten cells.
func Match(forget, unseen array.Matrix[float64], k int) (*Matches, error) {
	if forget.Rows == 0 {
		return nil, fmt.Errorf("cells.Match: no forgotten cells to match")
	}
	n, err := Nearest(forget, unseen, k)
	if err != nil {
		return nil, fmt.Errorf("cells.Match: %w", err)
	}
	rows := slices.Clone(n.Index)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	back, err := Nearest(unseen.Gather(rows), forget, 1)
	if err != nil {
		return nil, fmt.Errorf("cells.Match: %w", err)
	}
	return &Matches{Rows: rows, Distance: n.Distance, Nearest: back.Index}, nil
}

// SampleCodes draws one code of every cell from its posterior,
//
//	z = mean + exp(logvar/2) e,  e normal,
//
// row by row. The paper's program matches on such draws. With a mean variance of 0.59 in 32
// dimensions two draws for one cell are about sqrt(2 x 32 x 0.59) = 6.1 apart, farther than the
// 5.35 of the neighbours that it finds, so that its 194 matched cells are close to a random
// choice. It refuses shapes that differ and values that are not finite.
func SampleCodes(mean, logvar array.Matrix[float64], rng *rand.Rand) (array.Matrix[float64], error) {
	if err := mean.Check("cells.SampleCodes: mean"); err != nil {
		return mean, err
	}
	if err := logvar.Check("cells.SampleCodes: logvar"); err != nil {
		return mean, err
	}
	if mean.Rows != logvar.Rows || mean.Cols != logvar.Cols || rng == nil {
		return mean, fmt.Errorf("cells.SampleCodes: means of %d x %d, logarithms of variances of %d x %d, generator %v",
			mean.Rows, mean.Cols, logvar.Rows, logvar.Cols, rng != nil)
	}
	out := array.New[float64](mean.Rows, mean.Cols)
	for k, m := range mean.Data {
		out.Data[k] = m + float64(math.Exp(logvar.Data[k]/2)*rng.NormFloat64())
	}
	return out, nil
}

// Halves splits the cells of a cluster at random into cells to train on (in) and cells to leave
// out. Cells of one cluster need no matched non-members. If the number is odd, out has one more.
// Both ascend. It refuses fewer than two cells.
func Halves(cluster []int, rng *rand.Rand) (in, out []int, err error) {
	if len(cluster) < 2 || rng == nil {
		return nil, nil, fmt.Errorf("cells.Halves: %d cells, generator %v: want two cells or more", len(cluster), rng != nil)
	}
	for k, e := range rng.Perm(len(cluster)) {
		if k < len(cluster)/2 {
			in = append(in, cluster[e])
		} else {
			out = append(out, cluster[e])
		}
	}
	slices.Sort(in)
	slices.Sort(out)
	return in, out, nil
}
