// Tests of information.go.

package information

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/stats"
)

func open(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// gaussians returns n pairs of standard normal numbers with this correlation, in
// independent columns.
func gaussians(n, columns int, rho float64, seed engine.Root) Pairs {
	rng := seed.Stream("information test")
	p := Pairs{array.Normal(rng, n, columns, 1), array.Normal(rng, n, columns, 1)}
	for i, x := range p.X.Data {
		p.Y.Data[i] = rho*x + math.Sqrt(1-rho*rho)*p.Y.Data[i]
	}
	return p
}

// truth is the mutual information of one column.
func truth(rho float64) float64 { return -0.5 * math.Log(1-rho*rho) }

// unpaired returns the pairs with the rows of y in another order.
func unpaired(p Pairs, seed engine.Root) Pairs {
	p.Y = p.Y.Gather(seed.Stream("information test order").Perm(p.Y.Rows))
	return p
}

// quick is a small critic that trains fast.
var quick = Learning{Hidden: []int{32}, LR: 5e-3, Patience: 10}

func estimate(t *testing.T, m Estimator, e *engine.Engine, p Pairs, seed engine.Root) *Reading {
	t.Helper()
	r, err := m.Estimate(t.Context(), e, p, seed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Correlation 0.9 is 0.830 nats; independent pairs and shuffled pairs have none (InfoNCE
// with seven negatives cannot reach 0.830). Exchanging x and y changes nothing.
func TestGaussiansHaveTheirInformation(t *testing.T) {
	e, first := open(t), make([]int, 1000)
	for i := range first {
		first[i] = i
	}
	for _, c := range []struct {
		Estimator
		pairs int
		seeds engine.Root
		want  float64
		by    float64
	}{
		{MINE{quick}, 5000, 3, truth(0.9), 0.1},
		{InfoNCE{Learning: quick, Negatives: 7}, 2000, 1, sevenNegatives, 0.15},
		{KSG{}, 1000, 3, truth(0.9), 0.1},
	} {
		var found, turned, none, torn float64
		for seed := range c.seeds {
			p := gaussians(c.pairs, 1, 0.9, seed)
			r := estimate(t, c, e, p, seed)
			found += r.Value / float64(c.seeds)
			if !(r.Low < r.Value && r.Value < r.High) || r.Null == nil || *r.Null != 0 || r.Better != stats.LowerIsBetter || r.Over != "records" {
				t.Errorf("%s, seed %d: %+v", c.Name(), seed, r.Estimate)
			}
			if seed == 0 {
				turned = estimate(t, c, e, Pairs{p.Y, p.X}, seed).Value - r.Value
			}
			none = max(none, estimate(t, c, e, gaussians(1000, 1, 0, seed), seed).Value)
			torn = max(torn, estimate(t, c, e, unpaired(p.gather(first), seed), seed).Value)
		}
		t.Logf("%s: %.3f nats at correlation 0.9, %+.3f exchanged, at most %.3f in independent pairs, %.3f in pairs torn apart",
			c.Name(), found, turned, none, torn)
		if math.Abs(found-c.want) > c.by || math.Abs(turned) > 0.1 {
			t.Errorf("%s: %v nats at correlation 0.9, of %v; with x and y exchanged %v more", c.Name(), found, c.want, turned)
		}
		if none > 0.05 || torn > 0.05 {
			t.Errorf("%s: up to %v nats in independent pairs, %v in pairs torn apart", c.Name(), none, torn)
		}
	}
}

// The same seed gives the same bits, another seed another critic.
func TestAnEstimateFollowsItsSeed(t *testing.T) {
	e, p := open(t), gaussians(200, 2, 0.5, 1)
	short := Learning{Hidden: []int{8}, Epochs: 2}
	for _, m := range []Estimator{MINE{short}, InfoNCE{Learning: short, Negatives: 3}, CodedMINE{Steps: 3}, KSG{Jitter: 0.1}} {
		a, b, c := estimate(t, m, e, p, 4).Value, estimate(t, m, e, p, 4).Value, estimate(t, m, e, p, 5).Value
		if a != b || a == c {
			t.Errorf("%s: %v, again %v, with another seed %v", m.Name(), a, b, c)
		}
	}
}

func TestEstimatorsRefuseWhatAreNoPairs(t *testing.T) {
	e := open(t)
	for words, corrupt := range map[string]func(p *Pairs){
		"x has 200 rows, y 199": func(p *Pairs) { p.Y.Rows--; p.Y.Data = p.Y.Data[:len(p.Y.Data)-p.Y.Cols] },
		"x: row 7, column 1":    func(p *Pairs) { p.X.Row(7)[1] = math.NaN() },
		"y: row 9, column 0":    func(p *Pairs) { p.Y.Row(9)[0] = math.Inf(1) },
		"y: 399 values":         func(p *Pairs) { p.Y.Data = p.Y.Data[1:] },
		"y 0":                   func(p *Pairs) { p.Y = array.New[float64](200, 0) },
		"3 pairs, at least":     func(p *Pairs) { *p = p.gather([]int{0, 1, 2}) },
	} {
		p := gaussians(200, 2, 0.5, 1)
		corrupt(&p)
		for _, m := range All() {
			if _, err := m.Estimate(t.Context(), e, p, 1); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), m.Name()) {
				t.Errorf("%s: %v, want %q", m.Name(), err, words)
			}
		}
	}
	for words, m := range map[string]Estimator{
		"critic of 2 and 2 features with layers of [0]": MINE{Learning{Hidden: []int{0}}},
		"-1 negatives": InfoNCE{Negatives: -1}, "1 updates": CodedMINE{Steps: 1}, "batches of -1": MINE{Learning{Batch: -1}},
		"-2 neighbours": KSG{K: -2}, "noise of -1 deviations": KSG{Jitter: -1}, "200 pairs, at least 310": InfoNCE{Negatives: 30},
	} {
		if _, err := m.Estimate(t.Context(), e, gaussians(200, 2, 0.5, 1), 1); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v, want %q", m, err, words)
		}
	}
}

func TestAnEstimateStopsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	e := open(t)
	for _, m := range All() {
		if _, err := m.Estimate(ctx, e, gaussians(200, 2, 0.5, 1), 1); err == nil {
			t.Errorf("%s goes on", m.Name())
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	names := map[string]bool{}
	for _, m := range All() {
		if names[m.Name()] || m.Name() == "" || m.About() == "" {
			t.Errorf("%q, %q", m.Name(), m.About())
		}
		names[m.Name()] = true
	}
}

// An encoder N(a x, s^2) of standard normal x: by hand, the bound equals the mutual
// information of the code, 1/2 log(1 + a^2/s^2), where the codes are standard normal as a
// whole, and is above it elsewhere.
func TestTheGaussianBoundIsAbove(t *testing.T) {
	const s = 0.6
	x := array.Normal(engine.Root(1).Stream("information test"), 4000, 1, 1)
	for _, a := range []float64{0.8, 1.5} {
		mean, logVar := array.New[float64](4000, 1), array.New[float64](4000, 1)
		for i, v := range x.Data {
			mean.Data[i], logVar.Data[i] = a*v, 2*math.Log(s)
		}
		r, err := GaussianBound(mean, logVar)
		if err != nil {
			t.Fatal(err)
		}
		want, has := 0.5*(a*a+s*s-2*math.Log(s)-1), 0.5*math.Log(1+a*a/(s*s))
		if want < r.Low || want > r.High || (r.Low > has) != (a > 1) {
			t.Errorf("a = %v: %v, by hand %v; the code has %v", a, r, want, has)
		}
	}
	wide := array.New[float64](5, 3)
	wide.Row(3)[1] = 710
	if _, err := GaussianBound(array.New[float64](5, 3), wide); err == nil || !strings.Contains(err.Error(), "record 3") {
		t.Errorf("a variance that is no float64: %v", err)
	}
	if r, err := GaussianBound(array.New[float64](5, 3), array.New[float64](5, 3)); err != nil || r.Value != 0 {
		t.Errorf("codes from the prior: %v, %v", r, err)
	}
	for words, bad := range map[string][2]array.Matrix[float64]{
		"means of 5 x 3":             {array.New[float64](5, 3), array.New[float64](5, 2)},
		"no records":                 {},
		"log variances: 1 values":    {array.New[float64](1, 2), {Rows: 1, Cols: 2, Data: []float64{0}}},
		"means: row 0, column 1 is ": {{Rows: 1, Cols: 2, Data: []float64{0, math.NaN()}}, array.New[float64](1, 2)},
	} {
		if _, err := GaussianBound(bad[0], bad[1]); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}
