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

// FewestRecords is the smallest number of records of a set from which a lens places a
// model. With n records that all fall on one side of the null the two-sided probability
// under the null is
//
//	2 (1/2)^n
//
// which is 0.031 for six and 0.063 for five: below six not even the most extreme value of
// a mean over forgotten records, of a share or of a mean rank is significant at 5 %. For
// an AUC of m forgotten and n held-out records the same holds of the min(m, n) disjoint
// pairs on which stats.DeLong's bound at complete separation rests.
const FewestRecords = 6

// Fewer is the reason of a set of too few records, if n is too few.
func Fewer(n int, of string) Reason { return fewerThan(FewestRecords, n, of) }

func fewerThan(least, n int, of string) Reason {
	if n >= least {
		return Reason{}
	}
	return Reason{TooFew, fmt.Sprintf("%d %s, and with fewer than %d no value is significant at 5 %%", n, of, least)}
}

// Bounds of ties. A statistic of ranks takes exact ties at half their worth, and its
// interval knows of them, so that a few are no reason. Values that more than half of the
// pairs share, or that are fewer than ten, are not what such a statistic is about.
const (
	mostPairs    = 0.5
	fewestValues = 10
)

// TiedScores is the reason against ranks of the scores of two samples: more than half of
// the pairs of a score of each are tied, or there are fewer than ten distinct scores (or
// half as many as records, where that is less). Scores that agree to six digits are tied.
// Scores that were rounded to float16 pass.
func TiedScores(a, b []float64) Reason {
	return tiedBetween("scores", keysOf(a), keysOf(b))
}

// TiedValues is the reason against a mean of values, by the same bounds: more than half of
// their pairs are tied, or they are too few different ones.
func TiedValues(x []float64) Reason { return tiedWithin("values", keysOf(x)) }

// Collapsed is the reason against a model that makes the same row (of outputs, of an
// embedding) of many records: among the forgotten ones, or of forgotten and others. The
// keys are those of RowKeys.
func Collapsed(what string, keys []uint64, forgotten, others []int) Reason {
	return collapsed(what, at(keys, forgotten), at(keys, others))
}

func collapsed(what string, forgotten, others []uint64) Reason {
	return firstOf(tiedWithin(what, forgotten), tiedBetween(what, forgotten, others))
}

// CollapsedRows is Collapsed of some of the rows of a matrix, of the others at most 2,000
// at even distances.
func CollapsedRows(what string, x array.Rows, forgotten, others []int) Reason {
	if x == nil {
		return Reason{}
	}
	some := evenly(others, 2000)
	_, cols := x.Shape()
	buffer := make([]float64, cols)
	keys := func(rows []int) []uint64 {
		out := make([]uint64, len(rows))
		for k, i := range rows {
			out[k] = rowKey(x.Read(buffer, i))
		}
		return out
	}
	return collapsed(what, keys(forgotten), keys(some))
}

// evenly are at most so many of the rows.
func evenly(rows []int, most int) []int {
	if len(rows) <= most {
		return rows
	}
	out := make([]int, most)
	for k := range out {
		out[k] = rows[k*len(rows)/most]
	}
	return out
}

// RowKeys are numbers by which equal rows are known.
func RowKeys(x array.Rows) []uint64 {
	rows, cols := x.Shape()
	out, buffer := make([]uint64, rows), make([]float64, cols)
	for i := range out {
		out[i] = rowKey(x.Read(buffer, i))
	}
	return out
}

// rowKey is FNV-1a over the values' bits, a value at a time.
func rowKey(row []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range row {
		bits := math.Float64bits(v + 0) // -0 is 0
		h = (h ^ bits ^ bits>>29) * 1099511628211
		h ^= h >> 32
	}
	return h
}

// keysOf are the values to 21 bits, so that rounding in float32 makes no two of one.
func keysOf(x []float64) []uint64 {
	out := make([]uint64, len(x))
	for i, v := range x {
		out[i] = (math.Float64bits(v+0) + 1<<31) >> 32
	}
	return out
}

// tiedWithin is the reason of the pairs of one sample.
func tiedWithin(what string, keys []uint64) Reason {
	of, pairs, n := counts(keys), 0.0, float64(len(keys))
	for _, c := range of {
		pairs += float64(c) * float64(c-1)
	}
	return tied(what, len(keys), len(of), pairs/(n*(n-1)))
}

// tiedBetween is that of the pairs of a record of each of two samples.
func tiedBetween(what string, a, b []uint64) Reason {
	ofA, ofB, pairs := counts(a), counts(b), 0.0
	distinct := len(ofB)
	for k, c := range ofA {
		pairs += float64(c) * float64(ofB[k])
		if ofB[k] == 0 {
			distinct++
		}
	}
	return tied(what, len(a)+len(b), distinct, pairs/(float64(len(a))*float64(len(b))))
}

// tied judges how many values are distinct and what share of pairs are equal; a share of
// no pairs is NaN and no reason.
func tied(what string, records, distinct int, share float64) Reason {
	switch {
	case distinct < min(fewestValues, records/2):
		return Reason{CannotTell, fmt.Sprintf("%d records have %s distinct %s", records, number(distinct), what)}
	case share > mostPairs:
		return Reason{CannotTell, fmt.Sprintf("%.0f %% of the pairs of records have equal %s", 100*share, what)}
	}
	return Reason{}
}

func number(distinct int) string {
	if distinct == 1 {
		return "no two"
	}
	return fmt.Sprint("only ", distinct)
}

func counts(keys []uint64) map[uint64]int {
	out := map[uint64]int{}
	for _, k := range keys {
		out[k]++
	}
	return out
}

// Withheld is why a reading, or one that it is compared with, is no evidence; the reason
// of another than the first names its model.
func Withheld(m Reading, others ...Reading) Reason {
	why := m.withheld()
	for _, o := range others {
		if why.Call != "" {
			break
		}
		if why = o.withheld(); why.Call != "" {
			why.Why = o.Model + ": " + why.Why
		}
	}
	return why
}

// withheld is the reading's own reason: the lens's, or that there are too few records
// behind it, which holds of every lens.
func (r Reading) withheld() Reason {
	if r.NoEvidence.Call == "" && r.N > 0 {
		return Fewer(r.N, r.Over)
	}
	return r.NoEvidence
}

// firstOf is the first reason of several.
func firstOf(reasons ...Reason) Reason {
	for _, r := range reasons {
		if r.Call != "" {
			return r
		}
	}
	return Reason{}
}
