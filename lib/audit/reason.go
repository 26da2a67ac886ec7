package audit

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Reason says why a reading is no evidence, whatever its value.
type Reason struct {
	Call Call   // TooFew or CannotTell; empty: there is no reason
	Why  string // one sentence without its full stop
}

// MinRecords is the smallest number of records of a set from which a lens places a
// model. With n records that all fall on one side of the null the two-sided probability
// under the null is
//
//	2 (1/2)^n
//
// which is 0.031 for six and 0.063 for five: below six not even the most extreme value of
// a mean over forgotten records, of a share or of a mean rank is significant at 5 %. For
// an AUC of m forgotten and n held-out records the same holds of the min(m, n) disjoint
// pairs on which stats.DeLong's bound at complete separation rests.
const MinRecords = 6

// TooFewRecords is the reason of a set of too few records, if n is too few.
func TooFewRecords(n int, of string) Reason { return tooFewRecords(MinRecords, n, of) }

func tooFewRecords(least, n int, of string) Reason {
	if n >= least {
		return Reason{}
	}
	return Reason{TooFew, fmt.Sprintf("%d %s, and with fewer than %d no value is significant at 5 %%", n, of, least)}
}

// Bounds of ties. A statistic of ranks takes exact ties at half their worth, and its
// interval knows of them, so that a few are no reason. Values that more than half of the
// pairs share, or that are fewer than ten, are not what such a statistic is about.
const (
	maxTiedPairs = 0.5
	minDistinct  = 10
)

// TiedScores is the reason against ranks of the scores of two samples: more than half of
// the pairs of a score of each are tied, or there are fewer than ten distinct scores (or
// half as many as records, where that is less). Scores that agree to six digits are tied.
// Scores that were rounded to float16 pass.
func TiedScores(a, b []float64) Reason {
	return tiesBetween("scores", roundedKeys(a), roundedKeys(b))
}

// TiedValues is the reason against a mean of values, by the same bounds: more than half of
// their pairs are tied, or they are too few different ones.
func TiedValues(x []float64) Reason { return tiesWithin("values", roundedKeys(x)) }

// Collapsed is the reason against a model that makes the same row (of outputs, of an
// embedding) of many records: among the forgotten ones, or of forgotten and others. The
// keys are those of RowHashes.
func Collapsed(what string, keys []uint64, forgotten, others []int) Reason {
	return collapsedReason(what, valuesAt(keys, forgotten), valuesAt(keys, others))
}

func collapsedReason(what string, forgotten, others []uint64) Reason {
	return firstReason(tiesWithin(what, forgotten), tiesBetween(what, forgotten, others))
}

// CollapsedRows is Collapsed of some of the rows of a matrix, of the others at most 2,000
// at even distances.
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

// evenlySpaced are at most so many of the rows.
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

// RowHashes are numbers by which equal rows are known.
func RowHashes(x array.Rows) []uint64 {
	rows, cols := x.Shape()
	out, buffer := make([]uint64, rows), make([]float64, cols)
	for i := range out {
		out[i] = hashRow(x.Read(buffer, i))
	}
	return out
}

// hashRow is FNV-1a over the values' bits, a value at a time.
func hashRow(row []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range row {
		bits := math.Float64bits(v + 0) // -0 is 0
		h = (h ^ bits ^ bits>>29) * 1099511628211
		h ^= h >> 32
	}
	return h
}

// roundedKeys are the values to 21 bits, so that rounding in float32 makes no two of one.
func roundedKeys(x []float64) []uint64 {
	out := make([]uint64, len(x))
	for i, v := range x {
		out[i] = (math.Float64bits(v+0) + 1<<31) >> 32
	}
	return out
}

// tiesWithin is the reason of the pairs of one sample.
func tiesWithin(what string, keys []uint64) Reason {
	of, pairs, n := countKeys(keys), 0.0, float64(len(keys))
	for _, c := range of {
		pairs += float64(c) * float64(c-1)
	}
	return tiesReason(what, len(keys), len(of), pairs/(n*(n-1)))
}

// tiesBetween is that of the pairs of a record of each of two samples.
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

// tiesReason judges how many values are distinct and what share of pairs are equal; a share of
// no pairs is NaN and no reason.
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

// WithheldReason is why a reading, or one that it is compared with, is no evidence; the reason
// of another than the first names its model.
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

// withheldNotes is the reading's own reason: the lens's, or that there are too few records
// behind it, which holds of every lens.
func (r Reading) withheldReason() Reason {
	if r.NoEvidence.Call == "" && r.N > 0 {
		return TooFewRecords(r.N, r.Over)
	}
	return r.NoEvidence
}

// firstReason is the first reason of several.
func firstReason(reasons ...Reason) Reason {
	for _, r := range reasons {
		if r.Call != "" {
			return r
		}
	}
	return Reason{}
}
