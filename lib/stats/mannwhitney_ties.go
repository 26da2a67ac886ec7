package stats

import "math"

// exactMannWhitneySteps bounds the number of additions in the exact distribution with ties.
const exactMannWhitneySteps = 50_000_000

// tiedMannWhitney returns P(U <= u) and P(U >= u) for the U of the first sample, over all equally
// likely assignments of the mid-ranks to the two samples. ok is false without ties, if all values
// are equal, and if there is too much to count.
//
// It counts the rank sums of the smaller sample, one value after another: a value goes to the
// smaller sample with probability (places left there)/(values left). Only shares are added, so a
// small result has full precision.
func tiedMannWhitney(bs []block, m, n int) (low, high float64, ok bool) {
	all, few, first := m+n, min(m, n), m <= n
	if len(bs) == all || len(bs) == 1 {
		return 0, 0, false
	}
	ranks, sum := integerMidranks(bs, first)
	most := 0 // the largest sum there is
	for _, r := range ranks[all-few:] {
		most += r
	}
	if most+1 > exactMannWhitneySteps/all/few {
		return 0, 0, false
	}
	share := make([][]float64, few+1) // share[c][s]: c of the smaller sample so far, with the sum s
	for c := range share {
		share[c] = make([]float64, most+1)
	}
	share[0][0] = 1
	before := sumsBefore(ranks) // of i values, c have a sum from before[c] to before[i]-before[i-c]
	for i, r := range ranks {
		for c := min(i+1, few); c >= max(0, few-(all-i-1)); c-- { // fewer can no longer become few
			if c <= i {
				stays := 1 - float64(few-c)/float64(all-i)
				for s := before[c]; s <= before[i]-before[i-c]; s++ {
					share[c][s] *= stays
				}
			}
			if c == 0 {
				continue
			}
			taken := float64(few-c+1) / float64(all-i)
			for s := before[c-1]; s <= before[i]-before[i-c+1]; s++ {
				share[c][s+r] += float64(share[c-1][s] * taken)
			}
		}
	}
	low, high = math.Min(1, sumOf(share[few][:sum+1])), math.Min(1, sumOf(share[few][sum:]))
	if !first {
		low, high = high, low
	}
	return low, high, true
}

// sumsBefore returns the sums of the first 0, 1, ... of the numbers.
func sumsBefore(x []int) []int {
	sums := make([]int, len(x)+1)
	for i, v := range x {
		sums[i+1] = sums[i] + v
	}
	return sums
}

// integerMidranks returns the mid-ranks of both samples, ascending, as integers from 0 without a
// common divisor, and the sum of those of the first sample, or of the second.
func integerMidranks(bs []block, first bool) (ranks []int, sum int) {
	step := rankStep(bs)
	lowest, below := bs[0].pos+bs[0].neg+1, 0 // doubled
	for _, b := range bs {
		t := b.pos + b.neg
		r := (2*below + t + 1 - lowest) / step
		ranks = appendTimes(ranks, r, t)
		if first {
			sum += r * b.pos
		} else {
			sum += r * b.neg
		}
		below += t
	}
	return ranks, sum
}

// rankStep returns the greatest common divisor of the differences between twice the mid-ranks: 2
// without ties, 0 if all values are equal.
func rankStep(bs []block) int {
	step := 0
	for i := 1; i < len(bs); i++ {
		step = gcd(step, bs[i-1].pos+bs[i-1].neg+bs[i].pos+bs[i].neg)
	}
	return step
}

// continuity returns half of the smallest step of U, and at least 1/2.
func continuity(bs []block) float64 { return math.Max(2, float64(rankStep(bs))) / 4 }
