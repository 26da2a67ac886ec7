package sde

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAKernelPairGivesTheClosedFormOfTheSplitHalf(t *testing.T) {
	for _, n := range []int{4, 5, 6, 9, 60, 131} {
		for _, b := range []Bandwidth{SqrtDim(), MedianDistance(), Fixed(128)} {
			m := random(uint64(n), n, 10, 1)
			d := splitHalfOf(t, m, Options{Bandwidth: b})
			k, err := NewKernelPair(m, b)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // nothing is used up
				mean, sd := k.Moments()
				if mean != d.ExactMean || sd != d.ExactSD {
					t.Errorf("%d rows, %s: mean %v, sd %v, want %v and %v", n, b, mean, sd, d.ExactMean, d.ExactSD)
				}
				checkClose(t, fmt.Sprintf("mean of %d rows, %s", n, b), k.Mean()/d.ExactMean, 1, 1e-12)
			}
		}
	}
}

func TestPermutedSumsAreOneChainPerRow(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 11, 34} {
		for _, draws := range []int{1, ordersPerTask, ordersPerTask + 3} {
			a, b := centred(random(1, n, 3, 1), 1.5, 1), centred(random(2, n, 2, 2), 1, 1)
			orders := permutations(n, draws, rand.New(rand.NewPCG(1, uint64(n))))
			var want []float64
			for _, p := range orders {
				total := 0.0
				for i := range n {
					row, s := b.Row(int(p[i])), 0.0
					for j := range i {
						s += float64(a.Row(i)[j] * row[p[j]])
					}
					total += 2*s + float64(a.Row(i)[i]*row[p[i]])
				}
				want = append(want, total)
			}
			for workers := range 3 {
				if got := permuted(&a, &b, orders, workers); !slices.Equal(got, want) {
					t.Errorf("n = %d, %d orders, %d workers: %v, want %v", n, draws, workers, got, want)
				}
			}
		}
	}
}
