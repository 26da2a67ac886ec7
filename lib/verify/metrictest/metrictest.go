// Package metrictest is the conformance suite of verification metrics. A metric of your own passes
// it with one line in a test:
//
//	func TestMine(t *testing.T) { metrictest.Run(t, mine) }
//
// There are three suites: Run (metrics on embeddings and an oracle), RunMethod (methods that
// compare a set with two references) and RunEnsemble (distances between ensembles). Each plants a
// memory in plain arrays and checks what the project relies on: the original is read as remembering
// and the oracle is not; exchanged roles change the answer; the null is calibrated; inputs are not
// changed; malformed input is refused by name.
//
// Run also checks that a model that forgot is better, by the direction of the estimate, than one
// that did not; that the intervals of records drawn anew hold what the metric is on average, at the
// level that was asked for; that records of a group count once, in the estimate's Over and N too, and
// that one group has no interval; and that float32, float64 and pointers to them give the same.
//
// An error of a metric (Run) must name the faulty thing, in small or capital letters. ruler's
// Evidence.Check says all of it:
//
//	a model that is missing or has another shape  its role: "unlearned", "oracle"
//	an element that is NaN                        "unlearned" and the number of the row
//	no forget records                             "forget"
//	a row number that is outside, or there twice  "forget" and its position in the list, or the number itself
//	a row of zeros, which has no direction        "unlearned" and the number of the row; only of a metric that
//	                                              does not change if a row is multiplied by 2
//	groups of another number of records           "group"
package metrictest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// The sizes of the planted cases and the number of simulations without a memory.
const (
	records, forgotten, width = 240, 40, 8
	simulations               = 150
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x3e7)) }

func gaussian(rng *rand.Rand, rows int, sd float64) array.Matrix[float64] {
	m := array.New[float64](rows, width)
	for i := range m.Data {
		m.Data[i] = sd * rng.NormFloat64()
	}
	return m
}

// split divides the records into those to forget and the others.
func split(rng *rand.Rand) (forget, retain []int) {
	rows := rng.Perm(records)
	slices.Sort(rows[:forgotten])
	slices.Sort(rows[forgotten:])
	return rows[:forgotten], rows[forgotten:]
}

// planted holds embeddings of an original that remembers and of an oracle that never saw the forget
// records. The oracle treats all records alike. In the original the forget records are in the
// centre of the retained ones: away from where the oracle has them, and closer to retained records
// than these are to each other.
type planted struct {
	original, oracle array.Matrix[float64]
	forget, retain   []int
}

func plantMemory(seed uint64) planted {
	rng := random(seed)
	var p planted
	p.forget, p.retain = split(rng)
	p.oracle = gaussian(rng, records, 1)
	for i := range records {
		p.oracle.Row(i)[0] += 2
	}
	p.original = array.New[float64](records, width)
	for i, v := range p.oracle.Data {
		p.original.Data[i] = v + 0.1*rng.NormFloat64()
	}
	for _, i := range p.forget {
		row := p.original.Row(i)
		for k := range row {
			row[k] = 0.2 * rng.NormFloat64()
		}
		row[0] += 2
	}
	return p
}

// evidence returns the evidence of a model with the planted oracle and original.
func (p planted) evidence(model *array.Matrix[float64]) ruler.Evidence {
	return ruler.Evidence{Unlearned: model, Oracle: &p.oracle, Original: &p.original, Forget: p.forget, Retain: p.retain}
}

// Run runs the suite on a metric.
func Run(t *testing.T, m ruler.Metric) {
	t.Helper()
	t.Run("has a name", func(t *testing.T) {
		conform.CheckName(t, m.Name, m.About)
		if m.Memory != -1 && m.Memory != 1 {
			t.Errorf("memory is on side %d, expected -1 or 1", m.Memory)
		}
	})
	if !t.Run("gives an estimate", func(t *testing.T) { checkEstimate(t, m) }) {
		return // there is nothing to check
	}
	t.Run("reads a memory in the original and none in the oracle", func(t *testing.T) {
		p := plantMemory(1)
		checkSeparated(t, m, measure(t, m, p.evidence(&p.original)), measure(t, m, p.evidence(&p.oracle)))
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		p := plantMemory(2)
		x := p
		if needsOracle(m) {
			x.original, x.oracle = p.oracle, p.original
		} else {
			x.forget, x.retain = p.retain, p.forget
		}
		// What was read as the original's is now the oracle's.
		checkSeparated(t, m, measure(t, m, x.evidence(&p.oracle)), measure(t, m, x.evidence(&p.original)))
	})
	t.Run("calls a model that forgot better", func(t *testing.T) { checkDirection(t, m) })
	t.Run("has a calibrated null", func(t *testing.T) { checkNull(t, m) })
	t.Run("has intervals of the level asked for", func(t *testing.T) { checkLevels(t, m) })
	t.Run("counts groups once", func(t *testing.T) { checkGroups(t, m) })
	t.Run("reads float32 and float64", func(t *testing.T) { checkElementTypes(t, m) })
	t.Run("is the mean of its records", func(t *testing.T) { checkValues(t, m) })
	t.Run("leaves the evidence alone", func(t *testing.T) {
		p := plantMemory(4)
		before := fmt.Sprint(p)
		first := measure(t, m, p.evidence(&p.original))
		if fmt.Sprint(p) != before {
			t.Error("the metric wrote to the evidence")
		}
		if again := measure(t, m, p.evidence(&p.original)); again.Value != first.Value || again.Low != first.Low {
			t.Errorf("the same evidence gives %v and %v", first, again)
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) { checkRefused(t, m) })
}

// call measures. An error says so if the metric panics, or returns neither an estimate nor an error.
func call(m ruler.Metric, e ruler.Evidence, opt ruler.Options) (got *stats.Estimate, values []float64, err error) {
	if m.Measure == nil {
		return nil, nil, fmt.Errorf("the function Measure of %s is nil", m.Name)
	}
	defer func() {
		if p := recover(); p != nil {
			got, values, err = nil, nil, panicked{fmt.Errorf("the function Measure of %s panics: %v", m.Name, p)}
		}
	}()
	got, values, err = m.Measure(e, opt)
	if err == nil && got == nil {
		err = panicked{fmt.Errorf("the function Measure of %s returns no estimate and no error (nil, nil)", m.Name)}
	}
	return got, values, err
}

// panicked is an error of the suite, which is no refusal by the metric.
type panicked struct{ error }

// needsOracle reports whether the metric needs an oracle.
func needsOracle(m ruler.Metric) bool {
	p := plantMemory(1)
	e := p.evidence(&p.original)
	e.Oracle = nil
	_, _, err := call(m, e, ruler.Options{})
	return err != nil
}

func measure(t *testing.T, m ruler.Metric, e ruler.Evidence) stats.Estimate {
	t.Helper()
	return measureWith(t, m, e, ruler.Options{})
}

func measureWith(t *testing.T, m ruler.Metric, e ruler.Evidence, opt ruler.Options) stats.Estimate {
	t.Helper()
	got, _, err := call(m, e, opt)
	if err != nil {
		t.Fatal(err)
	}
	return *got
}

// checkEstimate checks the fields of one estimate that every other check relies on.
func checkEstimate(t *testing.T, m ruler.Metric) {
	p := plantMemory(1)
	got := measure(t, m, p.evidence(&p.original))
	if !(got.Low <= got.Value && got.Value <= got.High) {
		t.Errorf("the value %v is not in its interval [%v, %v]", got.Value, got.Low, got.High)
	}
	if (got.Null == nil) != (m.Null == nil) || m.Null != nil && *got.Null != *m.Null {
		t.Errorf("the null of the estimate is %s, that of the metric %s", text(got.Null), text(m.Null))
	}
	if got.Over == "" {
		t.Error("Over is empty: it says what the interval is over, such as \"records\"")
	}
	switch got.Better {
	case stats.HigherIsBetter, stats.LowerIsBetter:
	case stats.NearNull:
		if got.Null == nil {
			t.Errorf("Better is %q, and there is no null", got.Better)
		}
	default:
		t.Errorf("Better is %q, expected %q, %q or %q", got.Better, stats.HigherIsBetter, stats.LowerIsBetter, stats.NearNull)
	}
}

func text(v *float64) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprint(*v)
}

func checkValues(t *testing.T, m ruler.Metric) {
	p := plantMemory(3)
	e, values, err := call(m, p.evidence(&p.original), ruler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean, err := stats.Mean(values)
	if err != nil || len(values) != forgotten || e.N != forgotten || math.Abs(mean-e.Value) > 1e-12 {
		t.Errorf("%d values with mean %v (%v) of %d forget records behind the value %v with N = %d", len(values), mean, err, forgotten, e.Value, e.N)
	}
}

// checkSeparated checks that the original lies on memory's side of the oracle, with disjoint
// intervals.
func checkSeparated(t *testing.T, m ruler.Metric, original, oracle stats.Estimate) {
	t.Helper()
	if m.Memory < 0 && original.High < oracle.Low || m.Memory > 0 && original.Low > oracle.High {
		return
	}
	t.Errorf("original %.3f [%.3f, %.3f], oracle %.3f [%.3f, %.3f], memory on side %d",
		original.Value, original.Low, original.High, oracle.Value, oracle.Low, oracle.High, m.Memory)
}

// checkDirection compares the original with a model that forgot: close to the oracle, as one that
// was retrained with another seed.
func checkDirection(t *testing.T, m ruler.Metric) {
	p := plantMemory(6)
	rng, other := random(7), p.oracle.Gather(order(records))
	for i := range other.Data {
		other.Data[i] += 0.1 * rng.NormFloat64()
	}
	forgot, remembers := measure(t, m, p.evidence(&other)), measure(t, m, p.evidence(&p.original))
	better := false
	switch forgot.Better {
	case stats.HigherIsBetter:
		better = forgot.Value > remembers.Value
	case stats.LowerIsBetter:
		better = forgot.Value < remembers.Value
	case stats.NearNull:
		better = math.Abs(forgot.Value-*forgot.Null) < math.Abs(remembers.Value-*remembers.Null)
	}
	if !better {
		t.Errorf("Better is %q, by which a model that forgot, %.3f, is no better than one that did not, %.3f", forgot.Better, forgot.Value, remembers.Value)
	}
}

// order returns 0 to n-1.
func order(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
