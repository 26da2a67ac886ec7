// Package nprand reproduces NumPy's legacy generator, numpy.random.RandomState, bit for bit, so
// that splits and subsamples of published Python programs can be drawn again.
//
// The stream is MT19937 (Matsumoto and Nishimura, 1998) seeded with init_genrand, as
// RandomState(seed) does for an integer seed. NumPy has frozen this generator: its streams do not
// change between releases.
package nprand

import "fmt"

const (
	stateLen = 624
	shiftLen = 397

	upperMask = 0x80000000
	lowerMask = 0x7fffffff
	twist     = 0x9908b0df
)

// State is one stream, numpy.random.RandomState(seed). It is not safe for use
// by several goroutines. Use New: the zero State is not a NumPy stream.
type State struct {
	key [stateLen]uint32
	pos int
}

// New returns the stream of numpy.random.RandomState(seed).
func New(seed uint32) *State {
	s := &State{pos: stateLen}
	s.key[0] = seed
	for i := uint32(1); i < stateLen; i++ {
		prev := s.key[i-1]
		s.key[i] = 1812433253*(prev^prev>>30) + i
	}
	return s
}

// Uint32 returns the next 32 random bits.
func (s *State) Uint32() uint32 {
	if s.pos >= stateLen {
		s.refill()
	}
	y := s.key[s.pos]
	s.pos++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (s *State) refill() {
	for i := range stateLen {
		y := s.key[i]&upperMask | s.key[(i+1)%stateLen]&lowerMask
		next := s.key[(i+shiftLen)%stateLen] ^ y>>1
		if y&1 == 1 {
			next ^= twist
		}
		s.key[i] = next
	}
	s.pos = 0
}

// Float64 returns a number in [0, 1) with 53 random bits, RandomState.random_sample().
func (s *State) Float64() float64 {
	high, low := s.Uint32()>>5, s.Uint32()>>6
	return (float64(high)*(1<<26) + float64(low)) / (1 << 53)
}

// interval returns a uniform integer in [0, limit] by masked rejection. A limit of zero draws
// nothing, which matters for the position of the stream.
func (s *State) interval(limit uint64) uint64 {
	if limit == 0 {
		return 0
	}
	mask := limit
	for shift := 1; shift < 64; shift *= 2 {
		mask |= mask >> shift
	}
	for {
		v := s.bits(limit) & mask
		if v <= limit {
			return v
		}
	}
}

// bits draws 32 bits if they are enough, else 64, the first word high.
func (s *State) bits(limit uint64) uint64 {
	if limit <= 0xffffffff {
		return uint64(s.Uint32())
	}
	high := uint64(s.Uint32())
	return high<<32 | uint64(s.Uint32())
}

// Shuffle reorders v in place, RandomState.shuffle.
func (s *State) Shuffle(v []int) {
	for i := len(v) - 1; i > 0; i-- {
		j := int(s.interval(uint64(i)))
		v[i], v[j] = v[j], v[i]
	}
}

// Permutation returns 0..n-1 in random order, RandomState.permutation(n).
// It panics if n is negative.
func (s *State) Permutation(n int) []int {
	if n < 0 {
		panic(fmt.Sprintf("nprand: permutation of %d elements", n))
	}
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	s.Shuffle(v)
	return v
}

// Choice returns k different numbers of 0..n-1 in random order,
// RandomState.choice(n, k, replace=False): the first k of a whole permutation.
// It panics unless 0 <= k <= n.
func (s *State) Choice(n, k int) []int {
	if k < 0 || k > n {
		panic(fmt.Sprintf("nprand: cannot choose %d of %d without replacement", k, n))
	}
	return s.Permutation(n)[:k:k]
}

// Integers returns k numbers of 0..n-1, drawn with replacement:
// RandomState.randint(0, n, size=k), and choice(n, k) as well. It panics unless n
// is positive and k is not negative.
func (s *State) Integers(n, k int) []int {
	if n < 1 || k < 0 {
		panic(fmt.Sprintf("nprand: cannot draw %d times from %d", k, n))
	}
	v := make([]int, k)
	for i := range v {
		v[i] = int(s.interval(uint64(n - 1)))
	}
	return v
}
