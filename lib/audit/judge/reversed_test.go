package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
)

// Probabilities in place of losses make what is remembered look pushed away: a doubt, unless another set shows that they are losses.
func TestReversedLossesAreDoubted(t *testing.T) {
	evidence := func(forget, retain, heldOut float64) *Evidence {
		e := &Evidence{Evidence: audit.Evidence{Records: 120}}
		m := &Model{Name: "unlearned", Role: Unlearned}
		for i := range 120 {
			base := []float64{forget, retain, heldOut}[i/40]
			m.Losses = append(m.Losses, base+0.001*float64(i%40))
			switch i / 40 {
			case 0:
				e.Forget = append(e.Forget, i)
			case 1:
				e.Retain = append(e.Retain, i)
			default:
				e.HeldOut = append(e.HeldOut, i)
			}
		}
		e.Models = []*Model{m}
		return e
	}
	for name, c := range map[string]struct {
		forget, retain, heldOut float64
		doubt                   bool
	}{
		"probabilities":                    {0.8, 0.9, 0.4, true},
		"losses of records pushed away":    {0.8, 0.1, 0.4, false},
		"losses of remembered records":     {0.1, 0.1, 0.4, false},
		"log-likelihoods":                  {-0.1, -0.1, -0.9, true},
		"losses of a density, all below 0": {-0.1, -0.9, -0.4, false},
	} {
		e := evidence(c.forget, c.retain, c.heldOut)
		e.doubtReversedLosses()
		if got := e.doubtOf("unlearned"); (got != "") != c.doubt {
			t.Errorf("%s: doubt %q", name, got)
		}
	}
}

// A retrained model that is the audited one again clears it, so that it is doubted.
func TestARetrainedModelThatIsTheAuditedOneIsDoubted(t *testing.T) {
	var losses, single []float64
	for i := range 60 {
		losses = append(losses, 0.01*float64(i+1)+1.0/3)
		single = append(single, float64(float32(losses[i])))
	}
	other := slices.Clone(losses)
	slices.Reverse(other)
	for name, c := range map[string]struct {
		retrained []float64
		doubt     bool
	}{"in single precision": {single, true}, "another model": {other, false}} {
		e := &Evidence{Evidence: audit.Evidence{Records: 60}}
		e.Models = []*Model{{Name: "unlearned", Role: Unlearned, Losses: losses}, {Name: "retrained-1", Role: Retrained, Losses: c.retrained}}
		e.warnAuditedAgain()
		noted := strings.Contains(strings.Join(e.Notes, " "), "retrained-1 has the losses of unlearned")
		if got := e.doubtOf("unlearned") != ""; got != c.doubt || noted != c.doubt {
			t.Errorf("%s: doubt %t, noted %t", name, got, noted)
		}
	}
}

func TestCheckpointsAreInTheOrderOfTheirNumbers(t *testing.T) {
	names := []string{"checkpoint-10", "checkpoint-1.5", "checkpoint-2", "checkpoint-0.5", "checkpoint-1", "checkpoint"}
	slices.SortFunc(names, compareNatural)
	if got := strings.Join(names, " "); got != "checkpoint checkpoint-0.5 checkpoint-1 checkpoint-1.5 checkpoint-2 checkpoint-10" {
		t.Error(got)
	}
}
