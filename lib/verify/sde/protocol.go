// The unlearning protocol: verdicts on random subsets and the out-of-training rate (algorithm 3).

package sde

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// DrawSubsets returns m random subsets of the records 0 ... n-1, each of the given size and in
// random order, without repetition inside a subset. Subsets overlap: more than n/size of them
// cannot be disjoint. It refuses a size above n, sizes and counts below 1 and a nil rng.
func DrawSubsets(n, size, m int, rng *rand.Rand) ([][]int, error) {
	if rng == nil || m < 1 || size < 1 || size > n {
		return nil, fmt.Errorf("sde: cannot draw %d subsets of %d from %d records (generator nil: %t)", m, size, n, rng == nil)
	}
	out := make([][]int, m)
	for k := range out {
		out[k] = rng.Perm(n)[:size:size]
	}
	return out, nil
}

// SubsetVerdicts holds the verdicts on the subsets of one pool.
type SubsetVerdicts struct {
	Verdicts  []Verdict   `json:"verdicts"`
	Distances []Distances `json:"distances"`
	// Disjoint is the number of disjoint subsets of this size that the records in the subsets could
	// form. Intervals over subsets treat them as independent; if fewer are disjoint than there are
	// subsets, the intervals are too narrow.
	Disjoint int `json:"disjoint"`
	// Gate is nil for methods without one.
	Gate *Gate `json:"gate,omitempty"`
}

// JudgeSubsets compares targets with both references by any method. Subsets and references must
// have the same number of records; the order of the records decides the halves. The result does not
// depend on the number of processors: subset k draws from stream k of the seed.
func JudgeSubsets(m Method, t Targets, refs References, opt Options) (*SubsetVerdicts, error) {
	return judgeFromStream(streamTarget, m, t, refs, opt)
}

func judgeFromStream(stream int, m Method, t Targets, refs References, opt Options) (*SubsetVerdicts, error) {
	if _, err := validatePool(t.Pool, refs, opt); err != nil {
		return nil, err
	}
	if len(t.Subsets) == 0 {
		return nil, errors.New("sde: there are no subsets to judge")
	}
	if err := t.Pool.checkRows(t.Subsets, refs.In.Rows); err != nil {
		return nil, err
	}
	t.Pool.expect(t.Subsets)
	p, err := m.Prepare(t.Pool, refs, opt)
	if err != nil {
		return nil, err
	}
	if p == nil || p.Compare == nil {
		return nil, fmt.Errorf("sde: %s prepares nothing that compares, and returns no error", m.Name())
	}
	r := &SubsetVerdicts{Verdicts: make([]Verdict, len(t.Subsets)), Distances: make([]Distances, len(t.Subsets)),
		Disjoint: countRecords(t.Subsets) / refs.In.Rows, Gate: p.Gate}
	numbers := make([]int, len(t.Subsets))
	for k := range numbers {
		numbers[k] = k
	}
	task := progress.Begin(m.Name()+" on subsets", len(numbers))
	defer task.Done()
	forEach(numbers, 0, func(k int) {
		defer task.Add(1)
		r.Distances[k] = p.Compare(t.Subsets[k], opt.stream(stream+k))
		r.Verdicts[k] = r.Distances[k].Verdict()
	})
	return r, nil
}

// countRecords returns the number of different records in the subsets.
func countRecords(subsets [][]int) int {
	seen := map[int]bool{}
	for _, rows := range subsets {
		for _, r := range rows {
			seen[r] = true
		}
	}
	return len(seen)
}

// OTRResult is the result of the unlearning protocol on one model.
type OTRResult struct {
	// OTR is the share of subsets that algorithm 2 calls out of training, including ties, with
	// Wilson's interval over subsets. Higher is better; 0.5 is guessing.
	OTR stats.Estimate `json:"otr"`
	// Decided is the share among the subsets without a tie; nil if all are ties.
	Decided *stats.Estimate `json:"decided,omitempty"`
	// Ties is the share of ties.
	Ties     float64         `json:"ties"`
	Verdicts *SubsetVerdicts `json:"judged"`
}

// OTR is the paper's out-of-training rate (section 4.3, algorithm 3): the share of subsets of the
// forget set that are judged out of training. The references come from retained (In) and from test
// records (Out).
//
// The interval is for this one model's rate with these references. With other references, and
// between models, the rate varies far more: see SummariseModels. Differences from the paper:
// divergences that agree to 1e-9 are a tie (see Distances.Tied), the two other numbers, and the
// interval.
func OTR(m Method, forgotten Targets, refs References, opt Options) (*OTRResult, error) {
	j, err := JudgeSubsets(m, forgotten, refs, opt)
	if err != nil {
		return nil, err
	}
	t := j.Tally()
	f := &OTRResult{OTR: wilson(t.RateOut(), t.N(), opt.level()).WithNull(0.5, stats.HigherIsBetter), Ties: t.RateTies(), Verdicts: j}
	if n := t.In + t.Out; n > 0 {
		e := wilson(t.RateDecided(), n, opt.level()).WithNull(0.5, stats.HigherIsBetter)
		f.Decided = &e
	}
	return f, nil
}

// ModelSummary is the mean of one number over models that differ in their seed.
type ModelSummary struct {
	Mean stats.Estimate `json:"mean"` // Student's interval over models
	SD   float64        `json:"sd"`   // what the paper prints behind its plus-minus; 0 for one model
}

// SummariseModels summarises one number (an OTR, an F1) over models. The interval of a share is cut
// to [0, 1]. It refuses no values and values outside [0, 1].
func SummariseModels(shares []float64, level float64) (*ModelSummary, error) {
	for i, v := range shares {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("sde: the share of model %d is %v", i, v)
		}
	}
	if len(shares) == 0 {
		return nil, errors.New("sde: there are no models")
	}
	r := &ModelSummary{Mean: stats.MeanInterval(shares, cmp.Or(level, defaultLevel), stats.OverModels).ClampedTo(0, 1)}
	r.SD, _ = stats.SD(shares)
	return r, nil
}
