package train

import (
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
)

// permutation returns the order of n records in an epoch.
func (o Order) permutation(seed engine.Root, term, epoch, n int, ids []int) []int {
	if o == Shuffled {
		return seed.Stream(engine.StreamBatch, uint64(term), uint64(epoch)).Perm(n)
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

// stepsPerEpoch is the number of steps of an epoch: the longest swept term
// decides; without mini-batches it is one.
func (c Config) stepsPerEpoch(o Objective) int {
	steps := 1
	if c.Batch == 0 {
		return steps
	}
	for _, t := range o {
		if !t.Whole {
			steps = max(steps, (t.X.Rows+c.Batch-1)/c.Batch)
		}
	}
	return steps
}

// epoch lists the batches of every step. A swept term that has run out of
// records before the longest one starts over.
func (c Config) epoch(o Objective, epoch int) [][]batch {
	steps := make([][]batch, c.stepsPerEpoch(o))
	for k, t := range o {
		if c.Batch == 0 || t.Whole {
			for s := range steps {
				steps[s] = append(steps[s], batch{term: k})
			}
			continue
		}
		perm := c.Order.permutation(c.Seed, k, epoch, t.X.Rows, t.IDs)
		per := (t.X.Rows + c.Batch - 1) / c.Batch
		for s := range steps {
			first := s % per * c.Batch
			steps[s] = append(steps[s], batch{k, perm[first:min(first+c.Batch, len(perm))]})
		}
	}
	return steps
}
