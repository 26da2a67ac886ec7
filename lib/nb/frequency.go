package nb

import "github.com/lethe-ml/lethe/lib/stats"

// Frequency repeats an experiment and returns in which share of the repetitions
// something happened, with Wilson's 95 % interval. over says what was repeated:
// "draws", "trials". The first repetition is number 0.
func Frequency(times int, over string, happens func(k int) bool) stats.Estimate {
	return stats.Share(Numbers(times), over, happens)
}
