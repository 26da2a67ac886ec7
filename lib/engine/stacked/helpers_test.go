// What the tests share: backends, random tensors, and the comparison of a stacked run with single ones.

package stacked

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
)

const models = 3

// forEachBackend runs a test on the engine of the tests and on GoMLX's Go backend.
func forEachBackend(t *testing.T, test func(t *testing.T, b compute.Backend)) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	t.Run(e.Info().Kind, func(t *testing.T) { test(t, e.Backend()) })
	if e.Info().Kind == "go" {
		return
	}
	b, err := gobackend.New("ops_sequential,parallelism=0")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Finalize()
	t.Run("go", func(t *testing.T) { test(t, b) })
}

// sample describes random tensors: numbers in [low, high).
type sample struct {
	shape     shapes.Shape
	low, high float64
	fixed     bool // always shared
}

func floats(dims ...int) sample {
	return sample{shape: shapes.Make(dtypes.Float32, dims...), low: -2, high: 2}
}

// fractions are numbers between 0.1 and 0.9.
func fractions(dims ...int) sample {
	return sample{shape: shapes.Make(dtypes.Float32, dims...), low: 0.1, high: 0.9}
}

func ints(low, high int, dims ...int) sample {
	return sample{shape: shapes.Make(dtypes.Int32, dims...), low: float64(low), high: float64(high)}
}

func words(dims ...int) sample {
	return sample{shape: shapes.Make(dtypes.Uint64, dims...), high: 1 << 60}
}

func bools(dims ...int) sample { return sample{shape: shapes.Make(dtypes.Bool, dims...), high: 2} }

func (s sample) typed(t dtypes.DType) sample {
	s.shape = shapes.Make(t, s.shape.Dimensions...)
	return s
}

func (s sample) shared() sample {
	s.fixed = true
	return s
}

// draw returns a slice with the numbers of n tensors.
func (s sample) draw(rng *rand.Rand, n int) any {
	flat := reflect.MakeSlice(reflect.SliceOf(s.shape.DType.GoType()), n*s.shape.Size(), n*s.shape.Size())
	for i := range flat.Len() {
		v := s.low + (s.high-s.low)*rng.Float64()
		if s.shape.DType == dtypes.Bool {
			flat.Index(i).SetBool(v >= 1)
			continue
		}
		if s.shape.DType.IsInt() {
			v = math.Floor(v)
		}
		flat.Index(i).Set(reflect.ValueOf(v).Convert(s.shape.DType.GoType()))
	}
	return flat.Interface()
}

// tensor returns a tensor with a copy of the numbers from the first index to before the second.
func tensor(flat any, from, until int, dims ...int) *tensors.Tensor {
	shape := shapes.Make(dtypes.FromGoType(reflect.TypeOf(flat).Elem()), dims...)
	t := tensors.FromShape(shape)
	err := t.MutableFlatData(func(to any) { reflect.Copy(reflect.ValueOf(to), reflect.ValueOf(flat).Slice(from, until)) })
	if err != nil {
		panic(err)
	}
	return t
}

// comparison compares a graph of one model, run for several models at once, with single runs.
type comparison struct {
	in        []sample
	build     func(in []*Node) []*Node
	tolerance float64 // relative to the largest number of a result; 0: equal
}

// aloneError is the error of a graph that does not run for one model.
type aloneError struct{ error }

// checkAll compares the runs for every choice of shared inputs.
func (c comparison) checkAll(b compute.Backend) error {
	alone, err := NewExec(b, c.build)
	if err != nil {
		return err
	}
	for choice := range 1 << len(c.in) {
		shared, impossible := make([]bool, len(c.in)), false
		for i, s := range c.in {
			shared[i] = choice>>i&1 == 1
			impossible = impossible || s.fixed && !shared[i]
		}
		if impossible {
			continue
		}
		if err := c.check(b, alone, shared); err != nil {
			return fmt.Errorf("shared %v: %w", shared, err)
		}
	}
	return nil
}

// check compares the runs with the inputs in shared the same for all models.
func (c comparison) check(b compute.Backend, alone *Exec, shared []bool) error {
	rng := rand.New(rand.NewPCG(7, 11))
	inputs := make([]Input, len(c.in))
	stackedIn := make([]*tensors.Tensor, len(c.in))
	singleIn := make([][]any, models)
	for i, s := range c.in {
		inputs[i] = Input{Name: fmt.Sprint("in", i), Shape: s.shape, Shared: shared[i]}
		n, size := models, s.shape.Size()
		if shared[i] {
			n = 1
		}
		flat := s.draw(rng, n)
		dims := s.shape.Dimensions
		if !shared[i] {
			dims = prepend(models, dims)
		}
		stackedIn[i] = tensor(flat, 0, n*size, dims...)
		for m := range models {
			k := m % n
			singleIn[m] = append(singleIn[m], tensor(flat, k*size, (k+1)*size, s.shape.Dimensions...))
		}
	}
	want := make([][]*tensors.Tensor, models)
	for m := range models {
		var err error
		if want[m], err = alone.Call(singleIn[m]...); err != nil {
			return aloneError{err}
		}
	}
	p, err := Compile(b, models, inputs, c.build)
	if err != nil {
		return err
	}
	defer p.Close()
	got, err := p.Run(stackedIn...)
	if err != nil {
		return err
	}
	for k, g := range got {
		for m := range models {
			if err := c.compare(g, want[m][k], m); err != nil {
				return fmt.Errorf("result %d of model %d: %w", k, m, err)
			}
		}
	}
	return nil
}

// compare compares a model's part of a stacked result with a single one.
func (c comparison) compare(got, want *tensors.Tensor, m int) error {
	if s := withModels(models, want.Shape()); !got.Shape().Equal(s) {
		return fmt.Errorf("the shape is %s, want %s", got.Shape(), s)
	}
	size := want.Shape().Size()
	part := reflect.ValueOf(copied(got)).Slice(m*size, (m+1)*size)
	single := reflect.ValueOf(copied(want))
	most := 0.0
	if c.tolerance > 0 {
		for i := range size {
			most = max(most, math.Abs(single.Index(i).Convert(reflect.TypeFor[float64]()).Float()))
		}
	}
	for i := range size {
		a, b := part.Index(i), single.Index(i)
		if a.Equal(b) || a.CanFloat() && math.IsNaN(a.Float()) && math.IsNaN(b.Float()) {
			continue
		}
		if c.tolerance > 0 && math.Abs(a.Float()-b.Float()) <= c.tolerance*most {
			continue
		}
		return fmt.Errorf("element %d is %v, alone %v (largest %g)", i, a, b, most)
	}
	return nil
}

func copied(t *tensors.Tensor) (flat any) {
	err := t.ConstFlatData(func(f any) {
		v := reflect.ValueOf(f)
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		flat = c.Interface()
	})
	if err != nil {
		panic(err)
	}
	return flat
}
