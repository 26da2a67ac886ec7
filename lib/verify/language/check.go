package language

import (
	"errors"
	"fmt"
	"math"
)

// Check returns one list of all that is wrong, joined by errors.Join: lengths that do not match;
// offsets that do not begin at 0, decrease, or do not end where the tokens do; log-probabilities
// above 0, NaN or infinite; means above 0, NaN or infinite; deviations below 0, NaN or infinite.
// Faults of neighbouring tokens of a document make one line, with the first value, so that the list
// is complete and short. Where offsets are wrong, tokens have no document and are counted from the
// first. It accepts empty documents: what has no value for them refuses them.
//
// Another base of the logarithm is not an error but a suspicion: see Base.
func (t *Tokens) Check() error {
	if t == nil {
		return errors.New("the tokens are missing")
	}
	list := t.checkLengths()
	offsets := t.checkOffsets()
	list = append(list, offsets...)
	place := t.place
	if len(offsets) > 0 {
		place = func(token int) (int, int) { return -1, token }
	}
	list = append(list, faults("log-probability", t.LogProb, place, notLogarithm)...)
	list = append(list, faults("mean", t.Mean, place, notLogarithm)...)
	list = append(list, faults("deviation", t.Deviation, place, notDeviation)...)
	return errors.Join(list...)
}

func (t *Tokens) checkLengths() (list []error) {
	n := len(t.LogProb)
	if (t.Mean == nil) != (t.Deviation == nil) {
		list = append(list, errors.New("mean and deviation belong together: one of them is missing"))
	}
	if t.Mean != nil && len(t.Mean) != n {
		list = append(list, fmt.Errorf("%d means for %d log-probabilities", len(t.Mean), n))
	}
	if t.Deviation != nil && len(t.Deviation) != n {
		list = append(list, fmt.Errorf("%d deviations for %d log-probabilities", len(t.Deviation), n))
	}
	if t.Correct != nil && len(t.Correct) != n {
		list = append(list, fmt.Errorf("%d marks of correct tokens for %d log-probabilities", len(t.Correct), n))
	}
	return list
}

func (t *Tokens) checkOffsets() (list []error) {
	if len(t.Offset) == 0 {
		return []error{errors.New("there are no offsets: n documents have n+1")}
	}
	if t.Offset[0] != 0 {
		list = append(list, fmt.Errorf("offset 0 is %d, want 0", t.Offset[0]))
	}
	for i := 1; i < len(t.Offset); i++ {
		if t.Offset[i] < t.Offset[i-1] {
			list = append(list, fmt.Errorf("document %d: its end %d is before its begin %d", i-1, t.Offset[i], t.Offset[i-1]))
		}
	}
	if end := t.Offset[len(t.Offset)-1]; end != len(t.LogProb) {
		list = append(list, fmt.Errorf("the last offset is %d, and there are %d tokens", end, len(t.LogProb)))
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

// faults returns an error for each run of neighbouring tokens of a document with the same fault.
func faults(name string, values []float64, place func(token int) (document, position int), wrong func(float64) string) (list []error) {
	for i := 0; i < len(values); {
		what := wrong(values[i])
		if what == "" {
			i++
			continue
		}
		document, first := place(i)
		last, value := first, values[i]
		for i++; i < len(values) && wrong(values[i]) == what; i++ {
			d, p := place(i)
			if d != document {
				break
			}
			last = p
		}
		list = append(list, fmt.Errorf("%s: the %s is %s%s", where(document, first, last), name, what, withValue(what, value, first < last)))
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

// shown returns the value where the fault does not already say it.
func withValue(what string, value float64, several bool) string {
	if what == "NaN" {
		return ""
	}
	if several {
		return fmt.Sprintf(" (the first is %v)", value)
	}
	return fmt.Sprintf(" (%v)", value)
}
