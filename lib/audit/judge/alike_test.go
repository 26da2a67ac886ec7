// Tests of verdicts where the sets, or a model and a retrained one, are alike or unlike by themselves.

package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// A model that was retrained from the initial weights of one of three retrained models is nearer to it than they are to each
// other. Nobody pushed its records away.
func TestARetrainedModelWithTheWeightsOfAnotherIsNotAccused(t *testing.T) {
	m := newFixture(41, 60, 200, 200)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	m.model(t, filepath.Join(dir, "retrained-3"), m.retained)
	for _, file := range []string{"outputs.npy", "embedding.npy"} {
		b, err := os.ReadFile(filepath.Join(dir, "retrained", file))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "unlearned", file), b, 0o644))
	}
	r := audited(t, dir)
	if v := r.verdict(t, "movement"); v.Call != audit.Forgotten {
		t.Errorf("movement says %s: %v, original %v, retrained %v", v.Call, v.Reading.Estimate, v.Original.Estimate, v.Retrained)
	}
	if a := r.Answer("unlearned"); a.Accuses() {
		t.Errorf("a retrained model is accused: %s", a)
	}
}

// forgottenClass writes a folder in which all records of class 0 are forgotten that any model met, and a model that never met
// the class is bad at it.
func forgottenClass(t *testing.T, shadows int) (m *fixture, dir string) {
	m, dir = newFixture(43, 70, 240, 200), t.TempDir()
	for i := range m.y {
		switch {
		case i < m.forget:
			m.y[i] = 0
		case i < m.forget+m.retain && m.y[i] == 0:
			m.y[i] = 1 + i%3
		}
	}
	m.write(t, dir, m.retained, shadows)
	for _, model := range []string{"original", "retrained-2", "retrained"} {
		must(t, os.RemoveAll(filepath.Join(dir, model)))
	}
	z, _ := m.trained(m.retained)
	for i, y := range m.y {
		if y == 0 {
			z.Row(i)[0] -= 12
		}
	}
	must(t, npy.Write(filepath.Join(dir, "unlearned", "outputs.npy"), z))
	return m, dir
}

// Labels alone show that a whole class was forgotten: a model that never met it treats its records unlike others, which gives no
// record away.
func TestAForgottenClassIsNotPushedAway(t *testing.T) {
	_, dir := forgottenClass(t, 0)
	r := audited(t, dir)
	if a := r.Answer("unlearned"); a.Accuses() {
		t.Errorf("a model that never met the class is accused: %s", a)
	}
	if v := r.verdict(t, "loss"); v.Call != audit.CannotTell || !strings.Contains(v.Why, "the sets differ by themselves") {
		t.Errorf("loss says %s, %q at %v", v.Call, v.Why, v.Reading.Estimate)
	}
	if !r.Inputs.ByClasses || !strings.Contains(pageOf(t, r), "the classes alone") {
		t.Errorf("the report does not say that the classes tell the sets apart: %+v", r.Inputs)
	}
}

// Where forgotten and held-out records have the same classes, labels say nothing, and what inputs would say stays open.
func TestClassesThatAreAlikeSayNothing(t *testing.T) {
	for seed := range uint64(20) {
		m, dir := newFixture(seed, 60, 100, 150), t.TempDir()
		m.write(t, dir, m.retained, 0)
		e, err := Open(dir)
		must(t, err)
		if c := e.checkInputs(); c.Blind != nil || c.BlindWhy != inputFiles {
			t.Errorf("seed %d: %+v", seed, c.Blind)
		}
	}
}

// Shadow models that have not met a record know its class from others, and a model that never had the class does not: the null
// of online LiRA does not hold for a class that is gone, and holds where some of its records are retained.
func TestLiRAsNullDoesNotHoldForAClassThatIsGone(t *testing.T) {
	m, dir := forgottenClass(t, 16)
	if v := audited(t, dir).verdict(t, "lira"); v.Call != audit.CannotTell || !strings.Contains(v.Why, "no record of the forgotten classes is retained") {
		t.Errorf("lira says %s, %q at %v", v.Call, v.Why, v.Reading.Estimate)
	}
	m.y[m.forget] = 0
	must(t, npy.WriteIndices(filepath.Join(dir, "labels.npy"), m.y))
	if v := audited(t, dir).verdict(t, "lira"); strings.Contains(v.Why, "no record of the forgotten classes") {
		t.Errorf("with a retained record of the class lira says %q", v.Why)
	}
}
