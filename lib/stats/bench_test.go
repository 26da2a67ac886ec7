package stats

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkAUC200k(b *testing.B) {
	rng := newRNG(1)
	pos, neg := normals(rng, 100_000, 0.1), normals(rng, 100_000, 0)
	for b.Loop() {
		if _, err := AUC(pos, neg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDeLong200k(b *testing.B) {
	rng := newRNG(1)
	pos, neg := normals(rng, 100_000, 0.1), normals(rng, 100_000, 0)
	for b.Loop() {
		if _, err := DeLong(pos, neg, 0.95); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAdvantageInterval(b *testing.B) {
	rng := newRNG(1)
	pos, neg := normals(rng, 500, 0.1), normals(rng, 500, 0)
	for b.Loop() {
		if _, err := AdvantageInterval(pos, neg, 0.95, 1000, rng); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRandomIntercept(b *testing.B) {
	y, g := simulateGroups(newRNG(1), 10, 10, 1, 1)
	for name, n := range map[string]int{"balanced": 100, "unbalanced": 97} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := RandomIntercept(y[:n], g[:n], 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkExactChanceFloor(b *testing.B) {
	for b.Loop() {
		ChanceFloor(20, 10_000)
	}
}

func BenchmarkBootstrapOfAMean(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := normals(rng, 1000, 0)
	for b.Loop() {
		Bootstrap(1000, 1000, rng, meanAt(x))
	}
}
