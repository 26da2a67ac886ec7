package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// What is said to be seen in four audits of five is: losses are shifted until their AUC is
// off one half by as much.
func TestThePowerIsWhatItSays(t *testing.T) {
	const trials = 2000
	rng := rand.New(rand.NewPCG(1, 5))
	for _, n := range [][2]int{{30, 100}, {60, 60}, {200, 300}} {
		floor := stats.ChanceFloor(n[0], n[1])
		null := 0.5
		reading := audit.Reading{Estimate: stats.Estimate{Value: 0.5, Low: 0.4, High: 0.6, Null: &null}, Floor: stats.Floor{P95: floor.P95 / 2}}
		smallest, _ := smallestSeen(reading, &audit.Reading{Estimate: stats.Estimate{Value: 0.5, Low: 0.5, High: 0.5}}, NullReference)
		shift := math.Sqrt2 * quantile(0.5+smallest) // of two normal distributions with that AUC
		seen := 0
		for range trials {
			a, b := make([]float64, n[0]), make([]float64, n[1])
			for i := range a {
				a[i] = shift + rng.NormFloat64()
			}
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			e, err := stats.DeLong(a, b, 0.95)
			must(t, err)
			if e.Low > 0.5 {
				seen++
			}
		}
		if p := float64(seen) / trials; p < 0.75 || p > 0.88 {
			t.Errorf("%v records: a distance of %.3f is seen in %.3f of the audits", n, smallest, p)
		}
	}
}

// quantile of the normal distribution, by bisection.
func quantile(p float64) float64 {
	low, high := -9.0, 9.0
	for range 80 {
		if mid := (low + high) / 2; math.Erfc(-mid/math.Sqrt2)/2 < p {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// A model that was retrained is called anything but forgotten, or undecided, in few cases.
func TestARetrainedModelIsSeldomAccused(t *testing.T) {
	const trials = 60
	accused := map[string]int{}
	quick := []Lens{audit.Loss{}, audit.Threshold{}, audit.Entropy{}, audit.Neighbours{}}
	for k := range trials {
		m := newFixture(uint64(100+k), 40, 80, 120)
		dir := t.TempDir()
		m.write(t, dir, m.retained, 0)
		e, err := Open(dir)
		must(t, err)
		for _, retrained := range []bool{true, false} {
			if !retrained {
				e.Models = slices.DeleteFunc(e.Models, func(m *Model) bool { return m.Role == Retrained })
			}
			r, err := e.ReportBy(t.Context(), quick...)
			must(t, err)
			for _, v := range r.Verdicts {
				if v.Memory() || v.Call == audit.Beyond {
					accused[v.Name()+" by the "+string(v.Reference)]++
				}
			}
		}
	}
	for name, n := range accused {
		if limit := 0.05 + 3*math.Sqrt(0.05*0.95/trials); float64(n)/trials > limit {
			t.Errorf("%s: %d of %d retrained models are accused", name, n, trials)
		}
	}
}

// Without a retrained model a reading is unlike its null in at most one case of twenty, with few
// records too, where DeLong's interval alone is too short.
func TestFewRecordsAreUnlikeTheirNullInOneCaseOfTwenty(t *testing.T) {
	const cases = 2000
	rng := rand.New(rand.NewPCG(11, 12))
	for _, n := range [][2]int{{6, 6}, {6, 200}, {10, 100}, {40, 40}} {
		unlike, short := 0, 0
		for range cases {
			var s attack.Samples
			for range n[0] {
				s.Members = append(s.Members, rng.NormFloat64())
			}
			for range n[1] {
				s.Nonmembers = append(s.Nonmembers, rng.NormFloat64())
			}
			r, err := audit.SignedAUC("loss", "unlearned", s)
			must(t, err)
			v := Verdict{Lens: audit.Loss{}, Reading: *r}
			v.place()
			if v.Call != Unseen {
				unlike++
			}
			if r.Low > 0.5 || r.High < 0.5 {
				short++
			}
		}
		if share := float64(unlike) / cases; share > 0.06 || share < 0.005 {
			t.Errorf("%v records: %.3f are unlike the null, by the interval alone %.3f", n, share, float64(short)/cases)
		}
	}
}
