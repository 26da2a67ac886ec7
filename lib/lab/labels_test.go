package lab_test

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Two variants of one label would be one row with the models of both.
func TestVariantsOfOneLabelAreRefused(t *testing.T) {
	one, other := lab.Variant{Label: "mine", Method: unlearn.SCRUB{}}, lab.Variant{Label: "mine", Method: unlearn.NegGrad{}}
	if err := lab.CheckLabels([]lab.Variant{one, other}); err == nil || !strings.Contains(err.Error(), `two variants are called "mine"`) {
		t.Error(err)
	}
	other.Label = "other"
	if err := lab.CheckLabels([]lab.Variant{one, other}); err != nil {
		t.Error(err)
	}
}
