package ruler

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// clouds are embeddings that stress the search in different ways. They span
// more than one tile, so that rows and columns of a tile are both used.
var clouds = map[string]func(rng *rand.Rand, n, p int) *matrix{
	"gaussian": gaussian,
	"clustered": func(rng *rand.Rand, n, p int) *matrix {
		centres, m := gaussian(rng, 5, p), gaussian(rng, n, p)
		for i := range n {
			for j, c := range centres.Row(i % 5) {
				m.Row(i)[j] = c + 0.01*m.Row(i)[j]
			}
		}
		return m
	},
	"duplicated rows": func(rng *rand.Rand, n, p int) *matrix {
		m := gaussian(rng, n, p)
		for i := range n {
			if i%3 == 0 {
				copy(m.Row(i), m.Row(i/7))
			}
		}
		return m
	},
	"nearly parallel": func(rng *rand.Rand, n, p int) *matrix {
		m := gaussian(rng, n, p)
		for i := range m.Data {
			m.Data[i] = 1 + 1e-5*m.Data[i]
		}
		return m
	},
	"parallel to the last bit": func(rng *rand.Rand, n, p int) *matrix {
		m := array.New[float64](n, p)
		for i := range m.Data {
			m.Data[i] = 1 + 0x1p-52*float64(rng.IntN(3))
		}
		return &m
	},
	"rectified": func(rng *rand.Rand, n, p int) *matrix {
		m := gaussian(rng, n, p)
		for i, v := range m.Data {
			m.Data[i] = max(v-0.5, 0)
		}
		return m
	},
	"tiny coordinates": func(rng *rand.Rand, n, p int) *matrix {
		m := gaussian(rng, n, p)
		for i := range m.Data {
			m.Data[i] *= math.Pow(10, -60*rng.Float64())
		}
		return m
	},
}

func TestFastM4EqualsTheFloat64BruteForceExactly(t *testing.T) {
	checkFastM4(t)
}

// TestLargeCloudsAreSearchedWithoutBeingHeld does the same where the unit
// embeddings are made from those given, block by block.
func TestLargeCloudsAreSearchedWithoutBeingHeld(t *testing.T) {
	before := maxHeldValues
	maxHeldValues = 0
	t.Cleanup(func() { maxHeldValues = before })
	if newCloud(gaussian(rand.New(rand.NewPCG(1, 1)), 3, 2), []int{0, 1}).held() {
		t.Fatal("the cloud is held, so this test shows nothing")
	}
	checkFastM4(t)
}

// TestSinglePrecisionIsTheSameAsConverted measures float32 embeddings as they
// are and as float64, held and not.
func TestSinglePrecisionIsTheSameAsConverted(t *testing.T) {
	u, o, g, forget, retain := golden()
	var single [3]array.Matrix[float32]
	var double [3]array.Matrix[float64]
	for k, m := range []*matrix{u, o, g} {
		single[k] = array.Convert[float32](*m)
		double[k] = array.Convert[float64](single[k])
	}
	want, err := Measure(Evidence{Unlearned: double[0], Oracle: double[1], Original: double[2], Forget: forget, Retain: retain}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := maxHeldValues
	t.Cleanup(func() { maxHeldValues = before })
	for _, maxHeldValues = range []int{before, 0} {
		found, err := Measure(Evidence{Unlearned: single[0], Oracle: &single[1], Original: single[2], Forget: forget, Retain: retain}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(found, want) {
			t.Errorf("held %d: found %+v, expected %+v", maxHeldValues, found, want)
		}
	}
}

func checkFastM4(t *testing.T) {
	for name, generate := range clouds {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(9, 9))
			n := tileSize + tileSize/4
			m := generate(rng, n, 7)
			forget, retain := split(rng, n, 90)
			r := measure(t, m, nil, nil, forget, retain, Options{GalleryCap: NoCap, ZeroNorm: AsPublished, PointOnly: true})
			p, q, ranks := bruteM4(m, forget, retain, Equal)
			same(t, "p", r.PerRecord.Nearest, p)
			same(t, "q", r.PerRecord.GalleryNearest, q)
			same(t, "rank", r.PerRecord.Rank, ranks)
			_, _, ranks = bruteM4(m, forget, retain, LastBit)
			same(t, "M4 as coded", []float64{r.M4AsCoded.Value}, []float64{mean(ranks)})
		})
	}
}

func same(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values of %s, want %d", len(got), name, len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s[%d] = %.17g, the brute force has %.17g", name, i, got[i], want[i])
		}
	}
}

// rough is a product whose error is as large as the bound allows (a quarter is left for what
// the factors are rounded), so that the float32 order of candidates means nothing.
func rough(seed uint64) product {
	return func(dst []float32, a, b array.Matrix[float32]) error {
		x, y := array.Convert[float64](a), array.Convert[float64](b)
		e, rng := floatBound(a.Cols)*0.75, rand.New(rand.NewPCG(seed, 0))
		for i := range dst {
			dst[i] = float32(kernels.Dot(x.Row(i/b.Rows), y.Row(i%b.Rows)) + e*(2*rng.Float64()-1))
		}
		return nil
	}
}

func TestTheResultDoesNotDependOnTheRoundingOfProducts(t *testing.T) {
	for name, generate := range clouds {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(10, 10))
			m := generate(rng, 500, 12)
			forget, retain := split(rng, 500, 60)
			search := func(f *finder) (p, q []float64) {
				gallery := newCloud(m, retain)
				q, errQ := f.nearestWithin(gallery)
				p, errP := f.nearestAcross(newCloud(m, forget), gallery)
				if err := errors.Join(errQ, errP); err != nil {
					t.Fatal(err)
				}
				return p, q
			}
			p, q := search(newFinder(12))
			roughP, roughQ := search(&finder{rough(12), floatBound(12)})
			same(t, "p", roughP, p)
			same(t, "q", roughQ, q)
		})
	}
}

func half(dst []float32, a, b array.Matrix[float32]) error {
	if err := multiply(dst, a, b); err != nil {
		return err
	}
	for i, v := range dst {
		dst[i] = float32(math.Round(float64(v)*256) / 256)
	}
	return nil
}

func broken([]float32, array.Matrix[float32], array.Matrix[float32]) error {
	return errors.New("the processor is on fire")
}

func TestAProductThatIsTooCoarseOrFailsIsReported(t *testing.T) {
	u, _, _, _, retain := golden()
	for word, p := range map[string]product{"float32 arithmetic allows": half, "the processor is on fire": broken} {
		_, err := (&finder{p, floatBound(u.Cols)}).nearestWithin(newCloud(u, retain))
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("not %q: %v", word, err)
		}
	}
}

func TestFloatBoundHoldsForRandomUnitVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for _, p := range []int{1, 3, 16, 128, 1000} {
		m := gaussian(rng, 60, p)
		c := newCloud(m, rng.Perm(60))
		s := make([]float32, 60*60)
		if err := multiply(s, c.single, c.single); err != nil {
			t.Fatal(err)
		}
		for k, v := range s {
			exact := kernels.Dot(c.exact.Row(k/60), c.exact.Row(k%60))
			if d := math.Abs(float64(v) - exact); d > floatBound(p) {
				t.Fatalf("p = %d: float32 is off by %g, more than the bound %g", p, d, floatBound(p))
			}
		}
	}
}
