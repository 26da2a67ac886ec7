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
	t.Run("has a calibrated null", func(t *testing.T) { checkNull(t, m) })
	t.Run("is the mean of its records", func(t *testing.T) {
		p := plantMemory(3)
		e, values, err := m.Measure(p.evidence(&p.original), ruler.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mean, err := stats.Mean(values)
		if err != nil || len(values) != forgotten || e.N != forgotten || math.Abs(mean-e.Value) > 1e-12 {
			t.Errorf("%d values with mean %v (%v) behind %+v", len(values), mean, err, *e)
		}
	})
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

// needsOracle reports whether the metric needs an oracle.
func needsOracle(m ruler.Metric) bool {
	p := plantMemory(1)
	e := p.evidence(&p.original)
	e.Oracle = nil
	_, _, err := m.Measure(e, ruler.Options{})
	return err != nil
}

func measure(t *testing.T, m ruler.Metric, e ruler.Evidence) stats.Estimate {
	t.Helper()
	got, _, err := m.Measure(e, ruler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !(got.Low <= got.Value && got.Value <= got.High) || (got.Null == nil) != (m.Null == nil) || m.Null != nil && *got.Null != *m.Null {
		t.Errorf("%+v", *got)
	}
	return *got
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

// checkNull measures independent models in which all records have the same distribution.
func checkNull(t *testing.T, m ruler.Metric) {
	if m.Null == nil {
		t.Skip("there is no null")
	}
	held, values := 0, make([]float64, simulations)
	for k := range simulations {
		rng := random(uint64(1000 + k))
		u, o, g := gaussian(rng, records, 1), gaussian(rng, records, 1), gaussian(rng, records, 1)
		forget, retain := split(rng)
		e := measure(t, m, ruler.Evidence{Unlearned: &u, Oracle: &o, Original: &g, Forget: forget, Retain: retain})
		if e.Low <= *m.Null && *m.Null <= e.High {
			held++
		}
		values[k] = e.Value
	}
	if share := float64(held) / simulations; share < 0.88 || share == 1 {
		t.Errorf("%.3f of the 95 %% intervals hold the null", share)
	}
	if e := stats.MeanInterval(values, 0.999, "simulations"); e.Low > *m.Null || e.High < *m.Null {
		t.Errorf("without a memory it is %v on average, [%v, %v], the null is %v", e.Value, e.Low, e.High, *m.Null)
	}
}

// row returns a row of the unlearned model's embeddings, which the caller may change.
func row(e *ruler.Evidence, i int) []float64 { return e.Unlearned.(*array.Matrix[float64]).Row(i) }

func checkRefused(t *testing.T, m ruler.Metric) {
	for _, c := range []struct {
		what    string
		corrupt func(e *ruler.Evidence)
		words   []string
	}{
		{"no model", func(e *ruler.Evidence) { e.Unlearned = nil }, []string{"unlearned", "missing"}},
		{"NaN", func(e *ruler.Evidence) { row(e, 3)[1] = math.NaN() }, []string{"unlearned", "row 3, column 1 is NaN"}},
		{"nothing to forget", func(e *ruler.Evidence) { e.Forget = nil }, []string{"forget set is empty"}},
		{"a row that is not there", func(e *ruler.Evidence) { e.Forget[2] = records }, []string{"forget[2]", "outside"}},
		{"a row twice", func(e *ruler.Evidence) { e.Forget[2] = e.Forget[0] }, []string{"forget[2]", "twice"}},
		{"a record without a direction", func(e *ruler.Evidence) { clear(row(e, e.Forget[1])) }, []string{"unlearned", "no direction"}},
	} {
		p := plantMemory(5)
		e := p.evidence(&p.original)
		c.corrupt(&e)
		_, _, err := m.Measure(e, ruler.Options{})
		conform.CheckRefused(t, c.what, err, c.words...)
	}
	if !needsOracle(m) {
		return
	}
	p := plantMemory(5)
	short := p.oracle.Gather(p.retain)
	e := p.evidence(&p.original)
	e.Oracle = &short
	_, _, err := m.Measure(e, ruler.Options{})
	conform.CheckRefused(t, "an oracle on other records", err, "oracle", "same record")
}
