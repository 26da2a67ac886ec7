package cells

// Approximate nearest neighbours by random projection trees.

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Forest finds approximate nearest rows without comparing all pairs. Every tree splits the rows
// by the plane halfway between two random rows, and splits the parts again until none has more
// than Leaf rows. The candidates of a row are the rows that share a leaf with it in any tree.
// Then, Rounds times, the neighbours of its neighbours become candidates too (Dong, Moses and Li
// 2011).
//
// The result depends on the rows and the seed alone. Distances are exact; of rows at the same
// distance the one found first comes first. The zero value misses fewer than one in a hundred of
// the 15 neighbours of simulated cells (tested), and one in forty of PBMC-3k's. It is meant for
// large sets: for 2,600 cells comparing all pairs is faster.
type Forest struct {
	Trees  int    `json:"trees,omitempty" default:"8"`
	Leaf   int    `json:"leaf,omitempty" default:"64"`
	Rounds int    `json:"rounds,omitempty" default:"2"`
	Seed   uint64 `json:"seed,omitempty"`
}

// NearestOthers is the approximate version of the function NearestOthers. It refuses what that
// refuses, and leaves that cannot hold k rows.
func (f Forest) NearestOthers(x array.Matrix[float64], k int) (*Neighbours, error) {
	if err := checkNearest(x, x, k, x.Rows); err != nil {
		return nil, err
	}
	f = defaults.Fill(f)
	if f.Trees < 1 || f.Rounds < 0 || f.Leaf < 2*k {
		return nil, fmt.Errorf("cells.Forest: %d trees, %d rounds, leaves of %d rows for %d neighbours; a leaf needs twice as many",
			f.Trees, f.Rounds, f.Leaf, k)
	}
	task := progress.Begin("nearest neighbours", 1+f.Rounds)
	defer task.Done()
	shared := make([][][]int32, f.Trees) // the leaf of every row, by tree
	inParts(f.Trees, runtime.GOMAXPROCS(0), func(_, from, to int) {
		for t := from; t < to; t++ {
			shared[t] = f.leaves(x, k, rand.New(rand.NewPCG(f.Seed, uint64(t))))
		}
	})
	n := nearestCandidates(x, k, func(i int, add func(rows ...int32)) {
		for _, leaf := range shared {
			add(leaf[i]...)
		}
	})
	for range f.Rounds {
		task.Add(1)
		last := n
		n = nearestCandidates(x, k, func(i int, add func(rows ...int32)) {
			near, _ := last.Row(i)
			for _, j := range near {
				next, _ := last.Row(j)
				for _, e := range next {
					add(int32(e))
				}
			}
		})
	}
	return n, nil
}

// leaves grows a tree and returns every row's leaf. No leaf has fewer than least rows.
func (f Forest) leaves(x array.Matrix[float64], least int, rng *rand.Rand) [][]int32 {
	out := make([][]int32, x.Rows)
	all := make([]int32, x.Rows)
	for i := range all {
		all[i] = int32(i)
	}
	parts := [][]int32{all}
	for len(parts) > 0 {
		rows := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		if len(rows) <= f.Leaf {
			for _, i := range rows {
				out[i] = rows
			}
			continue
		}
		at := cut(x, rows, least, rng)
		parts = append(parts, rows[:at], rows[at:])
	}
	return out
}

// cut moves the rows on one side of a plane to the front and returns their number. Rows that the
// plane does not separate, such as copies, are split in the middle.
func cut(x array.Matrix[float64], rows []int32, least int, rng *rand.Rand) int {
	a, b := x.Row(int(rows[rng.IntN(len(rows))])), x.Row(int(rows[rng.IntN(len(rows))]))
	side := func(row []float64) (s float64) {
		for e, v := range row {
			s += float64((a[e] - b[e]) * (v - (a[e]+b[e])/2))
		}
		return s
	}
	at := 0
	for k, i := range rows {
		if side(x.Row(int(i))) > 0 {
			rows[at], rows[k] = i, rows[at]
			at++
		}
	}
	if at < least || at > len(rows)-least {
		return len(rows) / 2
	}
	return at
}

// nearestCandidates finds the nearest of every row's candidates, the row itself first.
func nearestCandidates(x array.Matrix[float64], k int, of func(i int, add func(rows ...int32))) *Neighbours {
	n := &Neighbours{Rows: x.Rows, K: k, Index: make([]int, x.Rows*k), Distance: make([]float64, x.Rows*k)}
	inParts(x.Rows, 4*runtime.GOMAXPROCS(0), func(_, from, to int) {
		var candidates []int32
		for i := from; i < to; i++ {
			candidates = candidates[:0]
			of(i, func(rows ...int32) { candidates = append(candidates, rows...) })
			slices.Sort(candidates)
			candidates = slices.Compact(candidates)
			n.fill(i, func(best *shortlist) {
				for _, j := range candidates {
					if int(j) != i {
						best.offer(int(j), x.Row(i), x.Row(int(j)))
					}
				}
			})
		}
	})
	return n
}
