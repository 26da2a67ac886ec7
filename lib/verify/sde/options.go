// The options, the defaults of the paper, and the named streams of random numbers.

package sde

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

const (
	// PaperPermutations is T, the draws per set (section 3.1).
	PaperPermutations = 200
	// DefaultBins is ours: the paper does not say how it bins.
	DefaultBins = 50
	// PaperAlpha is the level of the Mann-Whitney gate (section 3.1).
	PaperAlpha = 0.01

	defaultLevel = 0.95
)

// Options are the options of all functions here. The zero value is the paper's.
type Options struct {
	// Bandwidth of the Gaussian kernel; the zero value is sqrt(columns).
	Bandwidth Bandwidth
	// Permutations is the number of draws per set; 0 is 200.
	Permutations int
	// FreshSplits draws a new random split for every value instead of a new order of one half.
	FreshSplits bool
	// Divergence names how two distributions are compared; "" is SharedBins.
	Divergence Divergence
	// Bins is the number of bins of a histogram; 0 is 50.
	Bins int
	// Alpha is the level of the gate; 0 is 0.01.
	Alpha float64
	// Seed is the seed of all random numbers, which come from named streams.
	Seed uint64
	// Level is the coverage of intervals; 0 is 0.95.
	Level float64
}

// The streams of random numbers below a seed. Targets are numbered from
// streamTarget on.
const (
	streamIn = iota + 1
	streamOut
	streamOrder  // and the two after it
	streamTarget = 1 << 16
)

func (o Options) stream(n int) *rand.Rand { return rand.New(rand.NewPCG(o.Seed, uint64(n))) }

func (o Options) permutations() int { return cmp.Or(o.Permutations, PaperPermutations) }
func (o Options) bins() int         { return cmp.Or(o.Bins, DefaultBins) }
func (o Options) alpha() float64    { return cmp.Or(o.Alpha, PaperAlpha) }
func (o Options) level() float64    { return cmp.Or(o.Level, defaultLevel) }

// check refuses invalid options and a missing generator.
func (o Options) check(rng *rand.Rand) error {
	if rng == nil {
		return fmt.Errorf("sde: the generator of random numbers is nil")
	}
	switch {
	case o.permutations() < 2:
		return fmt.Errorf("sde: %d permutations, at least 2 are needed", o.Permutations)
	case o.bins() < 1:
		return fmt.Errorf("sde: %d bins, at least 1 is needed", o.Bins)
	case !inUnitInterval(o.alpha()):
		return fmt.Errorf("sde: alpha %v is not inside (0, 1)", o.Alpha)
	case !inUnitInterval(o.level()):
		return fmt.Errorf("sde: level %v is not inside (0, 1)", o.Level)
	}
	return o.Divergence.check()
}

func inUnitInterval(v float64) bool { return v > 0 && v < 1 }

// RandomOrder returns a random order of the rows of set number k (0 target, 1 in-training, 2
// out-of-training) from a seed, for matrices whose rows are not in random order yet.
func RandomOrder(rows int, seed uint64, k int) []int {
	return rand.New(rand.NewPCG(seed, uint64(streamOrder+k))).Perm(rows)
}
