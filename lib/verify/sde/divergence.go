// Jensen-Shannon divergences of a target's draws from two references, and the verdict between them.

package sde

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Divergence names a way to compare the distribution of a target with that of a reference. All
// return a Jensen-Shannon divergence in nats: 0 for equal distributions, ln 2 for disjoint ones,
// smaller is nearer.
//
// The paper says only "JSD" (section 3.2). The default is our choice, and the others show how much
// depends on it.
type Divergence string

// The divergences.
const (
	// SharedBins takes histograms with equal-width bins over the pooled range of
	// target and both references, one grid for both comparisons. The default.
	SharedBins Divergence = "shared-bins"
	// PairBins bins target and reference over their own pooled range.
	PairBins Divergence = "pair-bins"
	// FreedmanDiaconis is SharedBins with bins as wide as 2 IQR N^(-1/3) of all
	// values together, from 1 to 10,000 of them.
	FreedmanDiaconis Divergence = "freedman-diaconis"
	// KernelDensity compares Gaussian kernel densities with Silverman's width.
	KernelDensity Divergence = "kde"
	// NormalDistributions compares normal distributions with the samples' means and standard
	// deviations.
	NormalDistributions Divergence = "normal"
	// RawValues reproduces a common mistake, so that it can be recognised: the T values themselves
	// are used as if they were T probabilities. The result depends on the order of the draws and
	// says next to nothing.
	RawValues Divergence = "raw-values"
)

var divergences = map[Divergence]func(c comparison) float64{
	SharedBins:          comparison.shared,
	PairBins:            comparison.pair,
	FreedmanDiaconis:    comparison.freedmanDiaconis,
	KernelDensity:       comparison.kde,
	NormalDistributions: comparison.normal,
	RawValues:           comparison.raw,
}

// Divergences returns the names, the default first.
func Divergences() []Divergence {
	return []Divergence{SharedBins, PairBins, FreedmanDiaconis, KernelDensity, NormalDistributions, RawValues}
}

func (d Divergence) check() error {
	if _, ok := divergences[cmp.Or(d, SharedBins)]; ok {
		return nil
	}
	var names []string
	for _, n := range Divergences() {
		names = append(names, string(n))
	}
	return fmt.Errorf("sde: unknown divergence %q; there are %s", d, strings.Join(names, ", "))
}

// Distances holds the distances of a target from the two references.
type Distances struct {
	In  float64 `json:"in"`
	Out float64 `json:"out"`
}

// Verdict says which reference a target set is closer to.
type Verdict string

// The verdicts. Algorithm 2 says "in" if the in-training reference is strictly closer and "out"
// otherwise, also for a tie. A Tally counts ties separately, so that both conventions are
// available.
const (
	In        Verdict = "in"        // nearer to the in-training reference
	Out       Verdict = "out"       // nearer to the out-of-training reference
	Undecided Verdict = "undecided" // equally far from both
)

// Tie is the relative difference up to which two distances count as equal. If distributions do not
// overlap at all, both divergences are ln 2 up to the order in which 50 terms were added; values
// from real records do not come that close by themselves.
const Tie = 1e-9

// Tied reports |In - Out| <= Tie max(In, Out): the target is equally far from both. The rule is
// relative, because the distances of other methods have the units of the activations; two zeros are
// equal.
func (d Distances) Tied() bool { return math.Abs(d.In-d.Out) <= Tie*max(d.In, d.Out) }

// Verdict returns the nearer reference, or Undecided for a tie.
func (d Distances) Verdict() Verdict {
	switch {
	case d.Tied():
		return Undecided
	case d.In < d.Out:
		return In
	}
	return Out
}

// Below these ranges distributions count as equal: relative to the largest value, where values differ by rounding alone,
// and where squares of deviations underflow. A range of 1e-15 may be all there is: values grow with the square of the
// spread over sigma^2, and kernel values minus one keep their digits where they are small.
const (
	roundingRange = 1e-12
	smallestRange = 1e-150
)

// noRange reports whether values in a range count as equal; largest is the largest of them in size.
func noRange(span, largest float64) bool { return span <= max(roundingRange*largest, smallestRange) }

// Compare returns the divergences of the draws of a target from those of both references, as the
// options say. It refuses empty samples, values that are not finite, and invalid options.
func Compare(target []float64, refs Draws, opt Options) (Distances, error) {
	if err := opt.check(opt.stream(streamTarget)); err != nil {
		return Distances{}, err
	}
	for _, s := range []struct {
		name   string
		values []float64
	}{{"target", target}, {"in-training", refs.In}, {"out-of-training", refs.Out}} {
		if _, err := stats.Mean(s.values); err != nil {
			return Distances{}, fmt.Errorf("sde: %s values: %w", s.name, err)
		}
		if opt.Divergence == RawValues && len(s.values) != len(target) {
			return Distances{}, fmt.Errorf("sde: %d %s values and %d of the target", len(s.values), s.name, len(target))
		}
	}
	return compare(target, refs, opt), nil
}

func compare(target []float64, refs Draws, opt Options) Distances {
	diverge := divergences[cmp.Or(opt.Divergence, SharedBins)]
	all := slices.Concat(target, refs.In, refs.Out)
	return Distances{
		In:  diverge(comparison{target, refs.In, all, opt.bins()}),
		Out: diverge(comparison{target, refs.Out, all, opt.bins()}),
	}
}

// comparison is one target and one reference; all includes the values of the other reference.
type comparison struct {
	target, reference, all []float64
	bins                   int
}

func (c comparison) shared() float64 { return binned(c.target, c.reference, c.all, c.bins) }

func (c comparison) pair() float64 {
	return binned(c.target, c.reference, slices.Concat(c.target, c.reference), c.bins)
}

func (c comparison) freedmanDiaconis() float64 {
	const most = 10_000
	q1, _ := stats.Quantile(c.all, 0.25)
	q3, _ := stats.Quantile(c.all, 0.75)
	width := 2 * (q3 - q1) / math.Cbrt(float64(len(c.all)))
	if width == 0 {
		return binned(c.target, c.reference, c.all, 1)
	}
	bins := math.Ceil((slices.Max(c.all) - slices.Min(c.all)) / width)
	return binned(c.target, c.reference, c.all, int(min(most, max(1, bins))))
}

func (c comparison) raw() float64 {
	p, q := shares(c.target), shares(c.reference)
	if p == nil || q == nil {
		return 0
	}
	return jensenShannon(p, q)
}

// shares scales values to a sum of 1; rounding below 0 counts as 0.
func shares(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = max(0, v)
	}
	total := sum(out)
	if total == 0 {
		return nil
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

func binned(x, y, all []float64, bins int) float64 {
	low, high := slices.Min(all), slices.Max(all)
	if noRange(high-low, max(math.Abs(low), math.Abs(high))) {
		return 0
	}
	return jensenShannon(histogram(x, low, high, bins), histogram(y, low, high, bins))
}

// histogram returns the share of values per bin. A bin includes its lower edge, the last one its
// upper edge too. A value that the division puts one bin off is corrected by the edges themselves.
func histogram(x []float64, low, high float64, bins int) []float64 {
	out := make([]float64, bins)
	width := (high - low) / float64(bins)
	edge := func(k int) float64 { return low + float64(float64(k)*width) }
	for _, v := range x {
		k := min(bins-1, int((v-low)/(high-low)*float64(bins)))
		switch {
		case k > 0 && v < edge(k):
			k--
		case k < bins-1 && v >= edge(k+1):
			k++
		}
		out[k]++
	}
	for k := range out {
		out[k] /= float64(len(x))
	}
	return out
}

// jensenShannon is KL(p || m)/2 + KL(q || m)/2 with m = (p + q)/2, for
// probabilities.
func jensenShannon(p, q []float64) float64 {
	terms := make([]float64, len(p))
	for i := range p {
		m := (p[i] + q[i]) / 2
		terms[i] = (relative(p[i], m) + relative(q[i], m)) / 2
	}
	return min(math.Ln2, max(0, sum(terms)))
}

// relative is p log(p/m), 0 at p = 0.
func relative(p, m float64) float64 {
	if p == 0 {
		return 0
	}
	return p * math.Log(p/m)
}
