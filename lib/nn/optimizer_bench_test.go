package nn

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkOptimizers makes steps on a large and many small tensors.
func BenchmarkOptimizers(b *testing.B) {
	p := Params{NewParam("large", 1000, 1000)}
	for range 50 {
		p = append(p, NewParam("small", 64))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	wide, narrow := make([][]float64, len(p)), make([][]float32, len(p))
	for i := range p {
		wide[i], narrow[i] = make([]float64, len(p[i].Data)), make([]float32, len(p[i].Data))
		for j := range wide[i] {
			narrow[i][j] = float32(rng.NormFloat64())
			wide[i][j] = float64(narrow[i][j])
		}
	}
	for _, o := range optimizers {
		b.Run(o.Name(), func(b *testing.B) {
			s := NewOptimizerState(o, p)
			for b.Loop() {
				if err := o.Step(p, wide, s, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		if single, ok := o.(Float32Optimizer); ok {
			b.Run(o.Name()+" in float32", func(b *testing.B) {
				s := NewOptimizerState(o, p)
				for b.Loop() {
					if err := single.StepFloat32(p, narrow, s, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
