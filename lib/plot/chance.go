// The chance band of a ROC figure.

package plot

import (
	"fmt"
	"math"
)

// chanceSteps is the number of false positive rates at which the chance band is computed.
const chanceSteps = 64

// hasChance reports whether the sizes of the samples are known.
func (r ROC) hasChance() bool { return r.Positives > 0 && r.Negatives > 0 }

// chance returns the band that contains the greatest true positive rate at a false positive rate
// with probability 0.95 for an attack that guesses. With n negatives and m positives in random
// order, the number of positives above the negative of rank j+1 is beta-binomial with m, j+1 and
// n-j.
func (r ROC) chance() Curve {
	var out Curve
	last := -1
	for k := range chanceSteps + 1 {
		j := r.chanceRank(float64(k) / chanceSteps)
		if j == last {
			continue
		}
		last = j
		low, high := chanceCounts(r.Positives, j+1, r.Negatives-j)
		out.X = append(out.X, max(float64(j)/float64(r.Negatives), r.low()))
		out.Low = append(out.Low, max(float64(low)/float64(r.Positives), r.low()))
		out.High = append(out.High, max(float64(high)/float64(r.Positives), r.low()))
	}
	out.X, out.Low, out.High = append(out.X, 1), append(out.Low, 1), append(out.High, 1)
	return out
}

// chanceRank returns the number of false positives at a fraction of the axis.
func (r ROC) chanceRank(f float64) int {
	rate := f
	if r.Log {
		rate = math.Pow(r.low(), 1-f)
	}
	return int(clamp(math.Floor(rate*float64(r.Negatives)+1e-9), 0, float64(r.Negatives-1)))
}

// chanceCounts returns the 2.5 % and 97.5 % quantiles of the beta-binomial distribution with m
// trials: the smallest counts whose cumulative probability reaches them.
func chanceCounts(m, a, b int) (low, high int) {
	const tail = 0.025
	logBeta := func(x, y float64) float64 {
		lx, _ := math.Lgamma(x)
		ly, _ := math.Lgamma(y)
		both, _ := math.Lgamma(x + y)
		return lx + ly - both
	}
	alpha, beta := float64(a), float64(b)
	logP := logBeta(alpha, beta+float64(m)) - logBeta(alpha, beta)
	sum := 0.0
	low, high = -1, m
	for k := range m + 1 {
		sum += math.Exp(logP)
		if low < 0 && sum >= tail {
			low = k
		}
		if sum >= 1-tail {
			return low, k
		}
		logP += math.Log(float64(m-k) * (alpha + float64(k)) / (float64(k+1) * (beta + float64(m-k-1))))
	}
	return max(low, 0), high
}

// chanceText returns the band at small false positive rates as text.
func (r ROC) chanceText() string {
	line := chanceLabel + ":"
	for i, rate := range []float64{0.001, 0.01, 0.1} {
		j := int(rate*float64(r.Negatives) + 1e-9)
		low, high := chanceCounts(r.Positives, j+1, r.Negatives-j)
		if i > 0 {
			line += ","
		}
		m := float64(r.Positives)
		line += fmt.Sprintf(" TPR %s to %s at FPR %g", formatFixed(float64(low)/m, 3), formatFixed(float64(high)/m, 3), rate)
	}
	return line
}

// chanceBand returns the band as a mark, without rows if it is not known.
func (r ROC) chanceBand() mark {
	var rows []datum
	if r.hasChance() {
		band := r.chance()
		for i, x := range band.X {
			rows = append(rows, datum{row: object{"x": x, "low": band.Low[i], "high": band.High[i]}})
		}
	}
	return mark{kind: areas, rows: rows, x: "x", y: "low", y2: "high", col: bandFill, means: chanceLabel}
}
