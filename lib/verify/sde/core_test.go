package sde

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func random(seed uint64, n, p int, scale float64) *Matrix {
	rng, m := rand.New(rand.NewPCG(seed, 9)), array.New[float64](n, p)
	for i := range m.Data {
		m.Data[i] = scale * rng.NormFloat64()
	}
	return &m
}

func sorted(x []float64) []float64 { return slices.Sorted(slices.Values(x)) }

func checkClose(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g", name, got, want)
	}
}

// everyOrder calls use with all n! orders.
func everyOrder(n int, use func(p []int)) {
	p, used := make([]int, n), make([]bool, n)
	var place func(k int)
	place = func(k int) {
		if k == n {
			use(p)
			return
		}
		for v := range n {
			if !used[v] {
				used[v], p[k] = true, v
				place(k + 1)
				used[v] = false
			}
		}
	}
	place(0)
}

// rowsOf returns rows from ... to-1 without copying.
func rowsOf(m *Matrix, from, to int) *Matrix {
	return &Matrix{Rows: to - from, Cols: m.Cols, Data: m.Data[from*m.Cols : to*m.Cols]}
}

func splitHalfOf(t *testing.T, m *Matrix, opt Options) *Distribution {
	t.Helper()
	d, err := SplitHalf(m, opt, opt.stream(1))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMomentsEqualTheEnumerationOfAllPermutations(t *testing.T) {
	for n := 2; n <= 7; n++ {
		a, b := centred(random(1, n, 3, 1), 1.5, 1), centred(random(2, n, 2, 2), 1, 1)
		var sum, squares, count float64
		everyOrder(n, func(p []int) {
			h := 0.0
			for i := range n {
				for j := range n {
					h += a.Data[i*n+j] * b.Data[p[i]*n+p[j]]
				}
			}
			h /= float64((n - 1) * (n - 1))
			sum, squares, count = sum+h, squares+h*h, count+1
		})
		mean, sd := moments(&a, &b)
		checkClose(t, "mean", mean, sum/count, 1e-14)
		checkClose(t, "variance", sd*sd, squares/count-sum/count*sum/count, 1e-14)
	}
}

func TestFreshMeanEqualsTheEnumerationOfAllSplits(t *testing.T) {
	for n := 4; n <= 7; n++ {
		m := random(3, n, 2, 1)
		d := newCloud(m).kernel(1, 1)
		var sum, count float64
		everyOrder(n, func(p []int) {
			g := m.Gather(p)
			h, err := HSIC(rowsOf(&g, 0, n/2), rowsOf(&g, n/2, n/2*2), Fixed(1))
			if err != nil {
				t.Fatal(err)
			}
			sum, count = sum+h, count+1
		})
		checkClose(t, "mean", freshMean(&d), sum/count, 1e-13)
	}
}

func TestDrawsScatterAboutTheClosedForm(t *testing.T) {
	for seed := range uint64(6) {
		for _, fresh := range []bool{false, true} {
			m := random(seed, 80, 6, 0.5+0.2*float64(seed))
			d := splitHalfOf(t, m, Options{Permutations: 2000, FreshSplits: fresh, Seed: seed})
			se := d.SD / math.Sqrt(2000)
			checkClose(t, "mean of the draws", d.Mean, d.ExactMean, 3*se)
			if fresh {
				continue
			}
			checkClose(t, "sd of the draws", d.SD/d.ExactSD, 1, 0.1)
			checkClose(t, "product of spreads", d.ExactMean, d.Spread[0]*d.Spread[1]/39, 1e-15)
		}
	}
}

func TestEachDrawIsHSICOfSomePairing(t *testing.T) {
	m := random(4, 12, 3, 1)
	d := splitHalfOf(t, m, Options{Permutations: 9})
	var all []float64
	everyOrder(6, func(p []int) {
		second := rowsOf(m, 6, 12).Gather(p)
		h, err := HSIC(rowsOf(m, 0, 6), &second, SqrtDim())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	})
	checkClose(t, "identity", d.Identity, all[0], 1e-15)
	for _, v := range d.Values {
		best := math.Inf(1)
		for _, h := range all {
			best = min(best, math.Abs(h-v))
		}
		checkClose(t, "distance to the nearest pairing", best, 0, 1e-15)
	}
	if len(d.Values) != 9 || len(slices.Compact(sorted(d.Values))) < 5 {
		t.Errorf("draws %v", d.Values)
	}
}

func TestRowOrderInsideAHalfChangesOnlyIdentityAndDraws(t *testing.T) {
	m := random(5, 60, 4, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	order := rng.Perm(30)
	for _, i := range rng.Perm(30) {
		order = append(order, 30+i)
	}
	g := m.Gather(order)
	a, b := splitHalfOf(t, m, Options{}), splitHalfOf(t, &g, Options{})
	checkClose(t, "exact mean", b.ExactMean, a.ExactMean, 1e-16)
	checkClose(t, "exact sd", b.ExactSD, a.ExactSD, 1e-16)
	checkClose(t, "mean", b.Mean, a.Mean, 4*a.SD/math.Sqrt(100))
	if a.Identity == b.Identity {
		t.Error("a new pairing has the same HSIC")
	}
}

func TestConstantActivationsHaveNoHSIC(t *testing.T) {
	m := array.New[float64](20, 5)
	for i := range m.Data {
		m.Data[i] = 0.1 + float64(i%5)
	}
	for _, fresh := range []bool{false, true} {
		d := splitHalfOf(t, &m, Options{FreshSplits: fresh})
		if d.Mean != 0 || d.SD != 0 || d.ExactMean != 0 || d.Identity != 0 || slices.Max(d.Values) != 0 {
			t.Errorf("%+v", d)
		}
	}
	h, err := HSIC(&m, random(1, 20, 3, 1), SqrtDim())
	if err != nil || h != 0 {
		t.Errorf("HSIC with a constant is %v, %v", h, err)
	}
}

func TestHSICDoesNotChangeWithShiftOrCommonOrder(t *testing.T) {
	x, y := random(1, 30, 4, 1), random(2, 30, 3, 1)
	for _, f := range []func(x, y *Matrix, b Bandwidth) (float64, error){HSIC, HSICUnbiased} {
		want, err := f(x, y, SqrtDim())
		if err != nil {
			t.Fatal(err)
		}
		far := array.New[float64](30, 4)
		for i, v := range x.Data {
			far.Data[i] = v + 1000
		}
		order := rand.New(rand.NewPCG(1, 1)).Perm(30)
		gx, gy := x.Gather(order), y.Gather(order)
		shifted, err1 := f(&far, y, SqrtDim())
		reordered, err2 := f(&gx, &gy, SqrtDim())
		swapped, err3 := f(y, x, SqrtDim())
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		checkClose(t, "shifted", shifted, want, 1e-14)
		checkClose(t, "reordered", reordered, want, 1e-15)
		checkClose(t, "swapped", swapped, want, 1e-15)
	}
}

func TestUnbiasedHSICIsZeroOnAverageWhenIndependent(t *testing.T) {
	const trials = 400
	var biased, unbiased []float64
	for s := range uint64(trials) {
		x, y := random(2*s, 20, 2, 1), random(2*s+1, 20, 2, 1)
		b, err1 := HSIC(x, y, Fixed(1))
		u, err2 := HSICUnbiased(x, y, Fixed(1))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		biased, unbiased = append(biased, b), append(unbiased, u)
	}
	l := fitNormal(unbiased)
	checkClose(t, "mean of the unbiased", l.mean, 0, 3.5*l.sd/math.Sqrt(trials))
	if b := fitNormal(biased); b.mean < 10*b.sd/math.Sqrt(trials) {
		t.Errorf("the biased estimator has mean %v, sd %v", b.mean, b.sd)
	}
}

func TestProductsAgreeWithOneChainPerPair(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 1}, {7, 9, 5}, {8, 16, 256}, {17, 300, 257}, {300, 9, 600}, {140, 17, 1100}} {
		a, b := random(1, shape[0], shape[2], 1), random(2, shape[1], shape[2], 1)
		within, across := products(a, nil, 2), products(a, b, 2)
		for i := range a.Rows {
			for j := range i + 1 {
				if got, want := within.Data[i*a.Rows+j], chain(a.Row(i), a.Row(j)); got != want {
					t.Fatalf("%v: within (%d, %d) is %v, want %v", shape, i, j, got, want)
				}
			}
			for j := range b.Rows {
				if got, want := across.Data[i*b.Rows+j], chain(a.Row(i), b.Row(j)); got != want {
					t.Fatalf("%v: across (%d, %d) is %v, want %v", shape, i, j, got, want)
				}
			}
		}
	}
}

func chain(x, y []float64) float64 {
	s := 0.0
	for k, v := range x {
		s = math.FMA(v, y[k], s)
	}
	return s
}
