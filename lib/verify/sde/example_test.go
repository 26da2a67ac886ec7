package sde_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// gaussian returns random activations, of no trained model.
func gaussian(rng *rand.Rand, rows, cols int, scale float64) *sde.Matrix {
	m := array.New[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = scale * rng.NormFloat64()
	}
	return &m
}

// The two references differ by 5 % in scale and by nothing else.
func ExampleJudge() {
	rng := rand.New(rand.NewPCG(1, 2))
	target := gaussian(rng, 400, 64, 1)
	in, out := gaussian(rng, 400, 64, 1.05), gaussian(rng, 400, 64, 1)
	r, err := sde.Judge(target, sde.References{In: in, Out: out}, sde.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict, "valid:", r.Gate.Valid)
	fmt.Printf("mean of 200 draws %.5f, exact %.5f\n", r.Target.Mean, r.Target.ExactMean)
	// Output:
	// out valid: true
	// mean of 200 draws 0.00198, exact 0.00198
}

func ExampleSplitHalf() {
	m := gaussian(rand.New(rand.NewPCG(1, 2)), 100, 8, 1)
	d, err := sde.SplitHalf(m, sde.Options{}, rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("exact mean %.6f = %.4f * %.4f / %d\n", d.ExactMean, d.Spread[0], d.Spread[1], d.N-1)
	// Output:
	// exact mean 0.007409 = 0.5868 * 0.6187 / 49
}

func ExampleIndependenceTest() {
	rng := rand.New(rand.NewPCG(1, 2))
	x := gaussian(rng, 50, 1, 1)
	y := array.New[float64](50, 1)
	for i, v := range x.Data {
		y.Data[i] = v * v // uncorrelated with x, but a function of it
	}
	r, err := sde.IndependenceTest(x, &y, sde.MedianDistance(), 199, rng)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("p =", r.P)
	// Output:
	// p = 0.005
}

func ExampleOTR() {
	rng := rand.New(rand.NewPCG(1, 2))
	in, out := gaussian(rng, 100, 16, 1.2), gaussian(rng, 100, 16, 1)
	pool, err := sde.NewPool("forget", gaussian(rng, 500, 16, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	subsets, err := sde.DrawSubsets(pool.Len(), 100, 20, rng)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}} {
		r, err := sde.OTR(m, sde.Targets{Pool: pool, Subsets: subsets}, sde.References{In: in, Out: out}, sde.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Name(), r.OTR)
	}
	// Output:
	// sde 1.0000 [0.8389, 1.0000] (95% over subsets, n = 20)
	// spread-only 1.0000 [0.8389, 1.0000] (95% over subsets, n = 20)
}

// Two judges of the same four sets; a tie is out.
func ExampleShareOut() {
	one := []sde.Verdict{sde.Out, sde.In, sde.Undecided, sde.In}
	other := []sde.Verdict{sde.Out, sde.In, sde.In, sde.In}
	same, err := sde.Agreement(one, other, "sets")
	fmt.Println(sde.ShareOut(one, "sets"))
	fmt.Println(same, err)
	// Output:
	// 0.5000 [0.1500, 0.8500] (95% over sets, n = 4)
	// 0.7500 [0.3006, 0.9544] (95% over sets, n = 4) <nil>
}

// The last row of an odd set belongs to no half.
func ExampleHalves() {
	first, second := sde.Halves(&sde.Matrix{Rows: 5, Cols: 1, Data: []float64{1, 2, 3, 4, 5}})
	fmt.Println(first.Data, second.Data)
	// Output: [1 2] [3 4]
}
