// Exposure: how far single forgotten records stand out from held-out ones, with
// ROC curves and rates.

package judge

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// level is the coverage of every interval in a report.
const level = 0.95

// FalsePositiveRates are the shares of held-out records above the threshold at which a report
// states how many forgotten records are recognised.
var FalsePositiveRates = []float64{0.001, 0.01, 0.05}

// maxExposed bounds the records that an exposure keeps.
const maxExposed = 100

// Exposure says how far a model's forgotten records stand out, record by record.
type Exposure struct {
	Lens  Lens
	Model string
	Role  Role
	// Reversed says that low scores count as exposed: the verdict is that the records were pushed
	// away, and an attacker who knows it reads the scores from the other side.
	Reversed bool
	// Rates are true-positive rates at FalsePositiveRates. A value is NaN where there are too few
	// held-out records to measure the rate.
	Rates []stats.Estimate
	// JointLow holds lower bounds of the rates that hold jointly for all rates of all lenses and
	// unlearned models of a report (Bonferroni).
	JointLow []float64
	// Counts are exact counts of forgotten records at FalsePositiveRates: those that stand out more than all
	// held-out records but that share. nil where records are of groups, which the count takes as independent.
	Counts  []Count
	Curve   ROC
	Records []Exposed // the most exposed, at most 100
	Forget  int       // records that were scored
	HeldOut int
	// EffectiveForget and EffectiveHeldOut are the numbers of independent records that these are
	// worth in the worst case, in which all records of a group are alike (stats.Clusters.Effective).
	EffectiveForget, EffectiveHeldOut float64
	signed                            audit.Scores // higher is more exposed
}

// Count is how many forgotten records stand out more than all but a few held-out ones.
type Count struct {
	stats.TopCount
	// explained says that retrained models show as many, or one of them does.
	explained bool
}

// ROC is a receiver operating characteristic, from (0, 0) to (1, 1).
type ROC struct{ FPR, TPR []float64 }

// Exposed is one forgotten record compared with the held-out records.
type Exposed struct {
	Row   int
	Score float64 // as the lens gives it
	Rank  int     // among the forgotten records, 1 the most exposed; equal scores share one
	// AsHigh is the number of held-out records that score at least as high.
	AsHigh int
	// Z is the distance of the score above the mean of the held-out scores, in their standard
	// deviations; NaN where these do not differ.
	Z float64
}

// newExposure measures how far forgotten records stand out from held-out ones. comparisons is the
// number of bounds that hold jointly.
func newExposure(e *Evidence, j Lens, m *Model, s *audit.Scores, reversed bool, questions int) (*Exposure, error) {
	out := &Exposure{Lens: j, Model: m.Name, Role: m.Role, Reversed: reversed, Forget: len(s.Forget.Rows), HeldOut: len(s.HeldOut.Rows)}
	sign := 1.0
	if reversed {
		sign = -1
	}
	forget, heldOut := multiply(s.Forget.Values, sign), multiply(s.HeldOut.Values, sign)
	out.signed = audit.Scores{Forget: audit.Scored{Rows: s.Forget.Rows, Values: forget}, HeldOut: audit.Scored{Rows: s.HeldOut.Rows, Values: heldOut}}
	ours, theirs := e.Clusters(s.Forget.Rows), e.Clusters(s.HeldOut.Rows)
	out.EffectiveForget, out.EffectiveHeldOut = ours.Effective(len(forget)), theirs.Effective(len(heldOut))
	interval := func(rate, level float64) (stats.Estimate, error) {
		return stats.ClusterTPRInterval(forget, heldOut, ours, theirs, rate, level, e.Units())
	}
	for _, rate := range FalsePositiveRates {
		share, err := interval(rate, level)
		if err != nil {
			return nil, err
		}
		sure, err := interval(rate, 1-(1-level)/float64(questions))
		if err != nil {
			return nil, err
		}
		out.Rates, out.JointLow = append(out.Rates, share), append(out.JointLow, sure.Low)
		if !ours.Trivial(theirs) {
			continue
		}
		count, err := countTop(forget, heldOut, rate)
		if err != nil {
			return nil, err
		}
		out.Counts = append(out.Counts, count)
	}
	fpr, tpr, _, err := stats.ROC(forget, heldOut)
	if err != nil {
		return nil, err
	}
	out.Curve = ROC{fpr, tpr}.thinned()
	out.Records = rankExposed(s.Forget.Rows, forget, heldOut)
	for i := range out.Records {
		out.Records[i].Score *= sign
	}
	return out, nil
}

// countTop counts the forgotten records above all held-out ones but a share of them.
func countTop(forget, heldOut []float64, share float64) (Count, error) {
	top, err := stats.CountTop(forget, heldOut, spared(share, len(heldOut)))
	return Count{TopCount: top}, err
}

// spared is a share of n records; floating point may put it a little below a whole number.
func spared(share float64, n int) int { return int(share*float64(n) + 1e-9) }

// explain says of the counts of an unlearned model that are more than chance whether its retrained models explain them.
func (r *Report) explain(x *Exposure) error {
	var retrained []audit.Scores
	for _, of := range r.exposuresOf(x.Lens.Name()) {
		if of.Role == Retrained && of.Reversed == x.Reversed && of.Counts != nil {
			retrained = append(retrained, of.signed)
		}
	}
	for i := range x.Counts {
		c := &x.Counts[i]
		if len(retrained) == 0 || c.P > r.jointLevel() {
			continue
		}
		yes, err := explained(FalsePositiveRates[i], r.jointLevel(), x.signed, retrained)
		if c.explained = yes || err != nil; err != nil {
			return err
		}
	}
	return nil
}

// explained reports whether a model that is like the retrained ones, or like one of them alone, would count as many
// forgotten records above all held-out ones but a share of them: one of them may have the same records for a reason of
// its own. Forgotten records may be easier than held-out ones by themselves. All that it supposes is that an exact
// retraining could have been any of the models: which of a record's scores is whose is chance, of each record by itself,
// held-out ones too (stats.TopSwaps).
func explained(share, limit float64, ours audit.Scores, retrained []audit.Scores) (bool, error) {
	models := append([]audit.Scores{ours}, retrained...)
	pos := inAll(models, func(s audit.Scores) audit.Scored { return s.Forget })
	neg := inAll(models, func(s audit.Scores) audit.Scored { return s.HeldOut })
	asMany := func(limit float64, models ...int) (bool, error) {
		rng := rand.New(rand.NewPCG(swapSeed, uint64(len(models))))
		p, err := stats.TopSwaps(chosen(pos, models), chosen(neg, models), spared(share, len(neg[0])), limit, rng)
		return p > limit, err
	}
	all := make([]int, len(models))
	for j := range all {
		all[j] = j
	}
	if yes, err := asMany(limit, all...); yes || err != nil || len(retrained) == 1 {
		return yes, err
	}
	for _, j := range all[1:] {
		if yes, err := asMany(1-level, 0, j); yes || err != nil {
			return yes, err
		}
	}
	return false, nil
}

// swapSeed is fixed, so that an audit says the same every time.
const swapSeed = 1

// inAll returns the scores of each model on the records that all models score, in one order.
func inAll(models []audit.Scores, set func(audit.Scores) audit.Scored) [][]float64 {
	in := map[int]int{}
	for _, m := range models {
		for _, row := range set(m).Rows {
			in[row]++
		}
	}
	order := slices.DeleteFunc(slices.Clone(set(models[0]).Rows), func(row int) bool { return in[row] < len(models) })
	out := make([][]float64, len(models))
	for j, m := range models {
		of := map[int]float64{}
		for k, row := range set(m).Rows {
			of[row] = set(m).Values[k]
		}
		for _, row := range order {
			out[j] = append(out[j], of[row])
		}
	}
	return out
}

func chosen[T any](from []T, which []int) (out []T) {
	for _, j := range which {
		out = append(out, from[j])
	}
	return out
}

func multiply(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = by * v
	}
	return out
}

// rankExposed returns the records in the order of their scores, highest first.
func rankExposed(rows []int, scores, heldOut []float64) []Exposed {
	below := slices.Sorted(slices.Values(heldOut))
	mean, err1 := stats.Mean(heldOut)
	sd, err2 := stats.SD(heldOut)
	far := func(score float64) float64 {
		if z := (score - mean) / sd; err1 == nil && err2 == nil && sd > 0 && !math.IsInf(z, 0) {
			return z
		}
		return math.NaN()
	}
	order := make([]int, len(rows))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(rows[a], rows[b])) })
	var out []Exposed
	for place, k := range order[:min(len(order), maxExposed)] {
		x := Exposed{Row: rows[k], Score: scores[k], Rank: place + 1, Z: far(scores[k])}
		if place > 0 && out[place-1].Score == x.Score {
			x.Rank = out[place-1].Rank
		}
		smaller, _ := slices.BinarySearch(below, x.Score)
		x.AsHigh = len(below) - smaller
		out = append(out, x)
	}
	return out
}

// minLogStep is the distance, in the logarithm of a rate, below which two points of a curve are
// drawn as one. A figure shows three to six powers of ten.
const minLogStep = 0.02

// thinned leaves out points that cannot be distinguished on log axes. The remaining points are
// points of the curve, among them the first and the last.
func (r ROC) thinned() ROC {
	log := func(v float64) float64 { return math.Log10(max(v, 1e-7)) }
	var out ROC
	for i := range r.FPR {
		if n := len(out.FPR); n > 0 && i < len(r.FPR)-1 &&
			log(r.FPR[i])-log(out.FPR[n-1]) < minLogStep && log(r.TPR[i])-log(out.TPR[n-1]) < minLogStep {
			continue
		}
		out.FPR, out.TPR = append(out.FPR, r.FPR[i]), append(out.TPR, r.TPR[i])
	}
	return out
}

// rateName returns "0.1 %" for 0.001.
func rateName(rate float64) string { return fmt.Sprintf("%g %%", 100*rate) }
