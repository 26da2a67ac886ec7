package sde

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMalformedInputIsRefusedByName(t *testing.T) {
	good, rng := random(1, 20, 3, 1), rand.New(rand.NewPCG(1, 1))
	nan, huge := random(1, 20, 3, 1), random(1, 20, 3, 1)
	nan.Data[3*4+2] = math.NaN()
	huge.Data[3*5] = 1e200
	torn := &Matrix{Rows: 20, Cols: 3, Data: make([]float64, 59)}
	empty, narrow, short := &Matrix{Rows: 20}, random(1, 20, 2, 1), random(1, 18, 3, 1)
	pool := func(m *Matrix) error { _, err := NewPool("forget", m); return err }
	judge := func(target, in, out *Matrix, opt Options) error {
		_, err := Judge(target, References{In: in, Out: out}, opt)
		return err
	}
	hsic := func(x, y *Matrix, b Bandwidth) error { _, err := HSIC(x, y, b); return err }
	for name, c := range map[string]struct {
		err   error
		words string
	}{
		"missing":              {judge(nil, good, good, Options{}), "target activations are missing"},
		"missing reference":    {judge(good, nil, good, Options{}), "in-training activations are missing"},
		"NaN in target":        {judge(nan, good, good, Options{}), "target activations: row 4, column 2 is NaN"},
		"NaN in reference":     {judge(good, good, nan, Options{}), "out-of-training activations: row 4, column 2 is NaN"},
		"overflow":             {judge(good, huge, good, Options{}), "in-training activations, row 5: the squared norm overflows"},
		"torn":                 {judge(torn, good, good, Options{}), "59 values do not fill 20 x 3"},
		"no columns":           {judge(empty, good, good, Options{}), "0 columns"},
		"another layer":        {judge(narrow, good, good, Options{}), "target activations have 2 columns"},
		"other sizes":          {judge(short, good, good, Options{}), "target set has 18 records"},
		"sizes of references":  {judge(good, good, short, Options{}), "out-of-training set has 18 records"},
		"too few rows":         {judge(rowsOf(good, 0, 3), good, good, Options{}), "3 rows, at least 4"},
		"equal rows, median":   {judge(good, &Matrix{Rows: 4, Cols: 3, Data: make([]float64, 12)}, &Matrix{Rows: 4, Cols: 3, Data: make([]float64, 12)}, Options{Bandwidth: MedianDistance()}), "bandwidth median is 0"},
		"negative sigma":       {judge(good, good, good, Options{Bandwidth: Fixed(-1)}), "bandwidth -1"},
		"one permutation":      {judge(good, good, good, Options{Permutations: 1}), "1 permutations"},
		"negative bins":        {judge(good, good, good, Options{Bins: -5}), "-5 bins"},
		"alpha":                {judge(good, good, good, Options{Alpha: 1}), "alpha 1"},
		"level":                {judge(good, good, good, Options{Level: math.NaN()}), "level NaN"},
		"divergence":           {judge(good, good, good, Options{Divergence: "x"}), "unknown divergence \"x\"; there are shared-bins"},
		"pool":                 {pool(nan), "forget activations: row 4, column 2"},
		"unpaired":             {hsic(good, short, SqrtDim()), "20 rows, the second 18"},
		"first of pair":        {hsic(nan, good, SqrtDim()), "first activations: row 4"},
		"unbiased needs four":  {second(HSICUnbiased(rowsOf(good, 0, 3), rowsOf(good, 0, 3), SqrtDim())), "at least 4"},
		"no permutations":      {second(IndependenceTest(good, good, SqrtDim(), 0, rng)), "0 permutations"},
		"no generator":         {second(SplitHalf(good, Options{}, nil)), "generator"},
		"spread of one":        {second(Spread(rowsOf(good, 0, 1), SqrtDim())), "at least 2"},
		"pair of too few":      {second(NewKernelPair(rowsOf(good, 0, 3), SqrtDim())), "3 rows, at least 4"},
		"pair, NaN":            {second(NewKernelPair(nan, SqrtDim())), "row 4, column 2 is NaN"},
		"pair, sigma":          {second(NewKernelPair(good, Fixed(-1))), "bandwidth -1"},
		"draw too many":        {second(DrawSubsets(10, 11, 1, rng)), "11 from 10"},
		"values":               {second(Compare([]float64{1}, Draws{In: []float64{math.Inf(1)}, Out: []float64{1}}, Options{})), "in-training values"},
		"raw, unequal lengths": {second(Compare([]float64{1, 2}, Draws{In: []float64{1}, Out: []float64{1, 2}}, Options{Divergence: RawValues})), "1 in-training values"},
		"gate":                 {second(NewGate(Draws{In: nil, Out: []float64{1}}, 0.01)), "empty"},
		"gate's alpha":         {second(NewGate(Draws{In: []float64{1}, Out: []float64{1}}, 0)), "alpha 0"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.words) {
			t.Errorf("%s: error %v, want %q", name, c.err, c.words)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestMalformedSubsetsAreRefusedByName(t *testing.T) {
	m := random(1, 20, 3, 1)
	pool, err := NewPool("forget", m)
	if err != nil {
		t.Fatal(err)
	}
	ref := rowsOf(m, 0, 4)
	for words, subsets := range map[string][][]int{
		"no subsets":                        nil,
		"subset 1 of the forget pool has 3": {{0, 1, 2, 3}, {0, 1, 2}},
		"names row 20 of 20":                {{0, 1, 2, 20}},
		"names row -1 of 20":                {{0, 1, -1, 3}},
		"names row 1 twice":                 {{0, 1, 2, 3}, {0, 1, 2, 1}},
	} {
		if _, err := OTR(SDE{}, Targets{pool, subsets}, References{In: ref, Out: ref}, Options{}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	for _, method := range Methods() {
		if _, err := method.Prepare(nil, References{In: ref, Out: ref}, Options{}); err == nil || !strings.Contains(err.Error(), "pool of targets is missing") {
			t.Errorf("%s without a pool: %v", method.Name(), err)
		}
		if _, err := method.Prepare(pool, References{In: random(1, 4, 2, 1), Out: random(1, 4, 2, 1)}, Options{}); err == nil || !strings.Contains(err.Error(), "one layer") {
			t.Errorf("%s with another layer: %v", method.Name(), err)
		}
	}
	if _, err := Controlled(SDE{}, KnownTargets{Inside: Targets{pool, [][]int{{0, 1, 2, 3}}}, Outside: Targets{pool, nil}}, References{In: ref, Out: ref}, Options{}); err == nil {
		t.Error("unequal numbers of subsets pass")
	}
}

func TestMethodNamesAreDistinctAndExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Methods() {
		if m.Name() == "" || m.About() == "" || seen[m.Name()] || strings.ContainsAny(m.Name(), " /") {
			t.Errorf("method %q: %q", m.Name(), m.About())
		}
		seen[m.Name()] = true
	}
}

func FuzzParseBandwidth(f *testing.F) {
	for _, s := range []string{"sqrt-dim", "median", "8.0", "128", "0", "-1", "NaN", "Inf", "1e-320", "0x1p4", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBandwidth(s)
		if err != nil {
			return
		}
		again, err := ParseBandwidth(b.String())
		if err != nil || again != b {
			t.Errorf("%q is %v, read again %v, %v", s, b, again, err)
		}
		if sigma, err := b.Resolve(random(1, 5, 4, 1)); err != nil || !(sigma > 0) {
			t.Errorf("%q gives %v, %v", s, sigma, err)
		}
	})
}

func TestBandwidthsThatAreNoNumbersAreRefused(t *testing.T) {
	for _, s := range []string{"0", "-1", "NaN", "Inf", "1e-320", "", "sqrt", "1e300"} {
		if _, err := ParseBandwidth(s); err == nil || !strings.Contains(err.Error(), "expected sqrt-dim, median or a positive number") {
			t.Errorf("%q: %v", s, err)
		}
	}
}
