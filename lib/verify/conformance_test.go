package verify_test

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/verify"
	"github.com/lethe-ml/lethe/lib/verify/ensemble"
	"github.com/lethe-ml/lethe/lib/verify/metrictest"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

func TestEveryMetricConforms(t *testing.T) {
	names := map[string]bool{}
	for _, m := range verify.All() {
		if names[m.Name] {
			t.Errorf("two metrics are called %s", m.Name)
		}
		names[m.Name] = true
	}
	for _, m := range ruler.Metrics() {
		t.Run("ruler/"+m.Name, func(t *testing.T) { metrictest.Run(t, m) })
	}
	for _, d := range ensemble.Distances() {
		t.Run("ensemble/"+d.Name(), func(t *testing.T) { metrictest.RunEnsemble(t, d) })
	}
	for _, m := range sde.Methods() {
		t.Run("sde/"+m.Name(), func(t *testing.T) { metrictest.RunMethod(t, m) })
	}
}
