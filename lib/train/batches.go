package train

import (
	"fmt"
	"math/rand/v2"
	"sort"

	"github.com/lethe-ml/lethe/lib/engine"
)

// Order is how mini-batches are drawn.
type Order int

const (
	// Shuffled draws a fresh permutation of the records in every epoch. Two
	// training sets of different size share a seed but not an order, as with
	// PyTorch's DataLoader: this is what the paper did.
	Shuffled Order = iota
	// Paired gives every record (by its ID) a random key per epoch and sorts by
	// it: an original and its oracle then meet the records they share in the
	// same relative order.
	Paired
	// Fixed draws once for the whole run which records share a batch, and in
	// every epoch anew in which order the batches come (SDE, appendix A.4). A
	// batch that is not full is one of them and comes at any place. The order
	// inside a batch stays, because it changes nothing but rounding.
	Fixed
	// ShuffledSingle is Shuffled for objectives of one term, from a stream that knows no
	// terms. Denoisers have been trained in this order from the start.
	ShuffledSingle
)

// Membership returns the batches of a swept term of n records under the order
// Fixed, as positions 0 ... n-1 in the order in which they were drawn: every
// batch is in random order, and the last holds what is left over. It depends on
// the seed, the size of a batch, the term and n, never on the epoch. It refuses
// other orders, which have no membership, and numbers below 1 (term: below 0).
func (c Config) Membership(term, n int) ([][]int, error) {
	switch {
	case c.Order != Fixed:
		return nil, fmt.Errorf("train: order %d draws its batches anew in every epoch, so that records belong to none", c.Order)
	case c.Batch < 1 || n < 1 || term < 0:
		return nil, fmt.Errorf("train: the membership of %d records of term %d in batches of %d", n, term, c.Batch)
	}
	return c.membership(term, n), nil
}

func (c Config) membership(term, n int) [][]int {
	return splitBatches(c.Seed.Stream(engine.StreamBatch, uint64(term)).Perm(n), c.Batch)
}

// splitBatches cuts rows into batches; the last may be short.
func splitBatches(rows []int, size int) [][]int {
	var out [][]int
	for first := 0; first < len(rows); first += size {
		out = append(out, rows[first:min(first+size, len(rows))])
	}
	return out
}

// batches lists the batches of term k, of n records, in an epoch.
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

// permutation returns the order of n records in an epoch, for the orders that
// draw one: Shuffled and Paired.
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

// batch is the part of one term that enters a step: the records rows (nil for
// all) of term Term.
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

// StepsPerEpoch is the number of steps of an epoch: the longest swept term
// decides; without mini-batches it is one.
func (c Config) StepsPerEpoch(o Objective) int {
	steps := 1
	if c.Batch == 0 {
		return steps
	}
	for _, t := range o {
		if !t.Whole {
			steps = max(steps, c.stepsFor(t.X.Rows))
		}
	}
	return steps
}

// stepsFor is the number of batches of n records in an epoch, n at least 1.
func (c Config) stepsFor(n int) int {
	if c.DropLast {
		return max(1, n/c.Batch)
	}
	return 1 + (n-1)/c.Batch // and not (n+Batch-1)/Batch, which overflows
}

// epochBatches lists the batches of every step. A swept term that has run out of
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
