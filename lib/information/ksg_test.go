// Tests of ksg.go.

package information

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// waves returns deterministic pairs: y depends on x, other does not.
func waves(n int) (x, y, other array.Matrix[float64]) {
	x, y, other = array.New[float64](n, 1), array.New[float64](n, 1), array.New[float64](n, 1)
	for i := range n {
		k := float64(i + 1)
		x.Data[i] = math.Sin(1.7*k) + 0.1*math.Sin(0.37*k*k)
		y.Data[i] = x.Data[i] + 0.5*math.Cos(2.3*k*k)
		other.Data[i] = math.Cos(0.91 * k * k)
	}
	return x, y, other
}

// scikit-learn 1.9.1: sklearn.feature_selection._mutual_info._compute_mi_cc of both
// columns over their deviation, without its noise and without its cut at 0.
func TestKSGIsScikitLearns(t *testing.T) {
	x, y, other := waves(80)
	for k, want := range map[int][2]float64{
		1: {1.130021073956062, -0.16563500526957986},
		3: {1.007985495155777, -0.01737340974828472},
		5: {0.8878451254957667, -0.03931042647453964},
	} {
		for i, with := range []array.Matrix[float64]{y, other} {
			if got := estimate(t, KSG{K: k}, nil, Pairs{x, with}, 0); math.Abs(got.Value-want[i]) > 1e-12 {
				t.Errorf("K = %d: %v, scikit-learn %v", k, got.Value, want[i])
			}
		}
	}
	if a, b := estimate(t, KSG{}, nil, Pairs{x, y}, 0), estimate(t, KSG{K: 3}, nil, Pairs{x, y}, 0); a.Value != b.Value {
		t.Errorf("the default gives %v, three neighbours %v", a.Value, b.Value)
	}
}

// The definition, with all distances sorted and gonum's digamma.
func TestKSGIsItsDefinitionInSeveralColumns(t *testing.T) {
	p := gaussians(150, 3, 0.7, 2)
	p.Y = p.Y.FirstColumns(2)
	for i := range p.X.Rows { // columns of several scales
		p.X.Row(i)[1] *= 50
		p.Y.Row(i)[0] = 3 + p.Y.Row(i)[0]/20
	}
	n, k := p.X.Rows, 4
	far := func(m array.Matrix[float64], i, j int) float64 {
		out := 0.0
		for c := range m.Cols {
			mean, square := 0.0, 0.0
			for r := range n {
				mean += m.Row(r)[c] / float64(n)
			}
			for r := range n {
				square += (m.Row(r)[c] - mean) * (m.Row(r)[c] - mean) / float64(n)
			}
			out = math.Max(out, math.Abs(m.Row(i)[c]-m.Row(j)[c])/math.Sqrt(square))
		}
		return out
	}
	want := mathext.Digamma(float64(k)) + mathext.Digamma(float64(n))
	for i := range n {
		var dx, dy, both []float64
		for j := range n {
			if j != i {
				x, y := far(p.X, i, j), far(p.Y, i, j)
				dx, dy, both = append(dx, x), append(dy, y), append(both, math.Max(x, y))
			}
		}
		slices.Sort(both)
		for _, d := range [][]float64{dx, dy} {
			nearer := 0
			for _, v := range d {
				if v < both[k-1]*(1-1e-12) {
					nearer++
				}
			}
			want -= mathext.Digamma(float64(nearer+1)) / float64(n)
		}
	}
	if got := estimate(t, KSG{K: k}, nil, p, 0).Value; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, by definition %v", got, want)
	}
}

// To the last bit: the order of the pairs, exchanging x and y, and the columns' order.
func TestKSGKnowsNoOrder(t *testing.T) {
	p := gaussians(300, 3, 0.6, 3)
	want := estimate(t, KSG{}, nil, p, 0)
	order := engine.Root(1).Stream("information test").Perm(300)
	if got := estimate(t, KSG{}, nil, p.gather(order), 0); got.Value != want.Value {
		t.Errorf("in another order %v, not %v", got, want)
	}
	if got := estimate(t, KSG{}, nil, Pairs{p.Y, p.X}, 0); got.Value != want.Value {
		t.Errorf("exchanged %v, not %v", got, want)
	}
	far := Pairs{p.X.Gather(order), p.Y.Gather(order)}
	for i := range 300 {
		far.X.Row(i)[0], far.Y.Row(i)[1] = math.Ldexp(far.X.Row(i)[0], 900), math.Ldexp(far.Y.Row(i)[1], -900)
	}
	if got := estimate(t, KSG{}, nil, far, 0); got.Value != want.Value {
		t.Errorf("in other units %v, not %v", got, want)
	}
	turned := array.New[float64](300, 3)
	for i := range 300 {
		row := p.X.Row(i)
		copy(turned.Row(i), []float64{row[2], row[0], row[1]})
	}
	if got := estimate(t, KSG{}, nil, Pairs{turned, p.Y}, 0); got.Value != want.Value {
		t.Errorf("with other columns first %v, not %v", got, want)
	}
	if got := estimate(t, KSG{}, nil, unpaired(p, 1), 0); math.Abs(got.Value) > 0.2 || want.Value < 0.4 {
		t.Errorf("torn apart %v, as pairs %v", got, want)
	}
}

// In many columns the nearest of few records are far away, and the estimate is too low.
func TestKSGSaysTooLittleInManyColumns(t *testing.T) {
	for columns, most := range map[int]float64{1: 1.5, 20: 0.5} {
		if share := estimate(t, KSG{}, nil, gaussians(600, columns, 0.5, 1), 0).Value / truth(0.5) / float64(columns); share > most || share < 0.05 {
			t.Errorf("%d columns: %v of the truth", columns, share)
		}
	}
}

// Repeated values are refused with their rows, unless noise is requested; the input is not
// changed.
func TestKSGRefusesTies(t *testing.T) {
	p := gaussians(300, 2, 0.6, 4)
	copy(p.Y.Row(17), p.Y.Row(5))
	before := slices.Clone(p.Y.Data)
	_, err := KSG{}.Estimate(t.Context(), nil, p, 0)
	if err == nil || !strings.Contains(err.Error(), "rows 5 and 17 of y are equal") {
		t.Errorf("a row twice: %v", err)
	}
	whole := estimate(t, KSG{}, nil, gaussians(300, 2, 0.6, 4), 0).Value
	if got := estimate(t, KSG{Jitter: 1e-6}, nil, p, 1).Value; math.Abs(got-whole) > 0.05 {
		t.Errorf("with noise %v, with one row less repeated %v", got, whole)
	}
	if !slices.Equal(before, p.Y.Data) {
		t.Error("it writes to what it is given")
	}
	copy(p.X.Row(9), p.X.Row(2))
	if _, err := (KSG{}).Estimate(t.Context(), nil, p, 0); err == nil || !strings.Contains(err.Error(), "rows 2 and 9 of x") {
		t.Errorf("a row twice on both sides: %v", err)
	}
}

// The interval covers the mean of many trials, also without information; less often where
// parts are small. With 150 trials a coverage of 0.95 appears as less than 0.9 in one case
// of 200.
func TestKSGsIntervalCovers(t *testing.T) {
	const trials = 150
	for _, c := range []struct {
		n           int
		rho, covers float64
	}{{60, 0.6, 0.82}, {250, 0, 0.9}, {250, 0.9, 0.9}} {
		held, mean := 0.0, 0.0
		var all []*Reading
		for seed := range engine.Root(trials) {
			r := estimate(t, KSG{}, nil, gaussians(c.n, 1, c.rho, seed), seed)
			all, mean = append(all, r), mean+r.Value/trials
		}
		for _, r := range all {
			if r.Low <= mean && mean <= r.High {
				held += 1. / trials
			}
		}
		t.Logf("%d pairs of correlation %v: %.3f of the intervals hold the mean %.3f; the truth is %.3f", c.n, c.rho, held, mean, truth(c.rho))
		if held < c.covers {
			t.Errorf("%d pairs of correlation %v: %.3f of the intervals hold the mean of all", c.n, c.rho, held)
		}
	}
}
