// Checks of arguments, with errors that name the function and the argument.

package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// checkOrdered refuses an empty slice and one with NaN. Infinities pass: they
// can be ranked.
func checkOrdered(fn, arg string, x []float64) error {
	if len(x) == 0 {
		return fmt.Errorf("stats.%s: %s is empty", fn, arg)
	}
	for i, v := range x {
		if math.IsNaN(v) {
			return fmt.Errorf("stats.%s: %s[%d] is NaN", fn, arg, i)
		}
	}
	return nil
}

// checkFinite refuses an empty slice and one with a NaN or an infinity.
func checkFinite(fn, arg string, x []float64) error {
	if len(x) == 0 {
		return fmt.Errorf("stats.%s: %s is empty", fn, arg)
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("stats.%s: %s[%d] is %v", fn, arg, i, v)
		}
	}
	return nil
}

// checkScores refuses samples that cannot be ranked.
func checkScores(fn string, pos, neg []float64) error {
	return errors.Join(checkOrdered(fn, "pos", pos), checkOrdered(fn, "neg", neg))
}

// checkSameLength refuses two arguments of different lengths.
func checkSameLength(fn, argA string, a int, argB string, b int) error {
	if a != b {
		return fmt.Errorf("stats.%s: %s has %d values, %s has %d", fn, argA, a, argB, b)
	}
	return nil
}

// checkLevel refuses a coverage that is not strictly between 0 and 1.
func checkLevel(fn string, level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("stats.%s: level is %v, want 0 < level < 1", fn, level)
	}
	return nil
}

// checkResampling refuses a resampling that cannot be run.
func checkResampling(fn string, reps int, rng *rand.Rand) error {
	if reps < 1 {
		return fmt.Errorf("stats.%s: reps is %d, want at least 1", fn, reps)
	}
	if rng == nil {
		return fmt.Errorf("stats.%s: rng is nil", fn)
	}
	return nil
}
