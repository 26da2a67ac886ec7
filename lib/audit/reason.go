// Why a reading is no evidence: too few records, ties, collapsed outputs.

package audit

import (
	"fmt"
	"math"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
)

// Reason says why a reading is no evidence, whatever its value.
type Reason struct {
	Call Call   // TooFew or CannotTell; empty: there is no reason
	Why  string // one sentence without its full stop
}

// MinRecords is the smallest number of records in a set for which a lens places a model. With n
// records that all fall on one side of the null the two-sided probability under the null is
//
//	2 (1/2)^n
//
// which is 0.031 for six records and 0.063 for five. Below six not even the most extreme value of a
// mean, a share or a mean rank over forgotten records is significant at 5 %. For an AUC of m
// forgotten and n held-out records the same holds with min(m, n) disjoint pairs, on which
// stats.DeLong's bound at complete separation rests.
const MinRecords = 6

// TooFewRecords returns the reason against a set of n records, if n is too few; what names them.
func TooFewRecords(n int, of string) Reason { return tooFewRecords(MinRecords, n, of) }

func tooFewRecords(least, n int, of string) Reason {
	if n >= least {
		return Reason{}
	}
	if n == 1 {
		of = strings.NewReplacer("records", "record", "texts", "text").Replace(of)
	}
	return Reason{TooFew, fmt.Sprintf("%d %s, and with fewer than %d no value is significant at 5 %%", n, of, least)}
}

// Bounds of ties. A rank statistic counts exact ties as one half, and its interval accounts for
// them, so that a few are harmless. It is no evidence if more than half of the pairs are tied, or
// if there are fewer than ten distinct values.
const (
	maxTiedPairs = 0.5
	minDistinct  = 10
)

// TiedScores returns the reason against a rank statistic of two samples: more than half of the
// pairs are tied, or there are fewer than ten distinct scores (or half as many as records, where
// that is less). Scores that agree to six digits are tied. Scores that were rounded to float16
// pass.
func TiedScores(a, b []float64) Reason {
	return tiesBetween("scores", roundedKeys(a), roundedKeys(b))
}

// TiedValues returns the reason against a mean of values, by the bounds of TiedScores.
func TiedValues(x []float64) Reason { return tiesWithin("values", roundedKeys(x)) }

// Collapsed returns the reason against a model that gives many records the same row (of outputs or
// of an embedding): among the forgotten records, or between forgotten and others. The keys are
// those of RowHashes.
func Collapsed(what string, keys []uint64, forgotten, others []int) Reason {
	return collapsedReason(what, valuesAt(keys, forgotten), valuesAt(keys, others))
}

func collapsedReason(what string, forgotten, others []uint64) Reason {
	return firstReason(tiesWithin(what, forgotten), tiesBetween(what, forgotten, others))
}

// CollapsedRows is Collapsed for rows of a matrix. Of the others it takes at most 2,000, evenly
// spaced.
func CollapsedRows(what string, x array.Rows, forgotten, others []int) Reason {
	if x == nil {
		return Reason{}
	}
	some := evenlySpaced(others, 2000)
	_, cols := x.Shape()
	buffer := make([]float64, cols)
	keys := func(rows []int) []uint64 {
		out := make([]uint64, len(rows))
		for k, i := range rows {
			out[k] = hashRow(x.Read(buffer, i))
		}
		return out
	}
	return collapsedReason(what, keys(forgotten), keys(some))
}

// evenlySpaced returns at most the given number of rows, evenly spaced.
func evenlySpaced(rows []int, most int) []int {
	if len(rows) <= most {
		return rows
	}
	out := make([]int, most)
	for k := range out {
		out[k] = rows[k*len(rows)/most]
	}
	return out
}

// RowHashes returns a hash per row; equal rows have equal hashes.
func RowHashes(x array.Rows) []uint64 {
	rows, cols := x.Shape()
	out, buffer := make([]uint64, rows), make([]float64, cols)
	for i := range out {
		out[i] = hashRow(x.Read(buffer, i))
	}
	return out
}

// hashRow is FNV-1a over the bits of the values, one value at a time.
func hashRow(row []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range row {
		bits := math.Float64bits(v + 0) // -0 is 0
		h = (h ^ bits ^ bits>>29) * 1099511628211
		h ^= h >> 32
	}
	return h
}

// roundedKeys rounds values to 21 bits of mantissa, so that rounding in float32 does not make equal
// values differ.
func roundedKeys(x []float64) []uint64 {
	out := make([]uint64, len(x))
	for i, v := range x {
		out[i] = (math.Float64bits(v+0) + 1<<31) >> 32
	}
	return out
}

// tiesWithin returns the reason from ties between the pairs of one sample.
func tiesWithin(what string, keys []uint64) Reason {
	of, pairs, n := countKeys(keys), 0.0, float64(len(keys))
	for _, c := range of {
		pairs += float64(c) * float64(c-1)
	}
	return tiesReason(what, len(keys), len(of), pairs/(n*(n-1)))
}

// tiesBetween returns the reason from ties between the values of two samples.
func tiesBetween(what string, a, b []uint64) Reason {
	ofA, ofB, pairs := countKeys(a), countKeys(b), 0.0
	distinct := len(ofB)
	for k, c := range ofA {
		pairs += float64(c) * float64(ofB[k])
		if ofB[k] == 0 {
			distinct++
		}
	}
	return tiesReason(what, len(a)+len(b), distinct, pairs/(float64(len(a))*float64(len(b))))
}

// tiesReason decides by the number of distinct values and the share of equal pairs. A share of no
// pairs is NaN and no reason.
func tiesReason(what string, records, distinct int, share float64) Reason {
	switch {
	case distinct < min(minDistinct, records/2):
		return Reason{CannotTell, fmt.Sprintf("%d records have %s distinct %s", records, distinctText(distinct), what)}
	case share > maxTiedPairs:
		return Reason{CannotTell, fmt.Sprintf("%.0f %% of the pairs of records have equal %s", 100*share, what)}
	}
	return Reason{}
}

func distinctText(distinct int) string {
	if distinct == 1 {
		return "no two"
	}
	return fmt.Sprint("only ", distinct)
}

func countKeys(keys []uint64) map[uint64]int {
	out := map[uint64]int{}
	for _, k := range keys {
		out[k]++
	}
	return out
}

// WithheldReason returns why a reading, or one that it is compared with, is no evidence. The reason
// of another reading begins with the name of its model.
func WithheldReason(m Reading, others ...Reading) Reason {
	why := m.withheldReason()
	for _, o := range others {
		if why.Call != "" {
			break
		}
		if why = o.withheldReason(); why.Call != "" {
			why.Why = o.Model + ": " + why.Why
		}
	}
	return why
}

// withheldReason is the lens's reason, or that there are too few records, which holds for every
// lens.
func (r Reading) withheldReason() Reason {
	if r.NoEvidence.Call == "" && r.N > 0 {
		return TooFewRecords(r.N, r.Over)
	}
	return r.NoEvidence
}

// firstReason returns the first of several reasons that is set.
func firstReason(reasons ...Reason) Reason {
	for _, r := range reasons {
		if r.Call != "" {
			return r
		}
	}
	return Reason{}
}
