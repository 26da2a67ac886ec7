package audit_test

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
)

// TestTheReferenceModelsLossIsSubtracted has records whose difficulty hides the memory: a model fits
// each forgotten one a little better than the reference does.
func TestTheReferenceModelsLossIsSubtracted(t *testing.T) {
	m, reference := &audit.Arrays{Name: "unlearned", Role: audit.Unlearned}, &audit.Arrays{Name: "reference", Role: audit.Reference}
	e := &audit.Evidence{Records: 40, Models: []*audit.Arrays{m, reference}}
	for i := range e.Records {
		hard, better := float64(1+i%10), 0.01*float64(i/20)
		reference.Losses, m.Losses = append(reference.Losses, hard), append(m.Losses, hard-0.5+better+0.001*float64(i%10))
		if i < 20 {
			e.Forget = append(e.Forget, i)
		} else {
			e.HeldOut = append(e.HeldOut, i)
		}
	}
	r, err := audit.ReferenceModel{}.Read(e, m)
	if err != nil || r.Value != 1 {
		t.Errorf("%+v, %v: want 1", r, err)
	}
}
