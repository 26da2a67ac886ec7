package stats

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// checkClose fails unless got is within tol of want, relative to max(1, |want|).
func checkClose(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g within %g", what, got, want, tol)
	}
}

// nearAll compares two slices.
func nearAll(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			checkClose(t, what, got[i], want[i], tol)
		}
	}
}

// must stops the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refuses fails unless err mentions every part.
func refuses(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not mention %q", err, p)
		}
	}
}

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20)) }

// normals draws n standard normal values moved by shift.
func normals(rng *rand.Rand, n int, shift float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64() + shift
	}
	return x
}

// tied draws n values of which many are equal.
func tied(rng *rand.Rand, n, distinct int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(rng.IntN(distinct))
	}
	return x
}

// mapValues applies f to each value.
func mapValues(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

// sequence returns f(0) ... f(n-1).
func sequence(n int, f func(i float64) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(float64(i))
	}
	return x
}

// The scores of the golden values: ties inside each sample and across.
var (
	goldenPos = []float64{0.9, 0.8, 0.8, 0.7, 0.55, 0.5, 0.4, 0.35}
	goldenNeg = []float64{0.85, 0.6, 0.5, 0.5, 0.45, 0.4, 0.3, 0.2, 0.15, 0.1}
)
