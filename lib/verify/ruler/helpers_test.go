package ruler

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/stats"
)

type (
	matrix   = array.Matrix[float64]
	estimate = stats.Estimate
)

// hash01 is a fixed sequence in [0, 1) that any language reproduces exactly:
// 32-bit integer hashing of k + 1000003 seed.
func hash01(k, seed int) float64 {
	x := uint32(k+seed*1000003) * 0x9E3779B1
	x ^= x >> 15
	x *= 0x85EBCA77
	x ^= x >> 13
	return float64(x) / (1 << 32)
}

// golden builds the three models of the golden numbers: a shared base and
// noise of its own for each.
func golden() (u, o, g *matrix, forget, retain []int) {
	const n, p = 640, 16
	models := []struct {
		seed  int
		scale float64
	}{{2, 0.25}, {3, 0.25}, {4, 0.3}}
	out := make([]*matrix, len(models))
	for k, s := range models {
		m := array.New[float64](n, p)
		for i := range m.Data {
			m.Data[i] = (hash01(i, 1) - 0.5) + float64(s.scale*(hash01(i, s.seed)-0.5))
		}
		out[k] = &m
	}
	for i := range n {
		if i%16 == 5 {
			forget = append(forget, i)
		} else {
			retain = append(retain, i)
		}
	}
	return out[0], out[1], out[2], forget, retain
}

func gaussian(rng *rand.Rand, n, p int) *matrix {
	m := array.New[float64](n, p)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return &m
}

// split deals n rows into the first k of a permutation and the rest, sorted.
func split(rng *rand.Rand, n, k int) (forget, retain []int) {
	rows := rng.Perm(n)
	forget, retain = rows[:k], rows[k:]
	slices.Sort(forget)
	slices.Sort(retain)
	return forget, retain
}

func checkClose(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g", name, got, want)
	}
}

// bruteM4 is equations (5) to (7) word for word, with no search at all.
func bruteM4(m *matrix, forget, gallery []int, ties Ties) (p, q, ranks []float64) {
	f, g := units(m, forget), units(m, gallery)
	q = make([]float64, len(gallery))
	for r := range gallery {
		q[r] = math.Inf(-1)
		for s := range gallery {
			if s != r {
				q[r] = max(q[r], clip(kernels.Dot(g.Row(r), g.Row(s))))
			}
		}
	}
	for k := range forget {
		best := math.Inf(-1)
		for r := range gallery {
			best = max(best, clip(kernels.Dot(f.Row(k), g.Row(r))))
		}
		count := 0
		for _, v := range q {
			if v <= best || ties == Equal && v-best <= TieTolerance {
				count++
			}
		}
		p = append(p, best)
		ranks = append(ranks, float64(count)/float64(len(q)))
	}
	return p, q, ranks
}
