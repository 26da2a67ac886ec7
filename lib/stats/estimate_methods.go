package stats

import (
	"cmp"
	"fmt"
	"math"
)

// HasInterval reports whether both ends of the interval are known. The mean of a single value, for
// instance, has none.
func (e Estimate) HasInterval() bool { return !math.IsNaN(e.Low) && !math.IsNaN(e.High) }

// Overlapping reports whether the units of the interval share records. Then they are not
// independent and the interval is too narrow.
func (e Estimate) Overlapping() bool { return e.Over == OverSubsets || e.Over == OverDraws }

// OverFewModels reports whether the interval is over so few models that its coverage is below the
// nominal one; see RateCoverage.
func (e Estimate) OverFewModels() bool {
	_, _, few := RateCoverage(e.N)
	return few && e.Over == OverModels
}

// ExcludesNull reports whether the interval is known, a null value is set, and
// the null lies outside the interval.
func (e Estimate) ExcludesNull() bool {
	return e.Null != nil && e.HasInterval() && (*e.Null < e.Low || *e.Null > e.High)
}

// WithNull returns a copy of e with the null value and the direction set.
func (e Estimate) WithNull(null float64, better Direction) Estimate {
	e.Null, e.Better = &null, better
	return e
}

// Widening is how much wider an interval of one coverage is than that of another, for a normal estimate. It is NaN for a
// coverage that is not between 0 and 1.
func Widening(from, to float64) float64 {
	if !(from > 0 && from < 1 && to > 0 && to < 1) {
		return math.NaN()
	}
	return normalQuantile(0.5+to/2) / normalQuantile(0.5+from/2)
}

// StudentWidening is Widening for an interval with Student's quantiles; freedom is their number of degrees of freedom, 0 for
// normal ones. From 60 on an expansion gives them, right to 2e-4 at the smallest chances that an audit tells apart and a
// hundred times as fast as the inverse of the distribution function: an audit asks for a hundred per verdict.
func StudentWidening(from, to, freedom float64) float64 {
	if !(freedom > 0) || !(from > 0 && from < 1 && to > 0 && to < 1) {
		return Widening(from, to)
	}
	quantile := studentQuantile
	if freedom >= 60 {
		quantile = studentExpansion
	}
	return quantile(0.5+to/2, freedom) / quantile(0.5+from/2, freedom)
}

// AtLevel returns a copy of e with the interval of another coverage: each half grows as Student's quantiles do, with the
// degrees of freedom of Clustered, or one less than N. Intervals of few values have such quantiles; of many they are the
// normal ones, so that an interval which has normal ones grows hardly more. An interval without a level is taken for one of 95 %.
func (e Estimate) AtLevel(level float64) Estimate {
	freedom := float64(e.N - 1)
	if e.Clustered != nil && e.Clustered.Freedom > 0 {
		freedom = e.Clustered.Freedom
	}
	factor := StudentWidening(cmp.Or(e.Level, 0.95), level, freedom)
	e.Low, e.High, e.Level = e.Value-factor*(e.Value-e.Low), e.Value+factor*(e.High-e.Value), level
	return e
}

// ClampedTo returns a copy of e whose interval is cut to [low, high], the range of the values,
// which Student's interval can leave. It does not change an estimate without an interval.
func (e Estimate) ClampedTo(low, high float64) Estimate {
	e.Low, e.High = max(low, e.Low), min(high, e.High)
	return e
}

// Unsigned returns the estimate of |value|. Its interval is the image of the interval under the
// absolute value: it starts at 0 if the interval includes 0, and covers at least as often as the
// signed interval. The null becomes its absolute value.
func (e Estimate) Unsigned() Estimate {
	low, high := math.Abs(e.Low), math.Abs(e.High)
	out := e
	out.Value, out.Low, out.High = math.Abs(e.Value), math.Min(low, high), math.Max(low, high)
	if e.Low <= 0 && e.High >= 0 {
		out.Low = 0
	}
	if e.Null != nil {
		null := math.Abs(*e.Null)
		out.Null = &null
	}
	return out
}

// String returns the value with four decimals, its interval and its unit.
func (e Estimate) String() string {
	if !e.HasInterval() {
		return fmt.Sprintf("%.4f (no interval, n = %d)", e.Value, e.N)
	}
	return fmt.Sprintf("%.4f [%.4f, %.4f] (%g%% over %s, n = %d)", e.Value, e.Low, e.High, 100*e.Level, e.Over, e.N)
}
