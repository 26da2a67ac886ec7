// The checks of a metric's input: element types, and nonsense.

package metrictest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// checkElementTypes measures the same numbers as float32 and float64, and as pointers.
func checkElementTypes(t *testing.T, m ruler.Metric) {
	e := independent(2002)
	as := func(change func(m array.Matrix[float32]) array.Rows) ruler.Evidence {
		out := e
		for _, role := range []*array.Rows{&out.Unlearned, &out.Oracle, &out.Original} {
			*role = change(array.Convert[float32](*(*role).(*array.Matrix[float64])))
		}
		return out
	}
	want := measure(t, m, as(func(m array.Matrix[float32]) array.Rows { return new(array.Convert[float64](m)) }))
	for _, change := range []func(m array.Matrix[float32]) array.Rows{
		func(m array.Matrix[float32]) array.Rows { return &m },
		func(m array.Matrix[float32]) array.Rows { return m },
		func(m array.Matrix[float32]) array.Rows { return array.Convert[float64](m) },
	} {
		given := as(change)
		got, _, err := call(m, given, ruler.Options{})
		switch {
		case err != nil:
			t.Errorf("embeddings of type %T: %v", given.Unlearned, err)
		case math.Abs(got.Value-want.Value) > 1e-9 || math.Abs(got.Low-want.Low) > 1e-9:
			t.Errorf("embeddings of type %T give %v [%v, %v], the same numbers as %T %v [%v, %v]",
				given.Unlearned, got.Value, got.Low, got.High, e.Unlearned, want.Value, want.Low, want.High)
		}
	}
}

// row returns a row of the unlearned model's embeddings, which the caller may change.
func row(e *ruler.Evidence, i int) []float64 { return e.Unlearned.(*array.Matrix[float64]).Row(i) }

// nonsense is a corruption of evidence. The error must hold one of the words of every entry.
type nonsense struct {
	what    string
	corrupt func(e *ruler.Evidence)
	words   [][]string
}

func checkRefused(t *testing.T, m ruler.Metric) {
	p := plantMemory(5)
	first, second := fmt.Sprint(p.forget[0]), fmt.Sprint(p.forget[1])
	all := []nonsense{
		{"no model", func(e *ruler.Evidence) { e.Unlearned = nil }, [][]string{{"unlearned"}}},
		{"NaN in row 37", func(e *ruler.Evidence) { row(e, 37)[1] = math.NaN() }, [][]string{{"unlearned"}, {"37"}}},
		{"nothing to forget", func(e *ruler.Evidence) { e.Forget = nil }, [][]string{{"forget"}}},
		{"row 999, which is not there, at position 2", func(e *ruler.Evidence) { e.Forget[2] = 999 }, [][]string{{"forget"}, {"2", "999"}}},
		{"a row at positions 0 and 2", func(e *ruler.Evidence) { e.Forget[2] = e.Forget[0] }, [][]string{{"forget"}, {"2", first}}},
		{"groups of 3 records", func(e *ruler.Evidence) { e.Groups, e.GroupUnit = []int{1, 2, 3}, "people" }, [][]string{{"group"}}},
	}
	if needsDirection(t, m) {
		all = append(all, nonsense{"a record of zeros", func(e *ruler.Evidence) { clear(row(e, e.Forget[1])) }, [][]string{{"unlearned"}, {second}}})
	}
	if needsOracle(m) {
		short := p.oracle.Gather(p.retain)
		all = append(all,
			nonsense{"no oracle", func(e *ruler.Evidence) { e.Oracle = nil }, [][]string{{"oracle"}}},
			nonsense{"an oracle on other records", func(e *ruler.Evidence) { e.Oracle = &short }, [][]string{{"oracle"}}})
	}
	for _, n := range all {
		p := plantMemory(5)
		e := p.evidence(&p.original)
		n.corrupt(&e)
		_, _, err := call(m, e, ruler.Options{})
		n.checkNamed(t, err)
	}
}

func (n nonsense) checkNamed(t *testing.T, err error) {
	t.Helper()
	var own panicked
	switch {
	case err == nil:
		t.Errorf("%s: accepted", n.what)
		return
	case errors.As(err, &own):
		t.Errorf("%s: %v", n.what, err)
		return
	}
	says := strings.ToLower(err.Error())
	for _, words := range n.words {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(says, w) }) {
			t.Errorf("%s: the error %q does not name it: expected %q", n.what, err, strings.Join(words, " or "))
		}
	}
}

// needsDirection reports whether the metric depends on the directions of embeddings alone, so that
// a row of zeros has no place in it.
func needsDirection(t *testing.T, m ruler.Metric) bool {
	t.Helper()
	e := independent(2003)
	before := measure(t, m, e)
	for k := range row(&e, e.Forget[1]) {
		row(&e, e.Forget[1])[k] *= 2
	}
	return math.Abs(measure(t, m, e).Value-before.Value) < 1e-12
}
