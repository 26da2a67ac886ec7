// Tests of parallel.go.

package lab

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func TestTasksRunTogetherAsManyAsThereAreCores(t *testing.T) {
	l := newLab(t)
	first, second := errors.New("first"), errors.New("second")
	var now, most, done atomic.Int64
	task := func(err error) func(context.Context) error {
		return func(context.Context) error {
			defer now.Add(-1)
			for n := now.Add(1); n > most.Load(); {
				most.Store(n)
			}
			done.Add(1)
			return err
		}
	}
	err := l.RunParallel(t.Context(), task(nil), task(first), task(second), task(nil), task(nil))
	if !errors.Is(err, first) || errors.Is(err, second) {
		t.Errorf("the error is %v, want the first one", err)
	}
	if done.Load() != 5 || most.Load() > int64(l.Engine.Cores()) {
		t.Errorf("%d of 5 tasks ran, %d at a time on %d cores", done.Load(), most.Load(), l.Engine.Cores())
	}
	if err := l.RunParallel(t.Context()); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}

// deviceLab returns a lab on an engine whose trainings run side by side.
func deviceLab(t *testing.T) *Lab {
	t.Helper()
	e, err := enginetest.OpenDevice()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Lab{Engine: e, Store: s}
}

// TestShadowModelsSideBySideAreTheSameRuns trains and unlearns shadow models side by side and one by
// one: the runs have the same keys, and the weights agree to rounding.
func TestShadowModelsSideBySideAreTheSameRuns(t *testing.T) {
	s := smallSetting()
	s.Fit.Epochs, s.Fit.Batch = 3, 32
	methods := []unlearn.Method{unlearn.Retrain{}, unlearn.NegGrad{Epochs: 2}, unlearn.SCRUB{Epochs: 2}}
	apart, side := deviceLab(t), deviceLab(t)
	for _, c := range openShadowModels(t, apart, s, 4, false).Models {
		for _, m := range methods {
			if _, _, err := c.Weights(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	f := openShadowModels(t, side, s, 4, false)
	if err := f.Precompute(t.Context(), methods...); err != nil {
		t.Fatal(err)
	}
	// The key of an unlearning has the hash of the original's weights, which differ by rounding.
	if want, got := trainingRuns(t, apart), trainingRuns(t, side); len(want) != 8 || !slices.Equal(got, want) {
		t.Errorf("trained side by side %v, one by one %v", got, want)
	}
	for k, c := range openShadowModels(t, apart, s, 4, false).Models {
		for _, m := range methods {
			a, _, err := c.Weights(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			b, _, err := f.Models[k].Weights(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			start, off, way := c.InitialWeights(c.Fit.Seed), 0.0, 0.0
			for i := range a {
				for j, v := range a[i].Data {
					off += math.Abs(float64(v - b[i].Data[j]))
					way += math.Abs(float64(v - start[i].Data[j]))
				}
			}
			if !(off < 1e-3*way) || way == 0 {
				t.Errorf("model %d, %s: off by %g of the way from the initial weights", k, m.Info().Name, off/way)
			}
		}
	}
}

// trainingRuns returns the runs of trainings in a lab's store.
func trainingRuns(t *testing.T, l *Lab) (out []string) {
	t.Helper()
	all, err := l.Store.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if strings.Contains(e.Key.Recipe, "train") {
			out = append(out, e.ID)
		}
	}
	return out
}
