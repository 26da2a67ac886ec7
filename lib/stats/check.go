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

// checkTwo refuses a sample of a single record, which a bootstrap would draw every time.
func checkTwo(fn, arg string, x []float64) error {
	if len(x) < 2 {
		return fmt.Errorf("stats.%s: %s has %d value, a bootstrap needs at least 2", fn, arg, len(x))
	}
	return nil
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

// checkResampling refuses a resampling that cannot be run, or has too few repetitions for the level.
func checkResampling(fn string, reps int, level float64, rng *rand.Rand) error {
	if need := MinResamples(level); reps < need {
		return fmt.Errorf("stats.%s: reps is %d, an interval of level %v needs at least %d", fn, reps, level, need)
	}
	if rng == nil {
		return fmt.Errorf("stats.%s: rng is nil", fn)
	}
	return nil
}

// MinResamples is the smallest number of resamples of which a percentile interval of that level can be read: with
// fewer its ends lie beyond the extreme ones (Davison and Hinkley 1997, section 5.2.1).
//
//	R + 1 >= 2 / (1 - level)
//
// 19 for 90 %, 39 for 95 %, 199 for 99 %. It is 0 for a level outside (0, 1).
func MinResamples(level float64) int {
	if !(level > 0 && level < 1) {
		return 0
	}
	const rounding = 1 - 1e-12 // of 1 - level
	return int(math.Ceil(rounding*2/(1-level))) - 1
}
