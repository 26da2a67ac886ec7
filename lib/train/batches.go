// Mini-batches: the orders in which they are drawn, and the batches of every step of an epoch.

package train

import (
	"fmt"
	"math/rand/v2"
	"sort"

	"github.com/lethe-ml/lethe/lib/engine"
)

// Order says how mini-batches are drawn.
type Order int

const (
	// Shuffled draws a new permutation of the records in every epoch, like PyTorch's
	// DataLoader. Two training sets of different sizes with one seed have different
	// orders.
	Shuffled Order = iota
	// Paired gives every record (by its ID) a random key per epoch and sorts by
	// it. Two trainings that share records then see these in the same relative order.
	Paired
	// Fixed draws the batches once for the whole run, and the order of the batches
	// in every epoch (SDE, appendix A.4). A batch that is not full may come at any
	// place. The order inside a batch stays the same.
	Fixed
	// ShuffledSingle is Shuffled for objectives of one term, from a random stream
	// without the term's number. Denoisers are trained in this order.
	ShuffledSingle
)

// Membership returns the batches of a term of n records under the order Fixed, as
// positions 0 ... n-1. Each batch is in random order; the last may be shorter. It
// depends on the seed, the batch size, the term and n, not on the epoch. It returns an
// error for other orders and for numbers below 1 (term: below 0).
func (c Config) Membership(term, n int) ([][]int, error) {
	switch {
	case c.Order != Fixed:
		return nil, fmt.Errorf("train: order %d draws new batches in every epoch, so records have no fixed batch", c.Order)
	case c.Batch < 1 || n < 1 || term < 0:
		return nil, fmt.Errorf("train: no batch membership for %d records of term %d in batches of %d", n, term, c.Batch)
	}
	return c.membership(term, n), nil
}

func (c Config) membership(term, n int) [][]int {
	return splitBatches(c.Seed.Stream(engine.StreamBatch, uint64(term)).Perm(n), c.Batch)
}

// splitBatches splits rows into batches of the given size; the last may be shorter.
func splitBatches(rows []int, size int) [][]int {
	var out [][]int
	for first := 0; first < len(rows); first += size {
		out = append(out, rows[first:min(first+size, len(rows))])
	}
	return out
}

// batches returns the batches of term k, which has n records, in an epoch.
func (c Config) batches(k, epoch, n int, ids []int) [][]int {
	if c.Order != Fixed {
		return splitBatches(c.Order.permutation(c.Seed, k, epoch, n, ids), c.Batch)[:c.stepsFor(n)]
	}
	drawn := c.membership(k, n)
	out := make([][]int, len(drawn))
	for at, b := range Shuffled.permutation(c.Seed, k, epoch, len(drawn), nil) {
		out[at] = drawn[b]
	}
	return out
}

// permutation returns the order of n records in an epoch, for every order but Fixed.
func (o Order) permutation(seed engine.Root, term, epoch, n int, ids []int) []int {
	switch o {
	case Shuffled:
		return seed.Stream(engine.StreamBatch, uint64(term), uint64(epoch)).Perm(n)
	case ShuffledSingle:
		return seed.Stream(engine.StreamBatch, uint64(epoch)).Perm(n)
	}
	keys := make([]uint64, n)
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
		id := i
		if ids != nil {
			id = ids[i]
		}
		keys[i] = rand.NewPCG(seed.Counter(engine.StreamBatch, uint64(term), uint64(epoch)), uint64(id)).Uint64()
	}
	sort.SliceStable(perm, func(a, b int) bool { return keys[perm[a]] < keys[perm[b]] })
	return perm
}

// batch is the part of one term that enters a step: the records with numbers rows (nil:
// all) of term number term.
type batch struct {
	term int
	rows []int
}

func (b batch) size(o Objective) int {
	if b.rows == nil {
		return o[b.term].X.Rows
	}
	return len(b.rows)
}

// StepsPerEpoch returns the number of steps of an epoch: that of the longest term that is
// neither Whole nor Sampled. Without mini-batches it is 1.
func (c Config) StepsPerEpoch(o Objective) int {
	steps := 1
	if c.Batch == 0 {
		return steps
	}
	for _, t := range o {
		if !t.Whole && !t.Sampled {
			steps = max(steps, c.stepsFor(t.X.Rows))
		}
	}
	return steps
}

// stepsFor returns the number of batches of n >= 1 records in an epoch.
func (c Config) stepsFor(n int) int {
	if c.DropLast {
		return max(1, n/c.Batch)
	}
	return 1 + (n-1)/c.Batch // and not (n+Batch-1)/Batch, which overflows
}

// epochBatches returns the batches of every step of an epoch. A term that runs out of
// records before the longest one starts over.
func (c Config) epochBatches(o Objective, epoch int) [][]batch {
	steps := make([][]batch, c.StepsPerEpoch(o))
	for k, t := range o {
		if c.Batch == 0 || t.Whole {
			for s := range steps {
				steps[s] = append(steps[s], batch{term: k})
			}
			continue
		}
		drawn := c.batches(k, epoch, t.X.Rows, t.IDs)
		for s := range steps {
			steps[s] = append(steps[s], batch{k, drawn[s%len(drawn)]})
		}
	}
	return steps
}
