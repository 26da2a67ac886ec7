package judge

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
)

func TestKnownTruthsComeOut(t *testing.T) {
	m := newMade(1, 150, 400, 300)
	for want, unlearned := range map[audit.Call]func(int) bool{audit.Remembered: m.all, audit.Forgotten: m.retained} {
		dir := t.TempDir()
		m.write(t, dir, unlearned, 0)
		r := audited(t, dir)
		for _, v := range r.Verdicts {
			if v.Call != want {
				t.Errorf("%s: %s, want %s: %v, original %v, retrained %v", v.Name(), v.Call, want, v.Reading.Estimate, v.Original.Estimate, v.Retrained[0].Estimate)
			}
		}
	}
}
