// Chance floors: what an unsigned attack statistic shows if there is nothing to find.

package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/progress"
)

// Floor holds the mean and the 95th percentile of an unsigned attack statistic when members and
// non-members are exchangeable, as after perfect unlearning. A measured value below Mean is no
// evidence of memory; one above P95 is evidence at the 5 % level.
type Floor struct {
	Mean float64 `json:"mean"`
	P95  float64 `json:"p95"` // smallest v with P(statistic <= v) >= 0.95
}

const (
	// exactFloorBelow is the smaller sample size up to which the exact distribution is used.
	exactFloorBelow = 20
	// exactFloorLarger bounds the larger sample in the exact distribution, which converges
	// like 1/n: a larger n changes the floor by less than 1e-5.
	exactFloorLarger = 100_000
)

// undefinedFloor is the floor for invalid sample sizes.
var undefinedFloor = Floor{Mean: math.NaN(), P95: math.NaN()}

// ChanceFloor returns the floor of |2 AUC - 1| for nPos and nNeg records without ties. 2 AUC - 1
// has mean 0 and variance
//
//	s^2 = (nPos + nNeg + 1) / (3 nPos nNeg),
//
// and is close to normal, so |2 AUC - 1| is half-normal: Mean = s sqrt(2/pi), P95 = 1.96 s. If the
// smaller sample has at most 20 records the exact Mann-Whitney distribution is used. Ties make the
// variance smaller; the floor is then conservative. Both fields are NaN when a size is below 1.
func ChanceFloor(nPos, nNeg int) Floor {
	m, n := min(nPos, nNeg), max(nPos, nNeg)
	if m < 1 {
		return undefinedFloor
	}
	if m <= exactFloorBelow {
		return exactFloor(m, min(n, exactFloorLarger))
	}
	return normalFloor(m, n)
}

func normalFloor(m, n int) Floor {
	mf, nf := float64(m), float64(n)
	s := math.Sqrt((mf + nf + 1) / (3 * mf * nf))
	return Floor{Mean: s * math.Sqrt(2/math.Pi), P95: s * normalQuantile(0.975)}
}

// exactFloor sums over the lower half of the distribution of U; the upper half is its mirror
// image.
func exactFloor(m, n int) Floor {
	pairs := float64(m) * float64(n)
	p := lowerU(m, n, m*n/2)
	var mean accumulator
	f := Floor{P95: 1}
	beyond := 0.0 // P(statistic > value at u)
	for u, pu := range p {
		value := 1 - 2*float64(u)/pairs
		mean.add(2 * float64(pu*value))
		if beyond <= 0.05+1e-12 {
			f.P95 = value
		}
		beyond += float64(2 * pu)
	}
	f.Mean = mean.value()
	return f
}

// ChanceFloorMC returns the floor of |2 AUC - 1| by simulation: reps random assignments of nPos
// positives to nPos + nNeg untied ranks. It is an independent check of ChanceFloor. Both fields
// are NaN when a size or reps is below 1 or rng is nil.
func ChanceFloorMC(nPos, nNeg, reps int, rng *rand.Rand) Floor {
	if nPos < 1 || nNeg < 1 || reps < 1 || rng == nil {
		return undefinedFloor
	}
	v := make([]float64, reps)
	task := progress.Begin("chance floor", reps)
	defer task.Done()
	for r := range v {
		task.Add(1)
		v[r] = math.Abs(2*aucOf(2*randomU(nPos, nNeg, rng), nPos, nNeg) - 1)
	}
	slices.Sort(v)
	return Floor{Mean: meanOf(v), P95: v[(95*reps+99)/100-1]}
}

// randomU returns U of a random order, assigning the ranks in ascending order.
func randomU(nPos, nNeg int, rng *rand.Rand) int64 {
	var u int64
	posLeft, negSeen := nPos, 0
	for left := nPos + nNeg; left > 0; left-- {
		if rng.IntN(left) < posLeft {
			posLeft--
			u += int64(negSeen)
		} else {
			negSeen++
		}
	}
	return u
}

// ChanceFloorBalanced returns the floor of |accuracy - 0.5| for an attack with a fixed threshold
// on n members and n non-members. Under the null each record is called a member with the same
// probability; at 1/2, the worst case, the number of correct calls is Binomial(2n, 1/2), and
//
//	Mean = C(2n, n) / 2^(2n+1)
//
// by de Moivre's formula. P95 is exact too. A threshold chosen on the same records has a higher
// floor. Both fields are NaN when n is below 1.
func ChanceFloorBalanced(n int) Floor {
	if n < 1 {
		return undefinedFloor
	}
	nf := float64(n)
	a, _ := math.Lgamma(2*nf + 1)
	b, _ := math.Lgamma(nf + 1)
	centre := math.Exp(a - 2*b - float64(2*nf*math.Ln2))
	within, p, d := centre, centre, 0
	for within < 0.95-1e-12 && d < n {
		p = float64(p * (float64(n-d) / float64(n+d+1)))
		within += float64(2 * p)
		d++
	}
	return Floor{Mean: centre / 2, P95: float64(d) / (2 * nf)}
}
