package backend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
)

// randomGraph records a random computation, the same on every backend: it has been given the
// values so far and adds one.
type randomGraph struct {
	f      compute.Function
	rng    *rand.Rand
	values []compute.Value
}

func (d *randomGraph) any() (compute.Value, []int) {
	v := d.values[d.rng.IntN(len(d.values))]
	s, err := d.f.Shape(v)
	if err != nil {
		panic(err)
	}
	return v, s.Dimensions
}

// like finds a value of the given dims.
func (d *randomGraph) like(dims []int) compute.Value {
	for range 40 {
		if v, has := d.any(); fmt.Sprint(has) == fmt.Sprint(dims) {
			return v
		}
	}
	return nil
}

func (d *randomGraph) next() (compute.Value, error) {
	x, dims := d.any()
	rank := len(dims)
	switch d.rng.IntN(12) {
	case 0:
		return d.f.Tanh(x)
	case 1:
		return d.f.Neg(x)
	case 2, 3, 4:
		y := d.like(dims)
		if y == nil {
			return d.f.Abs(x)
		}
		ops := []func(a, b compute.Value) (compute.Value, error){d.f.Add, d.f.Mul, d.f.Sub, d.f.Max}
		return ops[d.rng.IntN(len(ops))](x, y)
	case 5:
		return d.f.Transpose(x, d.rng.Perm(rank)...)
	case 6:
		if rank < 2 {
			return d.f.Reshape(x, append([]int{1}, dims...)...)
		}
		return d.f.Reshape(x, append([]int{dims[0] * dims[1]}, dims[2:]...)...)
	case 7:
		if rank == 0 {
			return d.f.Cos(x)
		}
		axis := d.rng.IntN(rank)
		y, err := d.f.ReduceSum(x, axis)
		if err != nil {
			return nil, err
		}
		var axes []int
		for i := range dims {
			if i != axis {
				axes = append(axes, i)
			}
		}
		return d.f.BroadcastInDim(y, shapes.Make(dtypes.Float32, dims...), axes)
	case 8:
		if rank == 0 {
			return d.f.Sin(x)
		}
		return d.f.ReduceMax(x, d.rng.IntN(rank))
	case 9:
		starts, ones := make([]int, rank), make([]int, rank)
		limits := append([]int{}, dims...)
		for i := range dims {
			starts[i], ones[i] = d.rng.IntN(dims[i]), 1+d.rng.IntN(2)
		}
		return d.f.Slice(x, starts, limits, ones)
	case 10:
		if rank != 2 || dims[0]*dims[0]*dims[1] > 1e6 {
			return d.f.Logistic(x)
		}
		y, err := d.f.DotGeneral(x, []int{1}, nil, x, []int{1}, nil, compute.DotGeneralConfig{})
		if err != nil {
			return nil, err
		}
		return d.f.Tanh(y)
	}
	if rank == 0 {
		return d.f.Exp(x)
	}
	axis := d.rng.IntN(rank)
	y, err := d.f.Concatenate(axis, x, x)
	if err != nil {
		return nil, err
	}
	return d.f.Tanh(y)
}

// randomPlanGraph records and runs a computation of n operations on two inputs, and returns some of
// its values.
func randomPlanGraph(b compute.Backend, seed uint64, n int) ([][]float32, error) {
	w := b.Builder("drawn")
	d := &randomGraph{f: w.Main(), rng: rand.New(rand.NewPCG(seed, 1))}
	in := rand.New(rand.NewPCG(seed, 2))
	var inputs []compute.Buffer
	for i, dims := range [][]int{{3, 37}, {37, 3}, {3, 37}} {
		s := shapes.Make(dtypes.Float32, dims...)
		v, err := d.f.Parameter(fmt.Sprint("x", i), s, nil)
		if err != nil {
			return nil, err
		}
		d.values = append(d.values, v)
		flat := make([]float32, s.Size())
		for j := range flat {
			flat[j] = float32(in.NormFloat64())
		}
		buf, err := b.BufferFromFlatData(0, flat, s)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, buf)
	}
	for range n {
		v, err := d.next()
		if err != nil {
			return nil, err
		}
		if s, _ := d.f.Shape(v); s.Size() < 1e5 && s.Rank() < 5 {
			d.values = append(d.values, v)
		}
	}
	var out []compute.Value
	for i := len(d.values) - 1; i >= 0 && len(out) < 6; i -= 1 + d.rng.IntN(4) {
		out = append(out, d.values[i])
	}
	if err := d.f.Return(out, nil); err != nil {
		return nil, err
	}
	e, err := w.Compile()
	if err != nil {
		return nil, err
	}
	results, err := e.Execute(inputs, nil, 0)
	if err != nil {
		return nil, err
	}
	var flats [][]float32
	for _, r := range results {
		s, err := r.Shape()
		if err != nil {
			return nil, err
		}
		flat := make([]float32, s.Size())
		if err := r.ToFlatData(flat); err != nil {
			return nil, err
		}
		flats = append(flats, flat)
	}
	return flats, nil
}

// Random computations agree with GoMLX's Go backend and have the same bits for any number of
// workers.
func TestRandomComputations(t *testing.T) { randomComputations(t) }

// The same with programs fused into reductions.
func TestRandomComputationsWithFusedReductions(t *testing.T) {
	defer func(n int) { minFused = n }(minFused)
	minFused = 0
	randomComputations(t)
}

func randomComputations(t *testing.T) {
	theirs, err := gobackend.New("")
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Finalize()
	for seed := range uint64(400) {
		n := 5 + int(seed)%60
		want, err := randomPlanGraph(theirs, seed, n)
		if err != nil {
			t.Fatalf("computation %d: GoMLX: %v", seed, err)
		}
		got, err := randomPlanGraph(Open(1), seed, n)
		if err != nil {
			t.Fatalf("computation %d: %v", seed, err)
		}
		again, err := randomPlanGraph(Open(3), seed, n)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if len(got[k]) != len(want[k]) {
				t.Fatalf("computation %d: value %d has %d elements, not %d", seed, k, len(got[k]), len(want[k]))
			}
			for i, v := range want[k] {
				g := got[k][i]
				if math.Float32bits(g) != math.Float32bits(again[k][i]) {
					t.Fatalf("computation %d: element %d of value %d is %v with one worker and %v with three", seed, i, k, g, again[k][i])
				}
				if d := math.Abs(float64(g - v)); d > 2e-3*math.Max(1, math.Abs(float64(v))) || math.IsNaN(float64(g)) != math.IsNaN(float64(v)) {
					t.Fatalf("computation %d: element %d of value %d is %v, should be %v", seed, i, k, g, v)
				}
			}
		}
	}
}

// planned returns the plan of a computation on vectors of n numbers.
func planned(t *testing.T, n, inputs int, record func(f compute.Function, in []compute.Value) (compute.Value, error)) *executable {
	t.Helper()
	return recorded(t, Open(1), record, slices.Repeat([]int{n}, inputs)...).(*executable)
}

// Values in a program's registers need no memory between steps.
func TestWhatIsNotStoredHasNoOffset(t *testing.T) {
	const n = 1 << 16
	e := planned(t, n, 1, func(f compute.Function, in []compute.Value) (v compute.Value, err error) {
		v = in[0]
		for range 20 {
			if v, err = f.Tanh(v); err != nil {
				return nil, err
			}
		}
		return f.ReduceSum(v)
	})
	if e.size > 4096 {
		t.Errorf("a chain of functions and its sum need %d bytes between steps", e.size)
	}
}

// A sum of values that others use too is computed in the program of these values, not in a
// program that reads all of them.
func TestASumDoesNotBringValuesIntoMemory(t *testing.T) {
	const n, values = 1 << 16, 8
	e := planned(t, n, values, func(f compute.Function, in []compute.Value) (compute.Value, error) {
		c := chain{f: f.(*function)}
		product, all := in[0], in[0]
		for _, x := range in {
			y := c.try(f.Exp(x))
			product = c.try(f.Mul(product, y))
			all = c.try(f.Add(c.try(f.Tanh(y)), all))
		}
		sum := c.try(f.ReduceSum(all))
		return c.try(f.Add(product, c.try(f.BroadcastInDim(c.try(f.Reshape(sum, 1)), shapes.Make(dtypes.Float32, n), []int{0})))), c.err
	})
	if e.size > 3*4*n {
		t.Errorf("%d values of %d bytes lie between steps", e.size/(4*n), 4*n)
	}
}

// spread repeats a number n times.
func (c *chain) spread(v compute.Value, n int) compute.Value {
	return c.try(c.f.BroadcastInDim(c.try(c.f.Reshape(v, 1)), shapes.Make(dtypes.Float32, n), []int{0}))
}

// executed runs a plan on a vector.
func executed(t *testing.T, e *executable, in []float32) []float32 {
	t.Helper()
	buf, err := e.backend.BufferFromFlatData(0, in, shapes.Make(dtypes.Float32, len(in)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.Execute([]compute.Buffer{buf}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := out[0].(*buffer).Data()
	if err != nil {
		t.Fatal(err)
	}
	return flat.([]float32)
}

// A large program whose result is used and summed is one step, which both stores and sums; a
// small one is two steps, which more workers share.
func TestASumIsFusedWithItsTerms(t *testing.T) {
	shares := func(f compute.Function, in []compute.Value) (compute.Value, error) {
		c := chain{f: f.(*function)}
		y := c.try(f.Exp(in[0]))
		return c.try(f.Div(y, c.spread(c.try(f.ReduceSum(y)), in[0].(*node).size()))), c.err
	}
	for n, steps := range map[int]int{minFused: 2, minFused - 1: 3} {
		e := planned(t, n, 1, shares)
		if len(e.steps) != steps {
			t.Errorf("%d elements: %d steps, not %d", n, len(e.steps), steps)
		}
		in := make([]float32, n)
		in[0] = float32(math.Log(float64(n)))
		got, total := executed(t, e, in), float64(2*n-1)
		if math.Abs(float64(got[0])-float64(n)/total) > 1e-6 || math.Abs(float64(got[n-1])*total-1) > 1e-6 {
			t.Errorf("%d elements: shares %v and %v", n, got[0], got[n-1])
		}
	}
}

// A program is not fused into a reduction with another operand that depends on the program:
// they would depend on each other.
func TestAReductionIsNotFusedWithADependency(t *testing.T) {
	n := minFused
	e := planned(t, n, 1, func(f compute.Function, in []compute.Value) (compute.Value, error) {
		c := chain{f: f.(*function)}
		y := c.try(f.Exp(in[0]))
		scaled := c.try(f.Mul(y, c.spread(c.try(f.ReduceMax(y)), n)))
		return c.try(f.Add(y, c.spread(c.try(f.ReduceSum(scaled)), n))), c.err
	})
	if got := executed(t, e, make([]float32, n)); got[n/2] != float32(n+1) {
		t.Errorf("%v, not %d", got[n/2], n+1)
	}
}
