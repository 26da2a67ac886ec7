// Benchmarks of the store.

package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// weights80KB is about what one of RULER's tabular models weighs.
func weights80KB() *safetensors.File {
	values := make([]float32, 20_000)
	for i := range values {
		values[i] = float32(i) / 7
	}
	return &safetensors.File{Tensors: []safetensors.Tensor{safetensors.FromFloat32("w", []int{200, 100}, values)}}
}

func writeTypical(_ context.Context, w *Work) error {
	if err := w.WriteTensors("weights.safetensors", weights80KB()); err != nil {
		return err
	}
	return w.WriteJSON("metrics.json", map[string]float64{"loss": 0.25})
}

func BenchmarkDoNewRun80KB(b *testing.B) {
	s, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		if _, err := s.Do(b.Context(), Key{Recipe: "bench", Config: n}, writeTypical); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDoHit80KB(b *testing.B) {
	for _, first := range []bool{true, false} {
		b.Run(fmt.Sprintf("firstInProcess=%v", first), func(b *testing.B) {
			s, err := Open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			key := Key{Recipe: "bench"}
			run, err := s.Do(b.Context(), key, writeTypical)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if first {
					s.verified.Delete(run.ID)
				}
				if _, err := s.Do(b.Context(), key, writeTypical); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSaveCheckpoint80KB(b *testing.B) {
	s, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	_, err = s.Do(b.Context(), Key{Recipe: "bench"}, func(_ context.Context, w *Work) error {
		for b.Loop() {
			if err := w.SaveCheckpoint(weights80KB(), 1); err != nil {
				return err
			}
		}
		return w.WriteJSON("x.json", 1)
	})
	if err != nil {
		b.Fatal(err)
	}
}
