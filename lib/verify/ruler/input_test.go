package ruler

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func ones(n, p int) *matrix {
	m := array.New[float64](n, p)
	for i := range m.Data {
		m.Data[i] = 1 + float64(i%5)
	}
	return &m
}

func with(m *matrix, i, j int, v float64) *matrix {
	m.Row(i)[j] = v
	return m
}

func zeroRow(m *matrix, i int) *matrix {
	clear(m.Row(i))
	return m
}

func TestBadInputIsRefusedByName(t *testing.T) {
	f, r := []int{0, 1}, []int{2, 3, 4, 5}
	short := array.Matrix[float64]{Rows: 6, Cols: 3, Data: make([]float64, 17)}
	cases := []struct {
		name           string
		u, o, g        *matrix
		forget, retain []int
		opt            Options
		want           string
	}{
		{"no model", nil, nil, nil, f, r, Options{}, "unlearned embeddings are missing"},
		{"fewer rows", ones(6, 3), ones(5, 3), nil, f, r, Options{}, "oracle embeddings are 5 x 3 but unlearned embeddings are 6 x 3"},
		{"other columns", ones(6, 3), ones(6, 3), ones(6, 4), f, r, Options{}, "original embeddings are 6 x 4"},
		{"no columns", ones(6, 0), nil, nil, f, r, Options{}, "0 columns"},
		{"data too short", &short, nil, nil, f, r, Options{}, "17 values do not fill 6 x 3"},
		{"NaN", with(ones(6, 3), 4, 2, math.NaN()), nil, nil, f, r, Options{}, "unlearned embeddings: row 4, column 2 is NaN"},
		{"infinity", ones(6, 3), with(ones(6, 3), 1, 0, math.Inf(-1)), nil, f, r, Options{}, "oracle embeddings: row 1, column 0 is -Inf"},
		{"zero row", zeroRow(ones(6, 3), 3), nil, nil, f, r, Options{}, "unlearned embeddings, row 3: norm 0"},
		{"zero oracle row", ones(6, 3), zeroRow(ones(6, 3), 0), nil, f, r, Options{}, "oracle embeddings, row 0: norm 0"},
		{"zero original row", ones(6, 3), ones(6, 3), zeroRow(ones(6, 3), 1), f, r, Options{}, "original embeddings, row 1: norm 0"},
		{"norm overflows", with(ones(6, 3), 5, 1, 1e200), nil, nil, f, r, Options{ZeroNorm: AsPublished}, "row 5: the squared norm overflows"},
		{"empty forget", ones(6, 3), nil, nil, nil, r, Options{}, "forget set is empty"},
		{"empty retain", ones(6, 3), nil, nil, f, nil, Options{}, "retain set is empty"},
		{"forget outside", ones(6, 3), nil, nil, []int{0, 6}, r, Options{}, "forget[1] = 6 is outside the 6 rows"},
		{"retain negative", ones(6, 3), nil, nil, f, []int{2, 3, -1}, Options{}, "retain[2] = -1 is outside"},
		{"forget twice", ones(6, 3), nil, nil, []int{1, 0, 1}, r, Options{}, "forget[2] = 1 names a row twice"},
		{"retain twice", ones(6, 3), nil, nil, f, []int{2, 2}, Options{}, "retain[1] = 2 names a row twice"},
		{"overlap", ones(6, 3), nil, nil, f, []int{2, 1}, Options{}, "retain[1] = 1 is in the forget set too"},
		{"one neighbour", ones(6, 3), nil, nil, f, []int{2}, Options{}, "M4 needs 2 retained records to compare neighbours, got 1"},
		{"capped to one", ones(6, 3), nil, nil, f, r, Options{GalleryCap: 1}, "got 1"},
		{"level", ones(6, 3), nil, nil, f, r, Options{Level: 1}, "level 1 is not inside (0, 1)"},
		{"repetitions", ones(6, 3), nil, nil, f, r, Options{Reps: -1}, "-1 bootstrap repetitions"},
		{"too few repetitions", ones(6, 3), ones(6, 3), nil, f, r, Options{Reps: 38}, "38 bootstrap repetitions; an interval of level 0.95 needs at least 39"},
		{"a level for more repetitions than there are", ones(6, 3), ones(6, 3), nil, f, r, Options{Level: 1 - 1e-9},
			"1000000 bootstrap repetitions; an interval of level 0.999999999 needs at least"},
		{"zero policy", ones(6, 3), nil, nil, f, r, Options{ZeroNorm: 7}, "unknown treatment 7"},
		{"baseline", ones(6, 3), nil, nil, f, r, Options{Baseline: 7}, "unknown baseline 7"},
		{"ties", ones(6, 3), nil, nil, f, r, Options{Ties: 7}, "unknown treatment 7 of ties"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Measure(Evidence{Unlearned: c.u, Oracle: c.o, Original: c.g, Forget: c.forget, Retain: c.retain}, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestZeroRowsPassAsPublishedAndAreCounted(t *testing.T) {
	u, o, g, forget, retain := golden()
	zeroRow(u, forget[0])
	zeroRow(u, retain[0])
	zeroRow(o, forget[1])
	r := measure(t, u, o, g, forget, retain, Options{ZeroNorm: AsPublished, RetainCap: NoCap})
	if want := (ZeroRows{Unlearned: 2, Oracle: 1}); r.ZeroRows != want {
		t.Errorf("zero rows %+v, want %+v", r.ZeroRows, want)
	}
	checkClose(t, "similarity of a zero row", r.PerRecord.Similarity[0], 0, 0)
	checkClose(t, "similarity to a zero row", r.PerRecord.Similarity[1], 0, 0)
	checkClose(t, "nearest neighbour of a zero row", r.PerRecord.Nearest[0], 0, 0)
}

func TestIntervalsAreAskedForOrLeftOut(t *testing.T) {
	u, o, g, forget, retain := golden()
	r := measure(t, u, o, g, forget, retain, Options{})
	narrow := measure(t, u, o, g, forget, retain, Options{Level: 0.5})
	plain := measure(t, u, o, g, forget, retain, Options{PointOnly: true})
	again := measure(t, u, o, g, forget, retain, Options{})
	for k, e := range map[string][4]*estimate{
		"M1": {r.M1, narrow.M1, plain.M1, again.M1}, "M2": {r.M2, narrow.M2, plain.M2, again.M2},
		"M2Mean": {r.M2Mean, narrow.M2Mean, plain.M2Mean, again.M2Mean},
		"M3":     {r.M3, narrow.M3, plain.M3, again.M3}, "M4": {r.M4, narrow.M4, plain.M4, again.M4},
	} {
		if !(e[0].Low < e[0].Value && e[0].Value < e[0].High) || e[0].Level != 0.95 {
			t.Errorf("%s = %+v is outside its interval", k, *e[0])
		}
		if e[1].High-e[1].Low >= e[0].High-e[0].Low {
			t.Errorf("%s: the 50 %% interval is not inside the 95 %% one", k)
		}
		if e[2].HasInterval() || e[2].Value != e[0].Value || e[2].Level != 0 {
			t.Errorf("%s: point only gave %+v", k, *e[2])
		}
		if e[3].Low != e[0].Low || e[3].High != e[0].High {
			t.Errorf("%s: a second run gave %+v, not %+v", k, *e[3], *e[0])
		}
		if e[0].N != len(forget) || e[0].Over != "records" {
			t.Errorf("%s is over %d %s", k, e[0].N, e[0].Over)
		}
	}
}

func TestOneForgetRecordHasTheWholeRangeAsInterval(t *testing.T) {
	u, o, g, _, retain := golden()
	r := measure(t, u, o, g, []int{5}, retain, Options{})
	checkClose(t, "M1 low", r.M1.Low, -1, 0)
	checkClose(t, "M2 high", r.M2.High, 2, 0)
	checkClose(t, "M3 low", r.M3.Low, -2, 0)
	checkClose(t, "M4 low", r.M4.Low, 0, 0)
	checkClose(t, "M4 high", r.M4.High, 1, 0)
}
