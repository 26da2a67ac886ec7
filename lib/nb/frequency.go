package nb

import "github.com/lethe-ml/lethe/lib/stats"

// Frequency repeats an experiment and returns the share of repetitions in which something
// happened, with Wilson's 95 % interval. happens gets the number of the repetition, from 0;
// over names what was repeated: "draws", "trials".
func Frequency(times int, over string, happens func(k int) bool) stats.Estimate {
	return stats.Share(Numbers(times), over, happens)
}
