package power

// Power and the smallest detected memory.

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lethe-ml/lethe/lib/stats"
)

// The requirements on a lens.
const (
	wantedPower      = 0.80 // share of models with a memory that it detects
	falseAlarms      = 0.05 // share of models without one that it flags
	bootstrapSamples = 400  // bootstrap samples of seeds
)

// lensReadings are the readings of a lens on a case, by memory and seed.
type lensReadings struct {
	memories []PlantedMemory // the first is none
	excess   [][]float64
	detected [][]bool
}

// criticalValue is the excess that one retrained model in 20 exceeds, for normal excesses:
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

// powerByRetraining is the share of seeds in which a memory is detected against retrained
// models. A seed is compared with the retrained models of the other seeds, because its own
// planted and retrained models share everything but the memory.
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

// powerByNull is the share of seeds in which the interval lies beyond the null.
func (f lensReadings) powerByNull(plant int, seeds []int) float64 {
	hit := 0.0
	for _, k := range seeds {
		if f.detected[plant][k] {
			hit++
		}
	}
	return hit / float64(len(seeds))
}

// smallest is the size at which the power, monotone and linear between memories, reaches
// wantedPower; infinite if it does not.
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

// isotonic is the nearest sequence that does not decrease (pool adjacent violators).
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

// Smallest is the smallest memory that a lens detects, with an interval over seeds. A bound is
// infinite if too many bootstrap samples detect none.
type Smallest struct{ Value, Low, High float64 }

// smallestByRule computes it among some memories by a rule, with Efron's percentile interval
// over seeds.
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

// onceIndices are the memories in which records stay once; repeatedIndices those in which few
// records are repeated, the single one first.
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
		if p.Share == repeatedShare {
			out = append(out, i)
		}
	}
	return out
}

// seedShare is a share of seeds with Wilson's interval.
func seedShare(share float64, n int) stats.Estimate { return stats.Wilson(share, n, 0.95) }
