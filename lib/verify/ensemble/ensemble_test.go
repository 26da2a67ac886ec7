package ensemble

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// waves are margins without a generator.
func waves(models, records int, shift float64) array.Matrix[float64] {
	m := array.New[float64](models, records)
	for i := range models {
		for k := range records {
			m.Row(i)[k] = 3*math.Sin(1.7*float64(i)+2.3*float64(k)+shift) + float64(k)*0.1 + shift
		}
	}
	return m
}

func distanceBetween(t *testing.T, d Distance, u, r array.Matrix[float64]) (float64, []float64) {
	t.Helper()
	v, each, err := d.Between(u, r)
	if err != nil {
		t.Fatal(err)
	}
	return v, each
}

func checkClose(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-9) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// NumPy 2.4.6, by np.digitize on np.linspace(low, high, 21), as data-unlearning-bench has it.
func TestKLoMAsCodedIsThePrograms(t *testing.T) {
	_, each := distanceBetween(t, KLoM{Coded: true}, waves(12, 5, 0.4), waves(15, 5, 0))
	for k, want := range []float64{6.039284129048933, 5.939410284624558, 6.275892282271149, 3.637954511630382, 5.490894443446366} {
		checkClose(t, "KLoM as coded", each[k], want)
	}
}

func TestKLoMByHand(t *testing.T) {
	u := array.Matrix[float64]{Rows: 4, Cols: 1, Data: []float64{0, 0, 0, 1}}
	r := array.Matrix[float64]{Rows: 4, Cols: 1, Data: []float64{0, 1, 1, 1}}
	v, _ := distanceBetween(t, KLoM{Bins: 2}, u, r)
	checkClose(t, "two bins", v, 0.75*math.Log(3)+0.25*math.Log(1.0/3))
	v, _ = distanceBetween(t, KLoM{}, u, u)
	checkClose(t, "itself", v, 0)
	far := array.Matrix[float64]{Rows: 4, Cols: 1, Data: []float64{1e6, 1e6, 1e6, 1e6}}
	cut := array.Matrix[float64]{Rows: 4, Cols: 1, Data: []float64{100, 150, 200, 300}}
	v, _ = distanceBetween(t, KLoM{}, far, cut)
	checkClose(t, "margins beyond 100", v, 0)
	v, _ = distanceBetween(t, KLoM{}, far, u)
	checkClose(t, "nothing in common", v, math.Log(1e5))
	_, each := distanceBetween(t, KLoM{}, waves(12, 5, 0.4), waves(15, 5, 0))
	v, _ = distanceBetween(t, KLoM{Quantile: 0.95}, waves(12, 5, 0.4), waves(15, 5, 0))
	if top := max(each[0], each[1], each[2], each[3], each[4]); !(v <= top && v > top-1) {
		t.Errorf("the 95th percentile of %v is %v", each, v)
	}
}

// NumPy 2.4.6: the epsilons and bins of MLRC-Bench's compute_epsilon_s and bin_index_fn,
// of thresholds in both directions.
func TestTheForgettingScoreIsThePrograms(t *testing.T) {
	u, r := waves(12, 5, 0.4), waves(15, 5, 0)
	for k, want := range []float64{0.85441533, 0.85441533, 0.82417544, 1.28093385, 0.82417544} {
		if got := (ForgettingScore{Delta: 0.01}).epsilon(column(u, k), column(r, k)); math.Abs(got-want) > 1e-8 {
			t.Errorf("epsilon of record %d is %v, want %v", k, got, want)
		}
	}
	v, _ := distanceBetween(t, ForgettingScore{}, u, r)
	checkClose(t, "the score", v, 0.45)
	for i := range u.Rows {
		u.Row(i)[2] += 50
	}
	v, _ = distanceBetween(t, ForgettingScore{}, u, r)
	checkClose(t, "the score of one that is told at once", v, 0.350048828125)
}

// scipy 1.17.1: the mean of log10 ks_2samp(u[i], r[i], method="exact").pvalue.
func TestForgetQualityIsScipys(t *testing.T) {
	v, each := distanceBetween(t, ForgetQuality{}, waves(12, 5, 0.4), waves(15, 5, 0))
	checkClose(t, "forget quality", v, -0.004914821663278155)
	if len(each) != 12 {
		t.Errorf("%d pairs", len(each))
	}
	v, each = distanceBetween(t, ForgetQuality{}, waves(12, 5, 0), waves(5, 5, 0))
	if checkClose(t, "a model with itself", each[3], 0); v > 0 || len(each) != 12 {
		t.Errorf("%v of %d pairs", v, len(each))
	}
}

func TestNeighboursByHand(t *testing.T) {
	one := array.Matrix[float64]{Rows: 2, Cols: 4, Data: []float64{0, 0.2, 0.7, 0.1, 0, 0.5, 0.4, 0.1}}
	other := array.Matrix[float64]{Rows: 2, Cols: 4, Data: []float64{0.5, 0.1, 0.3, 0.1, 1, 0, 0, 0}}
	shares, nearest, err := NearestClassShares([]array.Matrix[float64]{one, other}, []array.Matrix[float64]{one, one}, 0)
	if err != nil || nearest != 2 {
		t.Fatalf("nearest %d, %v", nearest, err)
	}
	for i, want := range []float64{0.7, 0.4, 0.6, 1.0 / 3} {
		checkClose(t, "share", shares.Data[i], want)
	}
	own := array.Matrix[float64]{Rows: 2, Cols: 4, Data: []float64{0.9, 0.02, 0.07, 0.01, 0.9, 0.02, 0.07, 0.01}}
	if _, nearest, err = NearestClassShares([]array.Matrix[float64]{one}, []array.Matrix[float64]{own}, 0); err != nil || nearest != 2 {
		t.Errorf("of models that still answer with the forgotten class: nearest %d, %v", nearest, err)
	}
	v, each := distanceBetween(t, ClassMembership{}, shares.Gather([]int{1}), shares.Gather([]int{0}))
	checkClose(t, "the gap", v, math.Abs((0.6-0.7+1.0/3-0.4)/2))
	checkClose(t, "of a record", each[0], -0.1)
	for words, bad := range map[string]struct {
		models    []array.Matrix[float64]
		forgotten int
	}{
		"0 models":               {nil, 0},
		"forgotten class is 4":   {[]array.Matrix[float64]{one}, 4},
		"model 1: probabilities": {[]array.Matrix[float64]{one, one.FirstColumns(3)}, 0},
		"row 0, column 1 is -1":  {[]array.Matrix[float64]{{Rows: 2, Cols: 4, Data: []float64{0, -1, 1, 1, 0, 0, 0, 1}}}, 0},
	} {
		if _, _, err := NearestClassShares(bad.models, []array.Matrix[float64]{one}, bad.forgotten); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", words, err)
		}
	}
}

// What is asked of an exchange: all models change places, none is lost or doubled.
func TestAnExchangeDealsEveryModelOnce(t *testing.T) {
	e := Evidence{Unlearned: waves(4, 3, 1), Retrained: waves(5, 3, 0), Second: waves(4, 3, 0.5)}
	met := meeting{total: 0}
	if _, err := exchangedDifference(&met, e, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, m := range []array.Matrix[float64]{e.Unlearned, e.Second} {
		for _, v := range m.Data {
			want += v
		}
	}
	checkClose(t, "the sum of all margins", met.total, want)
}

// meeting is a distance that adds up whom it meets.
type meeting struct {
	KLoM
	total float64
}

func (m *meeting) Between(u, _ array.Matrix[float64]) (float64, []float64, error) {
	for _, v := range u.Data {
		m.total += v
	}
	return 0, nil, nil
}

func TestSettingsThatCannotBe(t *testing.T) {
	for _, d := range []Distance{KLoM{Bins: 1}, KLoM{Quantile: 1}, KLoM{Quantile: -1}, ForgettingScore{Delta: 1}, ForgettingScore{Delta: -1}} {
		if _, _, err := d.Between(waves(3, 2, 0), waves(3, 2, 1)); err == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
}

// Between is public: it names the models that it cannot read.
func TestDistancesNameTheModelsThatTheyCannotRead(t *testing.T) {
	good := func() array.Matrix[float64] {
		return array.Matrix[float64]{Rows: 3, Cols: 2, Data: []float64{1, 2, 3, 4, 5, 6}}
	}
	broken := map[string]array.Matrix[float64]{
		"models: 0 x 0 values":               {},
		"models: 2 values do not fill 3 x 2": {Rows: 3, Cols: 2, Data: []float64{1, 2}},
		"models: row 1, column 0 is NaN":     {Rows: 3, Cols: 2, Data: []float64{1, 2, math.NaN(), 4, 5, 6}},
		"records, the":                       {Rows: 2, Cols: 3, Data: []float64{1, 2, 3, 4, 5, 6}},
	}
	for _, d := range Distances() {
		for words, m := range broken {
			_, _, err := d.Between(m, good())
			if err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "unlearned") {
				t.Errorf("%s, unlearned models: %v, expected %q", d.Name(), err, words)
			}
			_, _, err = d.Between(good(), m)
			if err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "retrained") {
				t.Errorf("%s, retrained models: %v, expected %q", d.Name(), err, words)
			}
		}
		if _, _, err := d.Between(good(), good()); err != nil {
			t.Errorf("%s: %v", d.Name(), err)
		}
	}
}
