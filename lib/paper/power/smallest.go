package power

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lethe-ml/lethe/lib/stats"
)

// What a lens is asked for.
const (
	wantedPower      = 0.80 // of models with a memory found
	falseAlarms      = 0.05 // of models without one accused
	bootstrapSamples = 400  // bootstrap samples of seeds
)

// lensReadings is a lens on a case: by plant and seed.
type lensReadings struct {
	memories []PlantedMemory // the first is none
	excess   [][]float64
	detected [][]bool
}

// criticalValue is the excess beyond which one retrained model in 20 lies, of normal excesses:
// Student's prediction bound,
//
//	mean + t sd sqrt(1 + 1/n)
func criticalValue(null []float64) float64 {
	n := float64(len(null))
	mean, sd := 0.0, 0.0
	for _, v := range null {
		mean += v / n
	}
	for _, v := range null {
		sd += (v - mean) * (v - mean) / (n - 1)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - falseAlarms)
	return mean + float64(t*math.Sqrt(sd*(1+1/n)))
}

// powerByRetraining is the share of seeds in which a plant is found beside retrained models. A
// seed is judged by the retrained models of the others, because its own planted and
// retrained models share all but the memory.
func (f lensReadings) powerByRetraining(plant int, seeds []int) float64 {
	hit := 0.0
	for at, k := range seeds {
		var null []float64
		for other, j := range seeds {
			if other != at && j != k {
				null = append(null, f.excess[0][j])
			}
		}
		if len(null) > 1 && f.excess[plant][k] > criticalValue(null) {
			hit++
		}
	}
	return hit / float64(len(seeds))
}

// powerByNull is the share of seeds in which the interval is beyond the null.
func (f lensReadings) powerByNull(plant int, seeds []int) float64 {
	hit := 0.0
	for _, k := range seeds {
		if f.detected[plant][k] {
			hit++
		}
	}
	return hit / float64(len(seeds))
}

// smallest is where power, taken to rise and to be straight between plants, passes what
// is wanted; infinite where it does not. sizes and powers are of the plants in question.
func smallest(sizes, powers []float64) float64 {
	powers = isotonic(powers)
	for i, p := range powers {
		if p < wantedPower {
			continue
		}
		if i == 0 {
			return sizes[0]
		}
		return sizes[i-1] + (sizes[i]-sizes[i-1])*(wantedPower-powers[i-1])/(p-powers[i-1])
	}
	return math.Inf(1)
}

// isotonic is the nearest sequence that does not fall (pool adjacent violators).
func isotonic(x []float64) []float64 {
	type block struct{ sum, n float64 }
	var blocks []block
	for _, v := range x {
		blocks = append(blocks, block{v, 1})
		for n := len(blocks); n > 1 && blocks[n-2].sum/blocks[n-2].n > blocks[n-1].sum/blocks[n-1].n; n = len(blocks) {
			blocks[n-2].sum, blocks[n-2].n = blocks[n-2].sum+blocks[n-1].sum, blocks[n-2].n+blocks[n-1].n
			blocks = blocks[:n-1]
		}
	}
	var out []float64
	for _, b := range blocks {
		out = append(out, slices.Repeat([]float64{b.sum / b.n}, int(b.n))...)
	}
	return out
}

// Smallest is the smallest memory that a lens finds, with an interval over seeds: a bound is
// infinite where so large a part of the bootstrap samples finds none.
type Smallest struct{ Value, Low, High float64 }

// smallestByRule finds it among some plants by a rule, with Efron's percentile interval over
// seeds.
func (f lensReadings) smallestByRule(rule func(plant int, seeds []int) float64, among []int, size func(PlantedMemory) float64, rng *rand.Rand) Smallest {
	n := len(f.excess[0])
	all := make([]int, n)
	for k := range all {
		all[k] = k
	}
	at := func(seeds []int) float64 {
		var sizes, powers []float64
		for _, p := range among {
			sizes, powers = append(sizes, size(f.memories[p])), append(powers, rule(p, seeds))
		}
		return smallest(sizes, powers)
	}
	values := make([]float64, bootstrapSamples)
	for r := range values {
		seeds := make([]int, n)
		for k := range seeds {
			seeds[k] = rng.IntN(n)
		}
		values[r] = at(seeds)
	}
	slices.Sort(values)
	return Smallest{at(all), values[bootstrapSamples/40], values[bootstrapSamples-1-bootstrapSamples/40]}
}

// onceIndices are the plants of records that stay once, repeated those of few records that stay
// several times, the single one first.
func (f lensReadings) onceIndices() (out []int) {
	for i, p := range f.memories {
		if p.Times == 1 {
			out = append(out, i)
		}
	}
	return out
}

func (f lensReadings) repeatedIndices() (out []int) {
	for i, p := range f.memories {
		if p.Share == fewSeeds {
			out = append(out, i)
		}
	}
	return out
}

// seedShare is a share of seeds with Wilson's interval.
func seedShare(share float64, n int) stats.Estimate { return stats.Wilson(share, n, 0.95) }
