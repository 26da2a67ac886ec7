package nprand

import (
	"math"
	"slices"
	"testing"
)

// golden holds streams of numpy.random.RandomState from NumPy 2.4.6: four times
// randint(0, 2**32, dtype=uint32), three times random_sample, permutation(10)
// and choice(1000, 6, replace=False), each from a fresh state.
var golden = []struct {
	seed        uint32
	words       []uint32
	floats      []float64
	permutation []int
	choice      []int
}{
	{0, []uint32{2357136044, 2546248239, 3071714933, 3626093760},
		[]float64{0.5488135039273248, 0.7151893663724195, 0.6027633760716439},
		[]int{2, 8, 4, 9, 1, 6, 7, 3, 0, 5}, []int{993, 859, 298, 553, 672, 971}},
	{1, []uint32{1791095845, 4282876139, 3093770124, 4005303368},
		[]float64{0.417022004702574, 0.7203244934421581, 0.00011437481734488664},
		[]int{2, 9, 6, 4, 0, 3, 1, 7, 8, 5}, []int{507, 818, 452, 368, 242, 929}},
	{42, []uint32{1608637542, 3421126067, 4083286876, 787846414},
		[]float64{0.3745401188473625, 0.9507143064099162, 0.7319939418114051},
		[]int{8, 1, 5, 0, 7, 2, 9, 4, 3, 6}, []int{521, 737, 740, 660, 411, 678}},
	{999, []uint32{3450697152, 648491356, 2265690981, 4277223905},
		[]float64{0.8034280400796879, 0.5275222956826447, 0.11911146502821202},
		[]int{6, 2, 8, 4, 3, 7, 9, 1, 5, 0}, []int{842, 68, 308, 881, 350, 387}},
	{math.MaxUint32, []uint32{419326371, 479346978, 3918654476, 2416749639},
		[]float64{0.0976320289940138, 0.9123828453026218, 0.78903530185164},
		[]int{6, 9, 5, 1, 8, 0, 7, 4, 2, 3}, []int{94, 405, 819, 632, 217, 169}},
}

func TestStreamsAreNumPys(t *testing.T) {
	for _, g := range golden {
		s := New(g.seed)
		for i, want := range g.words {
			if got := s.Uint32(); got != want {
				t.Errorf("seed %d, word %d: %d, NumPy has %d", g.seed, i, got, want)
			}
		}
		s = New(g.seed)
		for i, want := range g.floats {
			if got := s.Float64(); got != want {
				t.Errorf("seed %d, number %d: %v, NumPy has %v", g.seed, i, got, want)
			}
		}
		if got := New(g.seed).Permutation(10); !slices.Equal(got, g.permutation) {
			t.Errorf("seed %d: permutation %v, NumPy has %v", g.seed, got, g.permutation)
		}
		if got := New(g.seed).Choice(1000, 6); !slices.Equal(got, g.choice) {
			t.Errorf("seed %d: choice %v, NumPy has %v", g.seed, got, g.choice)
		}
	}
}

func TestTwoThousandWordsPassSeveralRefills(t *testing.T) {
	s, sum := New(3), uint64(0)
	for range 2000 {
		sum = sum*31 + uint64(s.Uint32())
	}
	if want := uint64(1139156236261941425); sum != want { // NumPy 2.4.6, the same polynomial modulo 2^64
		t.Errorf("polynomial of 2000 words is %d, NumPy has %d", sum, want)
	}
}

func TestMixedDrawsKeepTheStreamInStep(t *testing.T) {
	s := New(7) // NumPy 2.4.6, RandomState(7), the same calls
	a, b := s.Permutation(1000), s.Permutation(1000)
	x, c := s.Float64(), s.Choice(100000, 5)
	if want := []int{778, 334, 271, 802, 216}; !slices.Equal(a[:5], want) {
		t.Errorf("first permutation starts %v, want %v", a[:5], want)
	}
	if want := []int{804, 598, 665, 894, 543}; !slices.Equal(b[995:], want) {
		t.Errorf("second permutation ends %v, want %v", b[995:], want)
	}
	if want := 0.046626117131807754; x != want {
		t.Errorf("number %v, want %v", x, want)
	}
	if want := []int{99176, 95015, 73428, 50784, 64663}; !slices.Equal(c, want) {
		t.Errorf("choice %v, want %v", c, want)
	}
}

func TestShufflingOneElementDrawsNothing(t *testing.T) {
	s := New(5) // NumPy 2.4.6: permutation(1), then permutation(5)
	s.Permutation(1)
	s.Permutation(0)
	if got, want := s.Permutation(5), []int{4, 0, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestShuffleIsNumPys(t *testing.T) {
	v := []int{10, 20, 30, 40, 50}
	New(5).Shuffle(v)
	if want := []int{50, 10, 20, 30, 40}; !slices.Equal(v, want) { // NumPy 2.4.6
		t.Errorf("%v, want %v", v, want)
	}
}

func TestIntervalIsUniformAndStaysInRange(t *testing.T) {
	s, counts := New(11), make([]int, 6)
	const n = 60000
	for range n {
		counts[s.interval(5)]++ // an index out of range fails the test
	}
	chi := 0.0
	for _, c := range counts {
		d := float64(c) - n/6
		chi += d * d / (n / 6)
	}
	if chi > 20.5 { // 0.1 % point of chi-squared with 5 degrees of freedom
		t.Errorf("chi-squared %v over %v", chi, counts)
	}
	if v := s.interval(1 << 40); v > 1<<40 {
		t.Errorf("interval(2^40) = %d", v)
	}
}

func TestImpossibleRequestsPanicWithAReason(t *testing.T) {
	for name, f := range map[string]func(){
		"negative permutation": func() { New(1).Permutation(-1) },
		"choice of too many":   func() { New(1).Choice(3, 4) },
		"negative choice":      func() { New(1).Choice(3, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func BenchmarkPermutation(b *testing.B) {
	s := New(1)
	for b.Loop() {
		s.Permutation(81412)
	}
}

// NumPy 2.4.6: RandomState(42).randint(0, 224, size=8) and then
// randint(0, 7, size=8); choice(224, 8) of a fresh state is the former.
func TestIntegersAreNumPys(t *testing.T) {
	s := New(42)
	for _, c := range []struct {
		n    int
		want []int
	}{{224, []int{102, 179, 92, 14, 106, 71, 188, 20}}, {7, []int{6, 1, 2, 6, 2, 2, 4, 3}}} {
		if got := s.Integers(c.n, 8); !slices.Equal(got, c.want) {
			t.Errorf("of %d: %v, want %v", c.n, got, c.want)
		}
	}
}
