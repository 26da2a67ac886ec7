package language

import (
	"errors"
	"fmt"
	"math"
)

// Fault is one thing that is wrong with tokens.
type Fault struct {
	Array TokenArray // in which
	What  string
}

// TokenArray names one of the arrays of Tokens.
type TokenArray string

// The arrays.
const (
	OffsetArray    TokenArray = "offset"
	LogProbArray   TokenArray = "log-probability"
	MeanArray      TokenArray = "mean"
	DeviationArray TokenArray = "deviation"
	CorrectArray   TokenArray = "correct"
)

// Error implements error.
func (f Fault) Error() string { return f.What }

// Check returns one list of all that is wrong, joined by errors.Join: lengths that do not match;
// offsets that do not begin at 0, decrease, or do not end where the tokens do; log-probabilities
// above 0, NaN or infinite, or 0 of a token that is not the most probable; means above 0, NaN or infinite; deviations below 0,
// NaN or infinite.
// Faults of neighbouring tokens of a document make one line, with the first value, so that the list
// is complete and short. Where offsets are wrong, tokens have no document and are counted from the
// first. It accepts empty documents: what has no value for them refuses them.
//
// Another base of the logarithm is not an error but a suspicion: see Base.
func (t *Tokens) Check() error {
	if t == nil {
		return errors.New("the tokens are missing")
	}
	var list []error
	for _, f := range t.Faults() {
		list = append(list, f)
	}
	return errors.Join(list...)
}

// Faults is Check as a list, in which every fault names its array. t is not nil.
func (t *Tokens) Faults() []Fault {
	list := t.checkLengths()
	offsets := t.checkOffsets()
	list = append(list, offsets...)
	place := t.place
	if len(offsets) > 0 {
		place = func(token int) (int, int) { return -1, token }
	}
	list = append(list, faults(LogProbArray, t.LogProb, place, func(token int) string {
		// As masked places have it: a token that is not the most probable has at most 1/2.
		if t.LogProb[token] == 0 && len(t.Correct) == len(t.LogProb) && !t.Correct[token] {
			return "that of certainty, and the token is marked as not the most probable: is its place masked?"
		}
		return notLogarithm(t.LogProb[token])
	})...)
	list = append(list, faults(MeanArray, t.Mean, place, func(token int) string { return notLogarithm(t.Mean[token]) })...)
	return append(list, faults(DeviationArray, t.Deviation, place, func(token int) string { return notDeviation(t.Deviation[token]) })...)
}

func faultf(a TokenArray, format string, args ...any) Fault {
	return Fault{a, fmt.Sprintf(format, args...)}
}

func (t *Tokens) checkLengths() (list []Fault) {
	n := len(t.LogProb)
	if (t.Mean == nil) != (t.Deviation == nil) {
		list = append(list, faultf(MeanArray, "mean and deviation belong together: one of them is missing"))
	}
	if t.Mean != nil && len(t.Mean) != n {
		list = append(list, faultf(MeanArray, "%d means for %d log-probabilities", len(t.Mean), n))
	}
	if t.Deviation != nil && len(t.Deviation) != n {
		list = append(list, faultf(DeviationArray, "%d deviations for %d log-probabilities", len(t.Deviation), n))
	}
	if t.Correct != nil && len(t.Correct) != n {
		list = append(list, faultf(CorrectArray, "%d marks of correct tokens for %d log-probabilities", len(t.Correct), n))
	}
	return list
}

func (t *Tokens) checkOffsets() (list []Fault) {
	if len(t.Offset) == 0 {
		return []Fault{faultf(OffsetArray, "there are no offsets: n documents have n+1")}
	}
	if t.Offset[0] != 0 {
		list = append(list, faultf(OffsetArray, "offset 0 is %d, want 0", t.Offset[0]))
	}
	for i := 1; i < len(t.Offset); i++ {
		if t.Offset[i] < t.Offset[i-1] {
			list = append(list, faultf(OffsetArray, "document %d: its end %d is before its begin %d", i-1, t.Offset[i], t.Offset[i-1]))
		}
	}
	if end := t.Offset[len(t.Offset)-1]; end != len(t.LogProb) {
		list = append(list, faultf(LogProbArray, "the last offset is %d, and there are %d tokens", end, len(t.LogProb)))
	}
	return list
}

// place returns the document of a token and its position there. Offsets are right.
func (t *Tokens) place(token int) (document, position int) {
	low, high := 0, t.Documents()-1
	for low < high {
		middle := (low + high) / 2
		if token < t.Offset[middle+1] {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, token - t.Offset[low]
}

// notLogarithm says what is wrong with the logarithm of a probability.
func notLogarithm(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return "infinite"
	case v > 0:
		return "above 0"
	}
	return ""
}

// notDeviation says what is wrong with a standard deviation.
func notDeviation(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return "infinite"
	case v < 0:
		return "below 0"
	}
	return ""
}

// faults returns one for each run of neighbouring tokens of a document with the same fault.
func faults(a TokenArray, values []float64, place func(token int) (document, position int), wrong func(token int) string) (list []Fault) {
	for i := 0; i < len(values); {
		what := wrong(i)
		if what == "" {
			i++
			continue
		}
		document, first := place(i)
		last, value := first, values[i]
		for i++; i < len(values) && wrong(i) == what; i++ {
			d, p := place(i)
			if d != document {
				break
			}
			last = p
		}
		list = append(list, faultf(a, "%s: the %s is %s%s", where(document, first, last), a, what, withValue(what, value, first < last)))
	}
	return list
}

func where(document, first, last int) string {
	in := ""
	if document >= 0 {
		in = fmt.Sprintf("document %d, ", document)
	}
	if first == last {
		return fmt.Sprintf("%stoken %d", in, first)
	}
	return fmt.Sprintf("%stokens %d to %d", in, first, last)
}

// withValue returns the value where the fault does not already say it.
func withValue(what string, value float64, several bool) string {
	if what == "NaN" {
		return ""
	}
	if several {
		return fmt.Sprintf(" (the first is %v)", value)
	}
	return fmt.Sprintf(" (%v)", value)
}
