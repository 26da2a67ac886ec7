package sde

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkOTR is the protocol of the paper's tables 9 and 10 without the
// network: 100 subsets of a forget set of 5,000 records, 200 permutations. The
// paper reports 21.9, 57.7 and 168.3 s on an A5000.
func BenchmarkOTR(b *testing.B) {
	for _, c := range []struct{ size, dim int }{{1000, 512}, {2000, 512}, {2000, 8192}} {
		b.Run(fmt.Sprintf("%dx%d", c.size, c.dim), func(b *testing.B) {
			pool, err := NewPool("forget", random(1, 5000, c.dim, 1))
			if err != nil {
				b.Fatal(err)
			}
			in, out := random(2, c.size, c.dim, 1.05), random(3, c.size, c.dim, 1)
			subsets, err := DrawSubsets(5000, c.size, 100, rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				pool.all, pool.work = nil, 0 // what one run keeps must not serve the next
				if _, err := OTR(SDE{}, Targets{pool, subsets}, References{In: in, Out: out}, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkJudge is one target without a pool.
func BenchmarkJudge(b *testing.B) {
	for _, c := range []struct{ size, dim int }{{1000, 512}, {2000, 8192}} {
		b.Run(fmt.Sprintf("%dx%d", c.size, c.dim), func(b *testing.B) {
			target, in, out := random(1, c.size, c.dim, 1), random(2, c.size, c.dim, 1.05), random(3, c.size, c.dim, 1)
			for b.Loop() {
				if _, err := Judge(target, References{In: in, Out: out}, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMethods judges 20 subsets by every row of the table.
func BenchmarkMethods(b *testing.B) {
	pool, err := NewPool("forget", random(1, 2000, 512, 1))
	if err != nil {
		b.Fatal(err)
	}
	in, out := random(2, 1000, 512, 1.05), random(3, 1000, 512, 1)
	subsets, err := DrawSubsets(2000, 1000, 20, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range Methods() {
		b.Run(m.Name(), func(b *testing.B) {
			for b.Loop() {
				if _, err := JudgeSubsets(m, Targets{pool, subsets}, References{In: in, Out: out}, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
