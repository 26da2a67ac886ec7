package nn

import (
	"fmt"
	"math"
	"testing"
)

func TestAMaskIsTheSameHoweverTheBatchIsCut(t *testing.T) {
	m := RandomInput{Units: 13, Rate: 0.2}
	const n = 301
	whole := make([]float32, m.Units*n)
	m.Fill(whole, 99, 0, n)
	for _, chunk := range []int{1, 2, 3, 4, 5, 32, 100, 300} {
		for first := 0; first < n; first += chunk {
			k := min(chunk, n-first)
			part := make([]float32, m.Units*k)
			m.Fill(part, 99, first, k)
			for u := range m.Units {
				for i := range k {
					if part[u*k+i] != whole[u*n+first+i] {
						t.Fatalf("chunks of %d: unit %d of record %d differs", chunk, u, first+i)
					}
				}
			}
		}
	}
}

// The rate over 1,000,000 entries is within five standard errors, and so are the
// rates of every unit and of every record, and of neighbours dropped together.
func TestAMaskDropsAtItsRate(t *testing.T) {
	const units, n = 100, 10000
	for _, rate := range []float64{0, 0.1, 0.2, 0.5, 0.9} {
		m := RandomInput{Units: units, Rate: rate}
		flat := make([]float32, units*n)
		m.Fill(flat, 12345, 0, n)
		within := func(what string, drops, trials, p float64) {
			t.Helper()
			if d := math.Abs(drops/trials - p); d > 5*math.Sqrt(p*(1-p)/trials)+1.0/65536 {
				t.Errorf("rate %v: %s dropped at %v, want %v", rate, what, drops/trials, p)
			}
		}
		kept := float32(1 / (1 - rate))
		var all, below, beside float64
		byRecord := make([]float64, n)
		for u := range units {
			var unit float64
			for i := range n {
				switch flat[u*n+i] {
				case 0:
					unit++
					byRecord[i]++
					if u > 0 && flat[(u-1)*n+i] == 0 {
						below++
					}
					if i > 0 && flat[u*n+i-1] == 0 {
						beside++
					}
				case kept:
				default:
					t.Fatalf("rate %v: entry %v is neither 0 nor %v", rate, flat[u*n+i], kept)
				}
			}
			all += unit
			within(fmt.Sprintf("unit %d", u), unit, n, rate)
		}
		within("all", all, units*n, rate)
		within("vertical neighbours", below, (units-1)*n, rate*rate)
		within("horizontal neighbours", beside, units*(n-1), rate*rate)
		var chi2 float64
		if rate > 0 {
			for _, d := range byRecord {
				chi2 += (d - units*rate) * (d - units*rate) / (units * rate * (1 - rate))
			}
			// Chi-squared with 10,000 degrees of freedom has standard deviation 141.
			if math.Abs(chi2-n) > 5*141 {
				t.Errorf("rate %v: chi-squared over records %v, want about %v", rate, chi2, n)
			}
		}
	}
}

func TestMasksOfDifferentKeysAreIndependent(t *testing.T) {
	m := RandomInput{Units: 50, Rate: 0.5}
	const n = 400
	a, b := make([]float32, m.Units*n), make([]float32, m.Units*n)
	for _, other := range []uint64{2, 1 << 20, 1 << 63, 3} {
		m.Fill(a, 1, 0, n)
		m.Fill(b, other, 0, n)
		same := 0.0
		for i := range a {
			if a[i] == b[i] {
				same++
			}
		}
		// 20,000 fair coins: standard deviation 0.0035.
		if share := same / float64(len(a)); math.Abs(share-0.5) > 0.018 {
			t.Errorf("keys 1 and %d agree in %v of the entries", other, share)
		}
	}
}

func BenchmarkMask(b *testing.B) {
	m := RandomInput{Units: 128, Rate: 0.2}
	dst := make([]float32, m.Units*256)
	for b.Loop() {
		m.Fill(dst, 1, 0, 256)
	}
	b.SetBytes(int64(4 * len(dst)))
}

// Normal draws have the moments of the law, do not depend on how a batch is cut,
// and differ by key and unit.
func TestNormalDraws(t *testing.T) {
	const units, n = 40, 500
	d := RandomInput{Name: "eps", Distribution: Normal, Units: units}
	all := make([]float32, units*n)
	d.Fill(all, 7, 0, n)
	var m, m2, m4 float64
	for _, v := range all {
		x := float64(v)
		m, m2, m4 = m+x, m2+x*x, m4+x*x*x*x
	}
	count := float64(len(all))
	for name, c := range map[string][3]float64{"mean": {m / count, 0, 1}, "variance": {m2 / count, 1, math.Sqrt2}, "fourth moment": {m4 / count, 3, math.Sqrt(96)}} {
		if math.Abs(c[0]-c[1]) > 4*c[2]/math.Sqrt(count) {
			t.Errorf("the %s of %g draws is %v", name, count, c[0])
		}
	}
	part := make([]float32, units*13)
	d.Fill(part, 7, 101, 13)
	for u := range units {
		for i := range 13 {
			if part[u*13+i] != all[u*n+101+i] {
				t.Fatalf("unit %d of record %d is another number in another batch", u, 101+i)
			}
		}
	}
	other := make([]float32, units*n)
	d.Fill(other, 8, 0, n)
	var across, between float64
	for i := range all {
		across += float64(all[i]) * float64(other[i]) / count
	}
	for i := range n {
		between += float64(all[i]) * float64(all[n+i]) / n
	}
	if math.Abs(across) > 4/math.Sqrt(count) || math.Abs(between) > 4/math.Sqrt(n) {
		t.Errorf("keys are correlated by %v, units by %v", across, between)
	}
	if !d.Active() || (RandomInput{}).Active() || !(RandomInput{Rate: 0.1}).Active() {
		t.Error("the wrong draws are active")
	}
}
