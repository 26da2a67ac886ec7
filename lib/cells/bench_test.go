package cells

import (
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func BenchmarkNearest10k(b *testing.B) {
	x := array.Normal(rand.New(rand.NewPCG(1, 2)), 10_000, 30, 1)
	for b.Loop() {
		if _, err := NearestOthers(x, 15); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSimulation(b *testing.B) {
	for b.Loop() {
		if _, err := (Simulation{Cells: 2000, Genes: 2000}).Draw(b.Context(), rand.New(rand.NewPCG(1, 2))); err != nil {
			b.Fatal(err)
		}
	}
}
