package judge

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
)

// fixture is a table of records and how models treat them: a record that a model was
// trained on is fitted better and lies nearer to its class in the embedding.
type fixture struct {
	forget, retain, heldOut int
	memory                  float64 // what training adds to the margin of a record
	rng                     *rand.Rand
	y                       []int
	hard                    []float64
	base, own               array.Matrix[float32]
}

const (
	fixtureClasses = 4
	fixtureWidth   = 6
)

func newFixture(seed uint64, forget, retain, heldOut int) *fixture {
	rng := rand.New(rand.NewPCG(seed, 1))
	n := forget + retain + heldOut
	m := &fixture{forget: forget, retain: retain, heldOut: heldOut, memory: 2, rng: rng,
		base: array.New[float32](n, fixtureWidth), own: array.New[float32](n, fixtureWidth)}
	for i := range n {
		y := rng.IntN(fixtureClasses)
		m.y, m.hard = append(m.y, y), append(m.hard, rng.NormFloat64())
		for j := range fixtureWidth {
			m.base.Row(i)[j], m.own.Row(i)[j] = float32(0.3*rng.NormFloat64()), float32(0.6*rng.NormFloat64())
		}
		m.base.Row(i)[y] += 2
	}
	return m
}

// sets returns the rows of forget, retain and held-out records.
func (m *fixture) sets() (forget, retain, heldOut []int) {
	for i := range m.y {
		switch {
		case i < m.forget:
			forget = append(forget, i)
		case i < m.forget+m.retain:
			retain = append(retain, i)
		default:
			heldOut = append(heldOut, i)
		}
	}
	return forget, retain, heldOut
}

// trained draws what a model says that was trained on the records for which in holds.
func (m *fixture) trained(in func(i int) bool) (logits, embedding array.Matrix[float32]) {
	logits, embedding = array.New[float32](len(m.y), fixtureClasses), array.New[float32](len(m.y), fixtureWidth)
	for i, y := range m.y {
		for c := range fixtureClasses {
			logits.Row(i)[c] = float32(0.5 * m.rng.NormFloat64())
		}
		logits.Row(i)[y] += float32(2 + m.hard[i])
		copy(embedding.Row(i), m.base.Row(i))
		if in(i) {
			logits.Row(i)[y] += float32(m.memory)
		}
		for j := range fixtureWidth {
			if !in(i) {
				embedding.Row(i)[j] += m.own.Row(i)[j]
			}
			embedding.Row(i)[j] += float32(0.05 * m.rng.NormFloat64())
		}
	}
	return logits, embedding
}

func (m *fixture) all(i int) bool      { return i < m.forget+m.retain }
func (m *fixture) retained(i int) bool { return i >= m.forget && i < m.forget+m.retain }

// write writes a folder in which the unlearned model is what in says.
func (m *fixture) write(t testing.TB, dir string, unlearned func(i int) bool, shadows int) {
	t.Helper()
	forget, retain, heldOut := m.sets()
	for name, rows := range map[string][]int{"labels": m.y, "forget": forget, "retain": retain, "heldout": heldOut} {
		must(t, npy.WriteIndices(filepath.Join(dir, name+".npy"), rows))
	}
	for _, one := range []struct {
		name string
		in   func(i int) bool
	}{{"original", m.all}, {"retrained", m.retained}, {"retrained-2", m.retained}, {"unlearned", unlearned}} {
		m.model(t, filepath.Join(dir, one.name), one.in)
	}
	for k := range shadows {
		in := make([]bool, len(m.y))
		var rows []int
		for i := range in {
			if in[i] = m.assignShadows(i) && m.rng.IntN(2) == 0; in[i] {
				rows = append(rows, i)
			}
		}
		if len(rows) == 0 {
			in[0], rows = true, []int{0}
		}
		folder := filepath.Join(dir, "shadow-"+string(rune('a'+k/26))+string(rune('a'+k%26)))
		m.model(t, folder, func(i int) bool { return in[i] })
		must(t, npy.WriteIndices(filepath.Join(folder, "in.npy"), rows))
	}
}

func (m *fixture) model(t testing.TB, folder string, in func(i int) bool) {
	t.Helper()
	must(t, os.MkdirAll(folder, 0o755))
	z, e := m.trained(in)
	must(t, npy.Write(filepath.Join(folder, "outputs.npy"), z))
	must(t, npy.Write(filepath.Join(folder, "embedding.npy"), e))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// audited opens and judges a folder.
func audited(t testing.TB, dir string) *Report {
	t.Helper()
	e, err := Open(dir)
	must(t, err)
	r, err := e.Report(t.Context())
	must(t, err)
	return r
}

// verdict returns the verdict of a lens.
func (r *Report) verdict(t testing.TB, name string) Verdict {
	t.Helper()
	k := slices.IndexFunc(r.Verdicts, func(v Verdict) bool { return v.Name() == name })
	if k < 0 {
		var why []string
		for _, u := range r.Skipped {
			why = append(why, u.Lens.Name()+": "+u.Why)
		}
		t.Fatalf("no verdict of %q; not made: %s", name, strings.Join(why, "; "))
	}
	return r.Verdicts[k]
}
