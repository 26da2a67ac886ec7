package engine

import (
	"fmt"
	"math"
	"testing"
)

// The keys are SHA-256 of seed, name and parts; computed with Python 3.11's
// hashlib: sha256(pack("<q", seed) + name + b"\0" + pack("<Q", part)...).
func TestCounterIsTheKeyThatPythonComputes(t *testing.T) {
	for _, c := range []struct {
		seed  Root
		name  string
		parts []uint64
		want  uint64
	}{
		{0, StreamInit, nil, 0x6e14b0118049829a},
		{42, StreamDropout, []uint64{1, 2}, 0xf5013a4805beb7d8},
		{-1, StreamBatch, []uint64{0}, 0x847fc8ffde64f860},
		{999, StreamSplit, nil, 0x99865df6cd7be53b},
	} {
		if got := c.seed.Counter(c.name, c.parts...); got != c.want {
			t.Errorf("seed %d, stream %s %v: %#x, want %#x", c.seed, c.name, c.parts, got, c.want)
		}
	}
}

// The numbers pin the streams: stored results depend on them.
func TestStreamsBeginAsTheyAlwaysDid(t *testing.T) {
	for _, c := range []struct {
		name string
		want [3]uint64
	}{
		{"split", [3]uint64{0x8d47f2b6384a635b, 0xf5a76ea081a89406, 0xbd31efddbe14d9ac}},
		{"init", [3]uint64{0x961f33d208bf6130, 0xa5b543d47744e39, 0x95d38dc454cc32de}},
		{"batch", [3]uint64{0x9e440db0a5035aab, 0xe446458fb184326f, 0x2f9fb0bca993ac0a}},
		{"dropout", [3]uint64{0x953103d5be58c38, 0xb4df2d01d11ff1a2, 0x7024ff5b75dc6eb7}},
		{"attack", [3]uint64{0x950650c0f6ccb035, 0x8e1f87e6c8a079d4, 0x9a9d3db38d37ca9a}},
		{"bootstrap", [3]uint64{0x1e931cbed14a19fa, 0x9c15d3e8ee7d2e1f, 0xdd0069c05fb73e80}},
	} {
		rng := Root(42).Stream(c.name, 7)
		if got := [3]uint64{rng.Uint64(), rng.Uint64(), rng.Uint64()}; got != c.want {
			t.Errorf("stream %s begins %#x, want %#x", c.name, got, c.want)
		}
	}
}

func TestAStreamStartsAtItsBeginningEveryTime(t *testing.T) {
	first := Root(1).Stream(StreamInit)
	first.Uint64()
	a, b := Root(1).Stream(StreamInit), Root(1).Stream(StreamInit)
	b.NormFloat64()
	if Root(1).Stream(StreamInit).Uint64() != a.Uint64() {
		t.Error("a draw in one generator moves another")
	}
}

func TestStreamsOfDifferentNamesPartsAndSeedsDiffer(t *testing.T) {
	met := map[uint64]string{}
	for _, seed := range []Root{0, 1, -1, 1 << 40} {
		for _, name := range []string{"", "a", "ab", StreamSplit, StreamInit, StreamBatch, StreamDropout, "attack", "bootstrap"} {
			for _, parts := range [][]uint64{nil, {0}, {1}, {0, 0}, {0, 1}, {1, 0}, {256}} {
				here := fmt.Sprint(seed, name, parts)
				key := seed.Counter(name, parts...)
				if there, twice := met[key]; twice {
					t.Errorf("%s and %s have one key", here, there)
				}
				met[key] = here
				if seed.Stream(name, parts...).Uint64() == key {
					t.Errorf("%s: the generator's first number is the counter's key", here)
				}
			}
		}
	}
}

// Neighbouring seeds and streams are uncorrelated: over 4000 draws a
// correlation of 0.06 is nearly four standard errors away from zero.
func TestStreamsAreUncorrelated(t *testing.T) {
	const n = 4000
	draw := func(seed Root, name string, part uint64) []float64 {
		rng := seed.Stream(name, part)
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.Float64()
		}
		return x
	}
	base := draw(1, StreamInit, 0)
	for name, other := range map[string][]float64{
		"next seed": draw(2, StreamInit, 0), "other stream": draw(1, StreamBatch, 0), "next part": draw(1, StreamInit, 1),
	} {
		if r := correlation(base, other); math.Abs(r) > 0.06 {
			t.Errorf("%s: correlation %v", name, r)
		}
	}
	if r := correlation(base, draw(1, StreamInit, 0)); r < 0.999 {
		t.Errorf("a stream and itself: correlation %v", r)
	}
}

func correlation(x, y []float64) float64 {
	var xx, yy, xy, mx, my float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(y))
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
		xy += (x[i] - mx) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

func ExampleRoot_Stream() {
	seed := Root(7)
	a, b := seed.Stream(StreamInit), seed.Stream(StreamInit)
	c := seed.Stream(StreamBatch)
	fmt.Println(a.IntN(1000) == b.IntN(1000), a.Uint64() == c.Uint64())
	// Output: true false
}
