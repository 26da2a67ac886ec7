package cells

// Splits into training and unseen cells, and forget sets.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats/nprand"
)

// Split divides cells into training cells and unseen cells.
type Split struct {
	Train, Unseen []int // in the order in which they were drawn
}

// Divide shuffles 0 ... n-1 by NumPy's RandomState(seed) and trains on the first floor(fraction
// n) of them. It refuses an empty part.
func Divide(n int, fraction float64, seed uint32) (Split, error) {
	train := 0
	if fraction > 0 && fraction < 1 {
		train = int(fraction * float64(n))
	}
	if train < 1 || train >= n {
		return Split{}, fmt.Errorf("cells.Divide: a fraction of %v of %d cells leaves one part empty", fraction, n)
	}
	order := nprand.New(seed).Permutation(n)
	return Split{Train: order[:train:train], Unseen: order[train:]}, nil
}

// PaperSplit is the paper's split of n cells, bit for bit: 85 % training cells, seed 42. It
// depends on n alone.
func PaperSplit(n int) (Split, error) { return Divide(n, 0.85, 42) }

// Forget divides the training cells into those to be forgotten and the others (Retain,
// ascending).
type Forget struct {
	Forget, Retain []int
}

// Structured forgets the training cells of one cluster, in the order of Train. clusters has an
// entry per cell of the data set. It refuses a cluster that has no training cell or all of them.
func (s Split) Structured(clusters []int, cluster int) (Forget, error) {
	in, err := s.members(clusters, cluster)
	if err != nil {
		return Forget{}, err
	}
	return s.forget(in)
}

// Scattered forgets k training cells at random: the first k of a permutation of
// Train by RandomState(seed). The paper's seeds are 42 with 35 cells for PBMC and 43
// with 30 for Tabula Muris.
func (s Split) Scattered(seed uint32, k int) (Forget, error) {
	if k < 1 || k >= len(s.Train) {
		return Forget{}, fmt.Errorf("cells.Scattered: %d of %d training cells", k, len(s.Train))
	}
	return s.forget(sample(nprand.New(seed), s.Train, k))
}

// Series forgets sets of growing size. A set of n takes whole clusters in the given order, the
// smallest first, and fills up with random cells of the next one. All draws come from one
// RandomState(42) in the order of the sizes; a set of whole clusters draws nothing. The paper's
// sizes are 10, 50, 100 from its clusters 13, 12, 11.
//
// The program of the paper's scattered sets of several sizes is not published, and the order of
// the cells of its cluster is not known; here it is the order of Train.
func (s Split) Series(clusters, smallestFirst, sizes []int) ([]Forget, error) {
	rng := nprand.New(42)
	var out []Forget
	for _, n := range sizes {
		var set []int
		for _, c := range smallestFirst {
			in, err := s.members(clusters, c)
			if err != nil {
				return nil, err
			}
			missing := n - len(set)
			if missing < len(in) {
				if missing > 0 {
					set = append(set, sample(rng, in, missing)...)
				}
				break
			}
			set = append(set, in...)
		}
		if len(set) != n || n < 1 {
			return nil, fmt.Errorf("cells.Series: clusters %v have %d training cells, %d were requested", smallestFirst, len(set), n)
		}
		f, err := s.forget(set)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func sample(rng *nprand.State, from []int, k int) []int {
	var out []int
	for _, i := range rng.Choice(len(from), k) {
		out = append(out, from[i])
	}
	return out
}

// members returns the training cells of a cluster.
func (s Split) members(clusters []int, cluster int) ([]int, error) {
	var in []int
	for _, i := range s.Train {
		if i < 0 || i >= len(clusters) {
			return nil, fmt.Errorf("cells.Split: training cell %d has no cluster: clusters are given for %d cells", i, len(clusters))
		}
		if clusters[i] == cluster {
			in = append(in, i)
		}
	}
	if len(in) == 0 {
		return nil, fmt.Errorf("cells.Split: none of %d training cells is in cluster %d", len(s.Train), cluster)
	}
	return in, nil
}

func (s Split) forget(set []int) (Forget, error) {
	out, gone := Forget{Forget: set}, map[int]bool{}
	for _, i := range set {
		gone[i] = true
	}
	for _, i := range s.Train {
		if !gone[i] {
			out.Retain = append(out.Retain, i)
		}
	}
	slices.Sort(out.Retain)
	if len(out.Retain) == 0 {
		return Forget{}, fmt.Errorf("cells.Split: all %d training cells are to be forgotten", len(s.Train))
	}
	return out, nil
}

// Smallest returns the clusters sorted by their number of cells, the smallest first.
func Smallest(clusters []int) []int {
	size := map[int]int{}
	for _, c := range clusters {
		size[c]++
	}
	var out []int
	for c := range size {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(size[a], size[b]), cmp.Compare(a, b)) })
	return out
}
