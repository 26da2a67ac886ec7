package backend

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// recorded compiles a computation on float32 vectors of the given lengths.
func recorded(t *testing.T, b *Backend, record func(f compute.Function, in []compute.Value) (compute.Value, error), lengths ...int) compute.Executable {
	t.Helper()
	w := b.Builder("test")
	var values []compute.Value
	for _, n := range lengths {
		v, err := w.Main().Parameter("x", shapes.Make(dtypes.Float32, n), nil)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	out, err := record(w.Main(), values)
	if err == nil {
		err = w.Main().Return([]compute.Value{out}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// runGraph compiles a computation on float32 vectors, runs it, and returns its first value.
func runGraph(t *testing.T, b *Backend, record func(f compute.Function, in []compute.Value) (compute.Value, error), inputs ...[]float32) []float32 {
	t.Helper()
	var lengths []int
	var buffers []compute.Buffer
	for _, flat := range inputs {
		buf, err := b.BufferFromFlatData(0, flat, shapes.Make(dtypes.Float32, len(flat)))
		if err != nil {
			t.Fatal(err)
		}
		lengths, buffers = append(lengths, len(flat)), append(buffers, buf)
	}
	results, err := recorded(t, b, record, lengths...).Execute(buffers, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := results[0].Data()
	if err != nil {
		t.Fatal(err)
	}
	return flat.([]float32)
}

func normals(n int) []float32 {
	rng, out := rand.New(rand.NewPCG(7, 7)), make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// Sums along and across, short and long, are those of float64, and have the same bits
// with any number of workers, of float32 and of float64, of which fewer are computed at a time.
func TestSumsAreExactAndDoNotDependOnWorkers(t *testing.T) {
	t.Run("float32", func(t *testing.T) { sumsAreExact(t, dtypes.Float32) })
	t.Run("float64", func(t *testing.T) { sumsAreExact(t, dtypes.Float64) })
}

func sumsAreExact(t *testing.T, as dtypes.DType) {
	for _, dims := range [][]int{{1_000_003}, {7, 100_000}, {100_000, 7}, {64, 37, 129}, {5, 3}, {300, 10}, {2, 3000}} {
		n := product(dims)
		x := normals(n)
		for axes := 1; axes < 1<<len(dims); axes++ {
			var over []int
			for i := range dims {
				if axes>>i&1 == 1 {
					over = append(over, i)
				}
			}
			sum := func(workers int) []float32 {
				return runGraph(t, Open(workers), func(f compute.Function, in []compute.Value) (compute.Value, error) {
					v, err := f.Reshape(in[0], dims...)
					if err == nil {
						v, err = f.ConvertDType(v, as)
					}
					if err == nil {
						v, err = f.Mul(v, v)
					}
					if err == nil {
						v, err = f.ReduceSum(v, over...)
					}
					if err != nil {
						return nil, err
					}
					return f.ConvertDType(v, dtypes.Float32)
				}, x)
			}
			got := sum(1)
			want := make([]float64, len(got))
			for i, v := range x {
				square := float64(v * v)
				if as == dtypes.Float64 {
					square = float64(v) * float64(v)
				}
				want[keptIndex(i, dims, over)] += square
			}
			for i := range got {
				if d := math.Abs(float64(got[i])/want[i] - 1); d > 1e-7 {
					t.Fatalf("%v over %v: element %d is %v, should be %v", dims, over, i, got[i], want[i])
				}
			}
			for _, workers := range []int{2, 3, 8} {
				for i, v := range sum(workers) {
					if math.Float32bits(v) != math.Float32bits(got[i]) {
						t.Fatalf("%v over %v, %d workers: element %d is %v and not %v", dims, over, workers, i, v, got[i])
					}
				}
			}
		}
	}
}

// keptIndex is where element i of dims goes when some axes are summed over.
func keptIndex(i int, dims, over []int) int {
	at, step := 0, 1
	for axis := len(dims) - 1; axis >= 0; axis-- {
		k := i % dims[axis]
		i /= dims[axis]
		summed := false
		for _, o := range over {
			summed = summed || o == axis
		}
		if !summed {
			at += k * step
			step *= dims[axis]
		}
	}
	return at
}

// Twenty million ones are twenty million; float32 alone stops counting at 2^24.
func TestManyOnes(t *testing.T) {
	got := runGraph(t, Open(2), func(f compute.Function, in []compute.Value) (compute.Value, error) {
		v, err := f.BroadcastInDim(in[0], shapes.Make(dtypes.Float32, 20_000_000), []int{0})
		if err != nil {
			return nil, err
		}
		return f.ReduceSum(v)
	}, []float32{1})
	if got[0] != 20_000_000 {
		t.Errorf("%v", got[0])
	}
}

// The same operation on the same operands is recorded once, and the caller's slices are copied.
func TestTheSameIsRecordedOnce(t *testing.T) {
	w := newBuilder(Open(1), "test")
	x, err := w.main.Parameter("x", shapes.Make(dtypes.Float32, 3), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := w.main.Exp(x)
	b, _ := w.main.Exp(x)
	c, _ := w.main.Constant([]float32{1, 2, 3}, 3)
	d, _ := w.main.Constant([]float32{1, 2, 3}, 3)
	e, _ := w.main.Constant([]float32{1, 2, 4}, 3)
	if a != b || c != d || c == e {
		t.Error("the same twice, or two of one")
	}
}

// A slice that is filled anew makes another constant, however long it is.
func TestConstantsAreTheirValues(t *testing.T) {
	for _, n := range []int{3, 1000} {
		got := runGraph(t, Open(1), func(f compute.Function, _ []compute.Value) (compute.Value, error) {
			ch, flat := chain{f: f.(*function)}, make([]float32, n)
			flat[0] = 1
			a := ch.try(f.Constant(flat, n))
			flat[0] = 5
			b := ch.try(f.Constant(flat, n))
			y := ch.try(f.Sub(b, a))
			return y, ch.err
		})
		if got[0] != 4 {
			t.Errorf("of %d numbers: %v", n, got[0])
		}
	}
}

// The error of a kernel is the error of the execution.
func TestWhatAKernelRefusesIsAnError(t *testing.T) {
	b := Open(1)
	w := newBuilder(b, "wrong")
	x, err := w.main.Parameter("x", shapes.Make(dtypes.Float32, 2, 3), nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := w.main.DotGeneral(x, []int{1}, nil, x, []int{1}, nil, compute.DotGeneralConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.main.Return([]compute.Value{y}, nil); err != nil {
		t.Fatal(err)
	}
	e, err := compile(b, w.main)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range e.steps {
		if d, ok := s.(*dot); ok {
			d.a.row = -1
		}
	}
	in, err := b.BufferFromFlatData(0, make([]float32, 6), shapes.Make(dtypes.Float32, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Execute([]compute.Buffer{in}, nil, 0); err == nil || !strings.Contains(err.Error(), `"wrong"`) {
		t.Errorf("%v", err)
	}
}

// Errors say what is wrong; those of unsupported operations say so.
func TestRefusals(t *testing.T) {
	b := Open(1)
	fresh := func() (*builder, compute.Value) {
		w := newBuilder(b, "test")
		x, err := w.main.Parameter("x", shapes.Make(dtypes.Float32, 2, 3), nil)
		if err != nil {
			t.Fatal(err)
		}
		return w, x
	}
	// given runs a computation that takes x and returns it on other inputs.
	given := func(inputs ...compute.Buffer) error {
		w, x := fresh()
		if err := w.main.Return([]compute.Value{x}, nil); err != nil {
			return err
		}
		e, err := w.Compile()
		if err == nil {
			_, err = e.Execute(inputs, nil, 0)
		}
		return err
	}
	w, x := fresh()
	_, other := fresh()
	three, _ := w.main.Constant([]float32{1, 2, 3}, 3)
	refused := map[string]func() error{
		"a value of another computation": func() error { _, err := w.main.Neg(other); return err },
		"is not a value of this backend": func() error { _, err := w.main.Neg("x"); return err },
		"rank must match":                func() error { _, err := w.main.Add(x, three); return err },
		"reshape":                        func() error { _, err := w.main.Reshape(x, 4); return err },
		"a constant of string":           func() error { _, err := w.main.Constant("x"); return err },
		"3 values does not fill":         func() error { _, err := w.main.Constant([]float32{1, 2, 3}, 2); return err },
		"axis 5 of":                      func() error { _, err := w.main.Reverse(x, 5); return err },
		"returns nothing":                func() error { return w.main.Return(nil, nil) },
		"\"test\" returns nothing":       func() error { w, _ := fresh(); _, err := w.Compile(); return err },
		"is not a number of workers":     func() error { _, err := New("many"); return err },
		"after Return": func() error {
			w, x := fresh()
			if err := w.main.Return([]compute.Value{x}, nil); err != nil {
				return err
			}
			_, err := w.main.Neg(x)
			return err
		},
		"after Finalize": func() error {
			buf, err := b.BufferFromFlatData(0, []float32{1}, shapes.Make(dtypes.Float32, 1))
			if err != nil {
				return err
			}
			if err := buf.Finalize(); err != nil {
				return err
			}
			_, err = buf.Data()
			return err
		},
		"takes 1 inputs, not 0": func() error { return given() },
		"input 0 is (Float32)[6] and should be (Float32)[2, 3]": func() error {
			buf, err := b.BufferFromFlatData(0, make([]float32, 6), shapes.Make(dtypes.Float32, 6))
			if err != nil {
				return err
			}
			return given(buf)
		},
		"it is closed": func() error {
			b := Open(1)
			b.Finalize()
			_, err := b.BufferFromFlatData(0, []float32{1}, shapes.Make(dtypes.Float32, 1))
			return err
		},
	}
	for want, f := range refused {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	for op, f := range map[string]func() error{
		"FFT":      func() error { _, err := w.main.FFT(x, compute.FFTForward, nil); return err },
		"float16":  func() error { _, err := w.main.ConvertDType(x, dtypes.Float16); return err },
		"Complex":  func() error { _, err := w.main.Complex(x, x); return err },
		"products": func() error { _, err := w.main.BitwiseAnd(x, x); return err },
	} {
		if err := f(); err == nil || op != "products" && !errors.Is(err, compute.ErrNotImplemented) {
			t.Errorf("%s: %v", op, err)
		}
	}
}
