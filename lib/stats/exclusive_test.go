package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Two answers of the same records exclude each other: Newcombe's interval for independent shares is too narrow.
func TestExclusiveDifferencesCover(t *testing.T) {
	const draws = 4000
	rng := rand.New(rand.NewPCG(11, 5))
	for _, k := range []struct {
		n      int
		a, b   float64
		weight float64
		narrow bool // as independent shares
	}{
		{60, 0.3, 0.3, 1, true}, {60, 0.5, 0.5, 1, true}, {30, 0.45, 0.45, 1, true}, {60, 0.3, 0.6, 0.5, true}, {12, 0.3, 0.3, 1, true},
		{60, 0.1, 0.8, 0.125, false}, {60, 0.02, 0.1, 0.125, false},
	} {
		held, alone := 0, 0
		for range draws {
			first, second := 0.0, 0.0
			for range k.n {
				switch u := rng.Float64(); {
				case u < k.a:
					first++
				case u < k.a+k.b:
					second++
				}
			}
			a, b := Wilson(first/float64(k.n), k.n, 0.95), Wilson(second/float64(k.n), k.n, 0.95)
			truth := k.a - float64(k.weight*k.b)
			if e := ExclusiveDifference(a, b, k.weight); e.Low <= truth && truth <= e.High {
				held++
			}
			b.Value, b.Low, b.High = k.weight*b.Value, k.weight*b.Low, k.weight*b.High
			if e := ShareDifference(a, b); e.Low <= truth && truth <= e.High {
				alone++
			}
		}
		c, narrow := float64(held)/draws, float64(alone)/draws
		if c < 0.935 || c > 0.975 {
			t.Errorf("%+v: the difference is held in %.3f", k, c)
		}
		if k.narrow && narrow > 0.92 {
			t.Errorf("%+v: independent shares hold it in %.3f, so that nothing is shown", k, narrow)
		}
	}
}

// By hand: 3 and 6 of 10, half of the second. r = -sqrt(0.18/0.28).
func TestExclusiveDifferencesByHand(t *testing.T) {
	a, b := Wilson(0.3, 10, 0.95), Wilson(0.6, 10, 0.95)
	e, r := ExclusiveDifference(a, b, 0.5), math.Sqrt(0.18/0.28)
	x, y := a.Value-a.Low, (b.High-b.Value)/2
	if low := -math.Sqrt(x*x + 2*r*x*y + y*y); math.Abs(e.Low-low) > 1e-12 || e.Value != 0 || e.N != 10 {
		t.Errorf("%+v, want a low end of %v", e, low)
	}
	// All records have one of the two answers: the difference is 2 a - 1, and so are its ends.
	a, b = Wilson(0.3, 10, 0.95), Wilson(0.7, 10, 0.95)
	if e := ExclusiveDifference(a, b, 1); math.Abs(e.Low-(2*a.Low-1)) > 1e-12 || math.Abs(e.High-(2*a.High-1)) > 1e-12 {
		t.Errorf("%+v, want [%v, %v]", e, 2*a.Low-1, 2*a.High-1)
	}
	// None has the other answer: nothing is known of how they depend on each other.
	none := Wilson(0, 10, 0.95)
	if got, want := ExclusiveDifference(a, none, 1), ShareDifference(a, none); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
