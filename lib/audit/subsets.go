// The lens on subsets: SDE (section 3.2) on the forgotten records as a set,
// against many drawn references.

package audit

import (
	"cmp"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Defaults of Subsets.
const (
	subsetDraws = 40
	subsetSize  = 400 // the smallest size of SDE's Table 1
	drawSeed    = 999 // of the references
)

// Subsets asks whether the forgotten records, as a set, look like training data. It applies SDE
// (section 3.2) to their embeddings with as many retained and as many held-out records for
// reference, and repeats that with other references,
//
//	value = share of the draws whose verdict is "in".
//
// Null: 0.5, a set that is closer to neither. SDE reads values above it as memory. The interval is
// Wilson's over the draws. All draws share the forgotten records, so that it shows how much the
// choice of references matters, not how much the choice of records does. No chance floor is known.
// The statistic measures the spread of the embeddings (see package sde): anything that changes the
// spread changes the value.
//
// Differences from SDE:
//
//  1. one set is compared with many references; the paper compares many subsets of a large forget set
//     with one;
//  2. sets are as large as the forget set, at most Size; the paper's have 400 to 2,000 records;
//  3. a tie (sde.Distances.Tied) counts one half, where algorithm 2 says "out", so that the null stays
//     0.5 where neither reference is closer;
//  4. a draw whose references fail the gate (sde.Gate.Valid) counts as any other. The paper shows no result for it: its
//     verdict says nothing of training.
type Subsets struct {
	Draws int // 0: 40
	Size  int // records per set, at most; 0: 400
	// Scale multiplies the embeddings of the forgotten set; 0: 1. It is a control: nothing that was
	// learned depends on it.
	Scale float64
}

var _ Lens = Subsets{}

// Name implements Lens.
func (Subsets) Name() string { return "subsets" }

// Info implements Lens.
func (Subsets) Info() Info {
	return Info{
		High:     1,
		Measures: "SDE: share of random references against which the forgotten set looks like training data",
		Asks:     "As a set, do the forgotten records look more like retained or like held-out ones?",
		How: "SDE: share of 40 draws of references of at most 400 records against which the set is called in training, with Wilson's interval " +
			"over the draws; they share the forgotten records. Rests on the spread of the embeddings alone; draws whose references fail SDE's gate " +
			"count as any other.",
		Source: "SDE, section 3.2",
		Family: SubsetFamily,
		Needs:  Needs{Arrays: []Array{EmbeddingArray}, Sets: []Set{Retain, HeldOut}},
		Ungrouped: "its interval is over draws of references, which takes the records of a draw as independent, and the distribution of its number " +
			"without a memory is not known even for independent records",
	}
}

// Read implements Lens.
func (l Subsets) Read(e *Evidence, m *Arrays) (*Reading, error) {
	g, err := e.groups(m.Embedding)
	if err != nil {
		return nil, err
	}
	root := engine.Root(e.Seed)
	draws, size, scale := cmp.Or(l.Draws, subsetDraws), cmp.Or(l.Size, subsetSize), cmp.Or(l.Scale, 1)
	if size < 4 || draws < 1 {
		return nil, fmt.Errorf("audit: the lens %q: %d draws of sets of %d records, at least one of four is needed", l.Name(), draws, size)
	}
	records := min(g.Forgotten.Rows, g.Retained.Rows, g.HeldOut.Rows)
	if records == 0 {
		return nil, fmt.Errorf("audit: the lens %q: a set is empty", l.Name())
	}
	few := firstReason(tooFewRecords(2*MinRecords, min(size, records), "records in the smallest set, which is halved"),
		TooFewRecords(min(e.CountGroups(e.Forget), e.CountGroups(e.HeldOut)), e.Units()+" in the smaller set that is judged"))
	if size = min(size, records); size < 4 {
		return NoReading(l.Name(), m.Name, few), nil
	}
	size -= size % 2
	collapsed := firstReason(g.collapsedReason(g.Retained), g.collapsedReason(g.HeldOut))
	inside := 0.0
	task := progress.Begin(l.Name(), draws)
	defer task.Done()
	for d := range draws {
		task.Add(1)
		rng := root.Stream(engine.StreamSubsets, uint64(d))
		some := func(from array.Matrix[float64]) *sde.Matrix {
			x := from.Gather(rng.Perm(from.Rows)[:size])
			return &x
		}
		asked, in, out := some(g.Forgotten), some(g.Retained), some(g.HeldOut)
		for i := range asked.Data {
			asked.Data[i] *= scale
		}
		r, err := sde.Judge(asked, sde.References{In: in, Out: out}, sde.Options{Seed: uint64(d)})
		if err != nil {
			return nil, err
		}
		switch r.Verdict {
		case sde.In:
			inside++
		case sde.Undecided:
			inside += 0.5
		}
	}
	share := stats.Wilson(inside/float64(draws), draws, 0.95).WithNull(0.5, stats.NearNull)
	share.Over = stats.OverDraws
	return &Reading{Lens: l.Name(), Model: m.Name, Memory: Above, Estimate: share, Floor: unknownFloor, NoEvidence: firstReason(few, collapsed)}, nil
}
