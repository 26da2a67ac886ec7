package privacy

// Masking of features, the scheme of "BlindU".

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
)

// Masking keeps some of a record's features and replaces the others by a fill value ("BlindU",
// section V-C). Of n features
//
//	k = floor(Rate n)
//
// are drawn, with or without replacement; features that were never drawn are masked. The zero
// value draws 60 % without replacement and fills with 0, which is black, or the mean of a
// standardised column.
//
// The mask of a record depends on the seed and the record's number (and, if weighted, on its
// values) alone. It does not depend on the caller, on other records or on their order.
//
// Differences from paper and program: (1) the paper has both schemes and no default; its text
// describes the one without replacement first. (2) The program's rate is 0.601: 471 of 784
// pixels where 0.6 gives 470, 615 of 1,024 for 614; 8 of Adult's 14 columns either way. (3) The
// program draws the pixels of images with weights that depend on their values (Exponential), for
// which the claims do not hold and are not offered; it draws Adult's columns uniformly. (4) The
// program sets a masked ninth column of Adult, sex, to -2, a value that no record has otherwise;
// here all masked columns have the same fill. (5) The program crops CIFAR-10 anew for every
// masked copy, so that it does not mask the images that it trains on; here the given records are
// masked.
type Masking struct {
	Rate        float64   `json:"rate,omitempty" default:"0.6"` // share of the features that are drawn
	Replacement bool      `json:"replacement,omitempty"`        // whether a feature can be drawn again
	Weighting   Weighting `json:"weighting,omitempty"`
	Fill        float32   `json:"fill,omitempty"` // 0.5 is grey
	// Channels is the number of channels that share a draw (0: 1). A row holds n values of each
	// channel, channel by channel; a feature is one position in all of them.
	Channels int `json:"channels,omitempty" default:"1"`
}

// Weighting says how likely each feature is drawn.
type Weighting string

const (
	// Uniform draws every feature with the same probability.
	Uniform Weighting = ""
	// Exponential is the program's weighting of images: the probability of a feature is
	// proportional to exp(v/2) for its value v (the mean over channels). A white pixel is 1.65
	// times as likely as a black one. The choice of features then reveals something about the
	// record.
	Exponential Weighting = "exponential"
)

// Masks says which features of which record are unmasked.
type Masks struct {
	Records, Features int
	words             []uint64
}

// Clear reports whether a feature of a record is unmasked.
func (m Masks) Clear(record, feature int) bool {
	at := record*m.Features + feature
	return m.words[at/64]>>(at%64)&1 == 1
}

func (m Masks) set(record, feature int) {
	at := record*m.Features + feature
	m.words[at/64] |= 1 << (at % 64)
}

// NumDraws is k, the number of draws from n features. A small tolerance keeps 0.57 of 100 at 57,
// which floating point gives as 56.99999999999999.
func (m Masking) NumDraws(n int) (int, error) {
	m = defaults.Fill(m)
	if err := m.check(); err != nil {
		return 0, err
	}
	k := int(math.Floor(float64(m.Rate*float64(n)) + 1e-9))
	if k < 1 {
		return 0, fmt.Errorf("privacy: masking at the rate %v draws none of %d features", m.Rate, n)
	}
	return k, nil
}

func (m Masking) check() error {
	switch {
	case !(m.Rate > 0 && m.Rate <= 1):
		return fmt.Errorf("privacy: the rate of masking, %v, is not inside (0, 1]", m.Rate)
	case m.Channels < 1:
		return fmt.Errorf("privacy: masking of %d channels", m.Channels)
	case m.Weighting != Uniform && m.Weighting != Exponential:
		return fmt.Errorf("privacy: masking has no weighting %q, only %q and %q", m.Weighting, Uniform, Exponential)
	case m.Fill-m.Fill != 0:
		return fmt.Errorf("privacy: the fill value is %v, want a finite number", m.Fill)
	}
	return nil
}

// Mask returns the masked records and their masks. Row i is record number records[i];
// draws(number) returns that record's random numbers from their beginning:
//
//	func(record int) *rand.Rand { return seed.Stream(engine.StreamMask, uint64(record)) }
//
// x is not changed.
func (m Masking) Mask(x array.Matrix[float32], records []int, draws func(record int) *rand.Rand) (array.Matrix[float32], Masks, error) {
	m = defaults.Fill(m)
	var none Masks
	if err := m.check(); err != nil {
		return x, none, err
	}
	if err := x.Check("masking"); err != nil {
		return x, none, fmt.Errorf("privacy: %w", err)
	}
	if len(records) != x.Rows {
		return x, none, fmt.Errorf("privacy: masking %d rows with the numbers of %d records", x.Rows, len(records))
	}
	if x.Cols%m.Channels != 0 {
		return x, none, fmt.Errorf("privacy: masking: %d columns are not a multiple of %d channels", x.Cols, m.Channels)
	}
	n := x.Cols / m.Channels
	k, err := m.NumDraws(n)
	if err != nil {
		return x, none, err
	}
	out := array.New[float32](x.Rows, x.Cols)
	masks := Masks{x.Rows, n, make([]uint64, (x.Rows*n+63)/64)}
	for i := range x.Rows {
		for _, j := range m.draw(m.logWeights(x.Row(i)), k, draws(records[i])) {
			masks.set(i, j)
		}
		m.fillMasked(out.Row(i), x.Row(i), func(j int) bool { return masks.Clear(i, j) })
	}
	return out, masks, nil
}

// fillMasked copies the unmasked features and fills the others.
func (m Masking) fillMasked(to, from []float32, clear func(feature int) bool) {
	n := len(from) / m.Channels
	for c, v := range from {
		to[c] = m.Fill
		if clear(c % n) {
			to[c] = v
		}
	}
}

// logWeights are the logarithms of the weights of a row's features, the greatest 0.
func (m Masking) logWeights(row []float32) []float64 {
	n := len(row) / m.Channels
	out := make([]float64, n)
	if m.Weighting == Exponential {
		for c, v := range row {
			out[c%n] += float64(v) / float64(2*m.Channels)
		}
		shift := slices.Max(out) // against overflow
		for j := range out {
			out[j] -= shift
		}
	}
	return out
}

// draw returns k features; with replacement some can repeat.
func (m Masking) draw(logWeights []float64, k int, rng *rand.Rand) []int {
	if m.Replacement {
		return drawWithReplacement(logWeights, k, rng)
	}
	return drawWithoutReplacement(logWeights, k, rng)
}

// drawWithReplacement draws k features with replacement.
func drawWithReplacement(logWeights []float64, k int, rng *rand.Rand) []int {
	sums, sum := make([]float64, len(logWeights)), 0.0
	for j, w := range logWeights {
		sum += math.Exp(w)
		sums[j] = sum
	}
	out := make([]int, k)
	for i := range out {
		at := rng.Float64() * sum
		out[i] = min(sort.Search(len(sums), func(j int) bool { return sums[j] > at }), len(sums)-1)
	}
	return out
}

// drawWithoutReplacement draws k features without replacement. Exponential times with the
// weights as rates come in this order (Efraimidis and Spirakis 2006). Where a weight underflows
// and the time is infinite, the logarithms of the times are compared.
func drawWithoutReplacement(logWeights []float64, k int, rng *rand.Rand) []int {
	times, logs, order := make([]float64, len(logWeights)), make([]float64, len(logWeights)), make([]int, len(logWeights))
	for j, w := range logWeights {
		wait := rng.ExpFloat64()
		times[j], logs[j], order[j] = wait/math.Exp(w), math.Log(wait)-w, j
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(logs[a], logs[b])) })
	return order[:k]
}
