// Tests of model.go.

package model_test

import (
	"fmt"
	"log"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

var arch = tabular.MLP{Features: 5, Outputs: 3, Hidden: 9}

func runner(t testing.TB, chunk int) *model.Runner {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if chunk > 0 {
		e = e.WithChunkRows(chunk)
	}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func weights() nn.Params { return model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit)) }

func table(rows, cols int) array.Matrix[float32] {
	rng := engine.Root(5).Stream("table", uint64(rows))
	x := array.New[float32](rows, cols)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return x
}

// layers is the network written out in float64, dropout off: every activation
// of one record.
func layers(p nn.Params, x []float32) [][]float64 {
	h := make([]float64, len(x))
	for j, v := range x {
		h[j] = float64(v)
	}
	var out [][]float64
	for l := range 3 {
		next := make([]float64, len(p[2*l+1].Data))
		for i := range next {
			next[i] = float64(p[2*l+1].Data[i])
			for j, v := range h {
				next[i] += float64(p[2*l].Data[i*len(h)+j]) * v
			}
			if l < 2 {
				next[i] = math.Max(next[i], 0)
			}
		}
		out = append(out, next)
		h = next
	}
	return out
}

func same(t *testing.T, what string, got array.Matrix[float32], i int, want []float64) {
	t.Helper()
	if got.Cols != len(want) {
		t.Fatalf("%s has width %d, want %d", what, got.Cols, len(want))
	}
	for j, v := range got.Row(i) {
		if math.Abs(float64(v)-want[j]) > 2e-6 {
			t.Errorf("%s of record %d, unit %d is %v, want %v", what, i, j, v, want[j])
			return
		}
	}
}

// 5000 rows are many chunks of the engine's own size; the other sizes cut
// through the padding.
func TestPredictIsTheFloat64TwinHoweverTheRowsAreCut(t *testing.T) {
	for _, c := range []struct{ rows, chunk int }{{1, 0}, {31, 0}, {32, 0}, {33, 0}, {5000, 0}, {100, 1}, {100, 7}, {100, 40}, {100, 100}} {
		x, p := table(c.rows, 5), weights()
		r := runner(t, c.chunk)
		out, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		all, err := r.PredictLayers(p, x)
		if err != nil {
			t.Fatal(err)
		}
		if out.Layers != nil || out.Logits().Rows != c.rows || out.Embedding.Rows != c.rows || len(all.Layers) != 3 {
			t.Fatalf("%+v: %d and %d rows, %d layers", c, out.Logits().Rows, out.Embedding.Rows, len(all.Layers))
		}
		for i := range c.rows {
			want := layers(p, x.Row(i))
			same(t, "embedding", out.Embedding, i, want[1])
			same(t, "logits", out.Logits(), i, want[2])
			for l, name := range []string{"hidden1", "hidden2", "logits"} {
				same(t, name, all.Layers[name], i, want[l])
			}
			if t.Failed() {
				t.Fatalf("%+v", c)
			}
		}
		if !slices.Equal(all.Logits().Data, out.Logits().Data) || !slices.Equal(all.Embedding.Data, out.Embedding.Data) {
			t.Errorf("%+v: PredictLayers gives other logits or embeddings than Predict", c)
		}
	}
}

func TestPredictHasTheSameBitsSideBySide(t *testing.T) {
	r, x, p := runner(t, 64), table(500, 5), weights()
	want, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	hash := p.Hash()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			out, err := r.Predict(p, x)
			if err != nil {
				t.Error(err)
				return
			}
			if !slices.Equal(out.Logits().Data, want.Logits().Data) {
				t.Error("another result")
			}
			if _, err := r.PredictLayers(p, x); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if p.Hash() != hash {
		t.Error("Predict wrote to the weights")
	}
}

func TestPredictRefusesWhatItCannotUse(t *testing.T) {
	r := runner(t, 0)
	nan := table(10, 5)
	nan.Row(7)[2] = float32(math.NaN())
	torn := table(10, 5)
	torn.Data = torn.Data[:48]
	damaged := weights()
	damaged[3].Data[4] = float32(math.Inf(1))
	other := model.InitialWeights(tabular.MLP{Features: 5, Outputs: 3, Hidden: 8}, engine.Root(1).Stream(engine.StreamInit))
	for name, c := range map[string]struct {
		p     nn.Params
		x     array.Matrix[float32]
		words []string
	}{
		"NaN":             {weights(), nan, []string{"row 7, column 2 is NaN"}},
		"torn table":      {weights(), torn, []string{"48 values do not fill 10 x 5"}},
		"features":        {weights(), table(10, 4), []string{"takes 5 features, the data have 4"}},
		"no rows":         {weights(), table(0, 5), []string{"no rows"}},
		"damaged weights": {damaged, table(10, 5), []string{"hidden2.bias", "element 4 is +Inf"}},
		"other weights":   {other, table(10, 5), []string{"hidden1.weight [8 5]", "[9 5]"}},
		"no weights":      {nil, table(10, 5), []string{"0 tensors against 6"}},
	} {
		for _, predict := range []func(nn.Params, array.Matrix[float32]) (*model.Prediction, error){r.Predict, r.PredictLayers} {
			_, err := predict(c.p, c.x)
			if err == nil {
				t.Errorf("%s: no error", name)
				continue
			}
			for _, w := range append(c.words, "tabular-mlp") {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: error %q does not say %q", name, err, w)
				}
			}
		}
	}
}

func TestNewRunnerRefusesABadArchitecture(t *testing.T) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := model.NewRunner(e, tabular.MLP{Features: 0, Outputs: 2}); err == nil || !strings.Contains(err.Error(), "0 features") {
		t.Errorf("error %v", err)
	}
}

func TestChunksCoverEveryRecordOnceInFewShapes(t *testing.T) {
	for _, largest := range []int{1, 7, 32, 100, 256} {
		for n := range 600 {
			next := 0
			shapes := map[int]bool{}
			for _, c := range model.Chunks(n, largest) {
				if c.First != next || c.N < 1 || c.N > largest || c.Padded < c.N || c.Padded > largest {
					t.Fatalf("%d records in chunks of %d: %+v after %d", n, largest, c, next)
				}
				if c.Padded%32 != 0 && c.Padded != largest {
					t.Fatalf("%d records in chunks of %d: shape %d", n, largest, c.Padded)
				}
				shapes[c.Padded] = true
				next = c.First + c.N
			}
			if next != n || len(shapes) > 2 {
				t.Fatalf("%d records in chunks of %d: covered %d in %d shapes", n, largest, next, len(shapes))
			}
		}
	}
}

func TestFeatureMajorTransposesAndPadsWithZeros(t *testing.T) {
	e := runner(t, 0).Engine
	x := array.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{1, 2, 3, 4, 5, 6}}
	for _, c := range []struct {
		rows  []int
		chunk model.Chunk
		want  []float32
	}{
		{nil, model.Chunk{First: 0, N: 3, Padded: 4}, []float32{1, 3, 5, 0, 2, 4, 6, 0}},
		{nil, model.Chunk{First: 1, N: 2, Padded: 2}, []float32{3, 5, 4, 6}},
		{[]int{2, 0, 2}, model.Chunk{First: 1, N: 2, Padded: 3}, []float32{1, 5, 0, 2, 6, 0}},
	} {
		if got := laid(t, e, x, c.rows, c.chunk); !slices.Equal(got, c.want) {
			t.Errorf("%v %+v: %v, want %v", c.rows, c.chunk, got, c.want)
		}
	}
}

// Every number of records and features about those that are laid out side by side,
// against one element at a time; memory that held something else is used again.
func TestFeatureMajorPutsEveryElementInItsPlace(t *testing.T) {
	e := runner(t, 0).Engine
	const records = 700
	rows := make([]int, records)
	for i := range rows {
		rows[i] = i * 11 % records
	}
	sizes := []int{690} // with 300 features it is cut among cores
	for n := 1; n <= 50; n++ {
		sizes = append(sizes, n)
	}
	for _, cols := range []int{5, 127, 128, 131, 300} {
		x := array.New[float32](records, cols)
		for i := range x.Data {
			x.Data[i] = float32(i + 1)
		}
		for _, n := range sizes {
			c := model.Chunk{First: 9, N: n, Padded: n + n%3}
			listed, whole := make([]float32, cols*c.Padded), make([]float32, cols*c.Padded)
			for i := range n {
				for j := range cols {
					listed[j*c.Padded+i] = float32(rows[c.First+i]*cols + j + 1)
					whole[j*c.Padded+i] = float32((c.First+i)*cols + j + 1)
				}
			}
			if !slices.Equal(laid(t, e, x, rows, c), listed) || !slices.Equal(laid(t, e, x, nil, c), whole) {
				t.Fatalf("%d records of %d features: an element is not in its place", n, cols)
			}
		}
	}
}

func laid(t *testing.T, e *engine.Engine, x array.Matrix[float32], rows []int, c model.Chunk) (out []float32) {
	t.Helper()
	m, err := model.FeatureMajor(e, x, rows, c)
	if err != nil {
		t.Fatal(err)
	}
	defer m.FinalizeAll()
	if err := tensors.ConstFlatData(m, func(flat []float32) { out = slices.Clone(flat) }); err != nil {
		t.Fatal(err)
	}
	return out
}

func ExampleRunner_Predict() {
	e, err := engine.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	mlp := tabular.MLP{Features: 2, Outputs: 2, Hidden: 4}
	r, err := model.NewRunner(e, mlp)
	if err != nil {
		log.Fatal(err)
	}
	p := model.InitialWeights(mlp, engine.Root(1).Stream(engine.StreamInit))
	out, err := r.Predict(p, array.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{0, 1, 2, 3, 4, 5}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("logits %d x %d, embedding %d x %d\n", out.Logits().Rows, out.Logits().Cols, out.Embedding.Rows, out.Embedding.Cols)
	// Output: logits 3 x 2, embedding 3 x 4
}
