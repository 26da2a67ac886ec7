// The spread-matched control: sets are scaled to equal spread before they are compared.

package sde

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
)

// SpreadMatched is a control of ours: SDE on sets with equal spread. Every set that is compared is
// multiplied by its own factor c, under one fixed sigma, such that
//
//	sqrt(tr(Kc) tr(Lc))/(n-1) = level
//
// for the kernel matrices of its two halves. The level is the same for the target and both
// references: the smaller of the references' own. By E[H] = tr(Kc) tr(Lc)/(n-1)^3 the split-half
// statistic then has the same mean for all sets. SDE can still use the shape of the distributions,
// but not the spread. If F1 falls to chance, SDE had measured spread.
//
// The left side grows with c, from 0 to the share of pairs that differ, so that there is one c or
// none. A target with too many equal rows has none; it is as far from both references as possible,
// a tie.
//
// It is not one of Methods, whose suite plants a difference in spread.
type SpreadMatched struct{}

var _ Method = SpreadMatched{}

// Name implements Method.
func (SpreadMatched) Name() string { return "spread-matched" }

// About implements Method.
func (SpreadMatched) About() string {
	return "SDE on sets that are scaled to equal spread"
}

// Prepare implements Method.
func (SpreadMatched) Prepare(pool *Pool, refs References, opt Options) (*Prepared, error) {
	sigma, err := validatePool(pool, refs, opt)
	if err != nil {
		return nil, err
	}
	level := min(halvesOf(refs.In, sigma).spread(), halvesOf(refs.Out, sigma).spread())
	in, out := matchedDistribution(refs.In, level, sigma, opt, opt.stream(streamIn)), matchedDistribution(refs.Out, level, sigma, opt, opt.stream(streamOut))
	if in == nil || out == nil {
		return nil, errors.New("sde: all rows of a half of a reference are equal; no factor gives it the other reference's spread")
	}
	draws := Draws{In: in.Values, Out: out.Values}
	gate, err := NewGate(draws, opt.alpha())
	if err != nil {
		return nil, err
	}
	return &Prepared{Gate: &gate, Compare: func(rows []int, rng *rand.Rand) Distances {
		some := pool.cloud.m.Gather(rows)
		t := matchedDistribution(&some, level, sigma, opt, rng)
		if t == nil {
			return Distances{In: math.Ln2, Out: math.Ln2}
		}
		return compare(t.Values, draws, opt)
	}}, nil
}

// matchedDistribution returns the distribution of a set after scaling to a spread, or nil if no
// factor gives that spread.
func matchedDistribution(m *Matrix, level, sigma float64, opt Options, rng *rand.Rand) *Distribution {
	c := halvesOf(m, sigma).factor(level)
	if c == 0 {
		return nil
	}
	scaled := array.New[float64](m.Rows, m.Cols)
	for i, v := range m.Data {
		scaled.Data[i] = c * v
	}
	return splitHalf(newCloud(&scaled).halfKernels(sigma, opt.FreshSplits, 1), sigma, opt, rng, 1)
}

// halves holds |x - y|^2/(2 sigma^2) of all pairs within each half of a set.
type halves [2][]float64

func halvesOf(m *Matrix, sigma float64) (h halves) {
	n := m.Rows / 2
	for k := range h {
		part := Matrix{Rows: n, Cols: m.Cols, Data: m.Data[k*n*m.Cols : (k+1)*n*m.Cols]}
		d := newCloud(&part).distances(1)
		for i := range n {
			for _, v := range d.Row(i)[:i] {
				h[k] = append(h[k], v/(2*sigma*sigma))
			}
		}
	}
	return h
}

// spread returns sqrt(tr(Kc) tr(Lc))/(n-1) of the unscaled set.
func (h halves) spread() float64 {
	s, _ := h.spreadAt(1)
	return s
}

// spreadAt returns the spread of the set times c, and d log(spread)/d log(c).
func (h halves) spreadAt(c float64) (spread, slope float64) {
	spread = 1
	for _, half := range h {
		total, rise := 0.0, 0.0
		for _, a := range half {
			x := float64(c * c * a)
			e := math.Expm1(-x)
			total -= e
			rise += float64(2 * x * (1 + e))
		}
		spread *= total / float64(len(half))
		slope += rise / total / 2
	}
	return math.Sqrt(spread), slope
}

// factor returns the c with spreadAt(c) = level, or 0 if there is none, by Newton's method in the
// logarithms between known bounds.
func (h halves) factor(level float64) float64 {
	if !(level > 0) || h.maxSpread() <= level {
		return 0
	}
	c, low, high := 1.0, 0.0, math.Inf(1)
	for range 200 {
		s, slope := h.spreadAt(c)
		if s < level {
			low = c
		} else {
			high = c
		}
		next := c * math.Pow(level/s, 1/slope)
		if !(next > low && next < high) && next != c {
			next = min((low+high)/2, 2*c)
		}
		if math.Abs(next-c) <= 1e-13*c {
			return next
		}
		c = next
	}
	return c
}

// maxSpread returns the supremum of the spread over all factors: the share of pairs that differ.
func (h halves) maxSpread() float64 {
	out := 1.0
	for _, half := range h {
		n := 0
		for _, a := range half {
			if a > 0 {
				n++
			}
		}
		out *= float64(n) / float64(len(half))
	}
	return math.Sqrt(out)
}
