package privacy

import "fmt"

// The range that is searched and the number of halvings, as in the program of "Fishing for
// Privacy".
const (
	minNoise, maxNoise = 0.01, 100
	halvings           = 64
)

// Noise is the smallest noise with which the given number of steps spends at most epsilon at delta
// by RDP. It searches between 0.01 and 100 by bisection.
func Noise(epsilon, delta, rate float64, steps int) (float64, error) {
	if !(epsilon > 0) {
		return 0, fmt.Errorf("privacy: epsilon is %v, not a positive number", epsilon)
	}
	spent := func(noise float64) (float64, error) {
		s, err := History{{Rate: rate, Noise: noise, Times: steps}}.RDP(delta)
		return s.Epsilon, err
	}
	most, err := spent(maxNoise)
	if err != nil {
		return 0, err
	}
	if most > epsilon {
		return 0, fmt.Errorf("privacy: %d steps at rate %v spend %.3g even with noise %v, more than %v", steps, rate, most, maxNoise, epsilon)
	}
	low, high := minNoise, float64(maxNoise)
	for range halvings {
		middle := (low + high) / 2
		got, err := spent(middle)
		if err != nil {
			return 0, err
		}
		if got > epsilon {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}
