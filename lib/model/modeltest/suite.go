// The conformance suite of networks.

package modeltest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Run is the conformance suite of a network, small enough that a gradient takes little time. It tests
// that the network is what it says it is; that its initial weights follow from the generator alone, and are
// others with another one, unless all numbers of a weight are the same or the network is a model.Pretrained;
// that its answer for a record does not depend on other records, in inference and, unless it uses
// batch statistics, in training; that no gradient is lost at an operation that is not recorded; and
// that the gradient of every weight is the slope of the outputs.
//
// records makes records that the network can take; nil: standard normal numbers, or tokens. A weight
// whose gradient the network stops on purpose fails, unless it is state.
func Run(t *testing.T, a model.Architecture, records func(n int) array.Matrix[float32]) {
	t.Helper()
	s, err := newSuite(a, records)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.runner.Engine.Close)
	for _, c := range s.checks() {
		t.Run(c.name, func(t *testing.T) {
			if err := c.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// suite is a run of the suite.
type suite struct {
	arch    model.Architecture
	runner  *model.Runner
	weights nn.Params // all of them drawn: initial weights can be 0
	x       array.Matrix[float32]
}

const batch = 8

func newSuite(a model.Architecture, records func(n int) array.Matrix[float32]) (*suite, error) {
	e, err := enginetest.Open()
	if err != nil {
		return nil, err
	}
	r, err := model.NewRunner(e, a)
	if err != nil {
		e.Close()
		return nil, err
	}
	if _, err := model.CheckPretrained(r.Arch); err != nil {
		e.Close()
		return nil, err
	}
	s := &suite{arch: r.Arch, runner: r, weights: model.InitialWeights(a, generator(1))}
	rng := generator(2)
	for _, v := range s.weights {
		for i := range v.Data {
			if !v.State {
				v.Data[i] += 0.1 * float32(rng.NormFloat64())
			}
		}
	}
	if records == nil {
		records = s.records
	}
	s.x = records(batch)
	return s, nil
}

func generator(part uint64) *rand.Rand { return engine.Root(8).Stream("modeltest", part) }

// records makes normal numbers, or tokens.
func (s *suite) records(n int) array.Matrix[float32] {
	rng, x := generator(3), array.New[float32](n, s.arch.Inputs())
	reader, tokens := s.arch.(model.TokenReader)
	for i := range x.Data {
		if tokens {
			x.Data[i] = float32(rng.IntN(reader.VocabularySize()))
		} else {
			x.Data[i] = float32(rng.NormFloat64())
		}
	}
	return x
}

// check is one check of the suite.
type check struct {
	name  string
	check func() error
}

func (s *suite) checks() []check {
	return []check{
		{"is what it says", s.checkDescription},
		{"draws its weights from the generator alone", s.checkInitialWeights},
		{"answers for every record alone", func() error { return s.runner.CheckRecords(s.weights, s.x) }},
		{"trains on every record alone", s.checkTrainingRecords},
		{"records its operations", s.checkRecorded},
		{"has the gradients of its outputs", s.checkSlopes},
	}
}

func (s *suite) checkDescription() error {
	var errs []error
	a, seen := s.arch, map[string]bool{}
	if a.Name() == "" || a.Inputs() < 1 {
		errs = append(errs, fmt.Errorf("the name is %q and the number of features %d", a.Name(), a.Inputs()))
	}
	for _, o := range a.Returns() {
		if o.Name == "" || o.Width < 1 || seen[o.Name] {
			errs = append(errs, fmt.Errorf("its Returns names an output %q of width %d; names differ, and widths are above 0", o.Name, o.Width))
		}
		seen[o.Name] = true
	}
	c, is := a.(model.Classifier)
	if is && !slices.Equal(a.Returns(), model.ClassifierOutputs(c.Classes())) {
		errs = append(errs, fmt.Errorf("a classifier of %d classes returns %v, want one score per class, %v",
			c.Classes(), a.Returns(), model.ClassifierOutputs(c.Classes())))
	}
	if n, both := a.(model.Network); is && both {
		errs = append(errs, checkForData(a, n, c.Classes()))
	}
	return errors.Join(errs...)
}

// checkForData checks that the network for data of its own sizes is the network itself.
func checkForData(a model.Architecture, n model.Network, classes int) error {
	s := model.Sizes{Features: a.Inputs(), Classes: classes}
	if shaped, is := a.(model.Shaped); is && len(shaped.Axes()) == 3 {
		copy(s.Shape[:], shaped.Axes())
	}
	if tokens, is := a.(model.TokenReader); is {
		s.Vocabulary = tokens.VocabularySize()
	}
	got, err := model.Fit(n, s)
	if err != nil {
		return fmt.Errorf("ForData refuses data of the network's own sizes: %w", err)
	}
	if !reflect.DeepEqual(got, a) {
		return fmt.Errorf("ForData makes %+v of %+v, for data of its own sizes", got, a)
	}
	return nil
}

func (s *suite) checkInitialWeights() error {
	one, again := model.InitialWeights(s.arch, generator(4)), model.InitialWeights(s.arch, generator(4))
	if err := nn.SameShape(one, s.runner.WeightShapes()); err != nil {
		return fmt.Errorf("with a generator the network takes other weights than without: %w", err)
	}
	other := model.InitialWeights(s.arch, generator(6))
	_, pretrained := s.arch.(model.Pretrained)
	for i, v := range one {
		switch {
		case !slices.Equal(v.Data, again[i].Data):
			return fmt.Errorf("the initial values of %s differ for the same generator", v.Name)
		case !pretrained && !v.State && !isConstant(v.Data) && slices.Equal(v.Data, other[i].Data):
			return fmt.Errorf("the initial values of %s are the same with another generator: models of different seeds would begin alike; "+
				"draw them with the generator that the layer is given, Builder.Rand, and with no seed of your own and no clock; "+
				"a network that begins with trained weights is a model.Pretrained", v.Name)
		}
	}
	return one.Check()
}

// isConstant reports whether all numbers are the same, as those of a bias that begins at 0.
func isConstant(x []float32) bool {
	return !slices.ContainsFunc(x, func(v float32) bool { return v != x[0] })
}

// gradient is the result of a step.
type gradient struct {
	losses []float64   // of the records
	grads  [][]float64 // of the sum, by weight; nil for state
}

// rowFactor returns the fixed number of an output's row.
func rowFactor(row int) float32 { return float32(math.Cos(float64(3*row + 1))) }

// program builds a step: the losses are sums of all outputs times fixed numbers.
func (s *suite) program(check bool) func(in []*Node) []*Node {
	return func(in []*Node) []*Node {
		n := len(s.weights)
		t := &nn.Tape{Training: true}
		w, x := in[:n], in[n]
		tr := s.runner.Forward(t, w, x, in[n+1:])
		total, from, outputs := s.sum(tr)
		if check {
			if err := t.CheckRecorded(outputs, w, s.weights, nil); err != nil {
				panic(err)
			}
		}
		for i, v := range s.weights {
			if v.State && t.Statistic(w[i]) == nil {
				panic(fmt.Errorf("no layer reports a statistic for %s, which is state", v.Name))
			}
		}
		return append([]*Node{total}, t.Backward(from, w)...)
	}
}

// sum returns the sum of all outputs times fixed numbers, by record, its derivatives, and the outputs.
func (s *suite) sum(tr model.Trace) (total *Node, from nn.Adjoints, outputs []*Node) {
	from = nn.Adjoints{}
	for _, o := range s.arch.Returns() {
		out := tr.Outputs[o.Name]
		factors := array.New[float32](o.Width, 1)
		for i := range factors.Data {
			factors.Data[i] = rowFactor(i)
		}
		f := BroadcastToDims(Const(out.Graph(), tensors.FromFlatDataAndDimensions(factors.Data, o.Width, 1)), out.Shape().Dimensions...)
		loss := ReduceAndKeep(Mul(out, f), ReduceSum, 0)
		if outputs = append(outputs, out); total == nil {
			total = loss
		} else {
			total = Add(total, loss)
		}
		if from[out] != nil {
			f = Add(from[out], f)
		}
		from[out] = f
	}
	return total, from, outputs
}

// step returns the gradient at weights p on some of the records.
func (s *suite) step(p nn.Params, first, n int) (g gradient, err error) {
	e := s.runner.Engine
	exec, err := s.runner.Program("modeltest", s.program(false))
	if err != nil {
		return g, err
	}
	in, err := s.runner.Upload(p)
	if err != nil {
		return g, err
	}
	x, err := model.FeatureMajor(e, s.x, nil, model.Chunk{First: first, N: n, Padded: n})
	if err != nil {
		return g, err
	}
	in = append(in, x)
	for k, d := range s.runner.RandomInputs() {
		flat := make([]float32, d.Units*n)
		d.Fill(flat, uint64(77+k), first, n)
		in = append(in, tensors.FromFlatDataAndDimensions(flat, d.Units, n))
	}
	out, err := exec.Call(in...)
	if err != nil {
		return g, engine.Explain(err)
	}
	g.losses = floats(out[0])
	for i, v := range p {
		if g.grads = append(g.grads, floats(out[1+i])); v.State {
			g.grads[i] = nil
		}
	}
	return g, nil
}

func floats(t *tensors.Tensor) (out []float64) {
	_ = tensors.ConstFlatData(t, func(flat []float32) {
		for _, v := range flat {
			out = append(out, float64(v))
		}
	})
	return out
}

// checkRecorded builds a step and checks that no gradient is lost.
func (s *suite) checkRecorded() error {
	exec, err := s.runner.Program("modeltest, checked", s.program(true))
	if err != nil {
		return err
	}
	in, err := s.runner.Upload(s.weights)
	if err != nil {
		return err
	}
	in = append(in, tensors.FromFlatDataAndDimensions(make([]float32, s.arch.Inputs()*2), s.arch.Inputs(), 2))
	for _, d := range s.runner.RandomInputs() {
		in = append(in, tensors.FromFlatDataAndDimensions(make([]float32, d.Units*2), d.Units, 2))
	}
	_, err = exec.Call(in...)
	return engine.Explain(err)
}

// checkTrainingRecords checks that in training, too, the outputs for a record depend on that record
// alone, and that the gradient of a batch is the sum of the records'.
func (s *suite) checkTrainingRecords() error {
	if model.HasBatchStats(s.arch) {
		return nil
	}
	all, err := s.step(s.weights, 0, batch)
	if err != nil {
		return err
	}
	sums, lengths, largest := make([][]float64, len(all.grads)), make([]float64, len(all.grads)), 0.0
	for _, v := range all.losses {
		largest = max(largest, math.Abs(v))
	}
	for i := range batch {
		one, err := s.step(s.weights, i, 1)
		if err != nil {
			return err
		}
		if d := math.Abs(one.losses[0] - all.losses[i]); !(d <= 1e-3*largest) {
			return fmt.Errorf("in training the outputs for a record depend on the other records of its batch: alone the sum of one is %v, among others %v; "+
				"a network with batch normalisation says so with UsesBatchStats", one.losses[0], all.losses[i])
		}
		for k, g := range one.grads {
			if sums[k] == nil {
				sums[k] = make([]float64, len(g))
			}
			lengths[k] += norm(g)
			for j, v := range g {
				sums[k][j] += v
			}
		}
	}
	for k, g := range all.grads {
		if far := distance(g, sums[k]); g != nil && !(far <= 2e-3*lengths[k]) {
			return fmt.Errorf("the gradient of %s on a batch is not the sum of those on its records: it is %v away, and %v long",
				s.weights[k].Name, far, norm(g))
		}
	}
	return nil
}

func norm(g []float64) float64 { return distance(g, make([]float64, len(g))) }

func distance(a, b []float64) (d float64) {
	for i, v := range a {
		d += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(d)
}

// slopeBlur is what rounding may do to a slope over a long step, relative to the outputs: a gradient that is small
// beside others, behind a small factor, is held to as many digits as they are.
const slopeBlur = 4e-5

// checkSlopes compares the gradient of every weight with the slope of the sum of the outputs, in the
// gradient's direction and in a random one.
func (s *suite) checkSlopes() error {
	at, err := s.step(s.weights, 0, batch)
	if err != nil {
		return err
	}
	var errs []error
	rng, blur := generator(5), 0.0
	for _, v := range at.losses {
		blur += slopeBlur * math.Abs(v)
	}
	for i, g := range at.grads {
		if g == nil {
			continue
		}
		random := make([]float64, len(g))
		for j := range random {
			random[j] = rng.NormFloat64()
		}
		for _, direction := range [][]float64{g, random} {
			if err := s.checkSlope(i, g, direction, blur); err != nil {
				errs = append(errs, err)
				break
			}
		}
	}
	return errors.Join(errs...)
}

// checkSlope compares the gradient g of weight i with the slope in a direction. Of several steps the
// best counts: a long one crosses kinks, and a short one is lost in rounding. blur is what rounding may do to a slope.
func (s *suite) checkSlope(i int, g, direction []float64, blur float64) error {
	long := norm(direction)
	if long == 0 {
		return nil
	}
	want, best := 0.0, math.Inf(1)
	for j, v := range g {
		want += v * direction[j] / long
	}
	nearest := math.NaN()
	for _, h := range []float64{0.01, 0.05, 0.002, 4e-4, 1e-4} {
		slope, err := s.slope(i, direction, h/long, h)
		if err != nil {
			return err
		}
		if d := math.Abs(slope - want); d < best {
			best, nearest = d, slope
		}
		if best <= 0.03*(math.Abs(want)+norm(g))+blur {
			return nil
		}
	}
	return fmt.Errorf("the gradient of %s is not the slope of the outputs: along a direction it is %.4g, and central differences give %.4g",
		s.weights[i].Name, want, nearest)
}

// slope is a central difference: the weights change by the direction times scale, which is h long.
func (s *suite) slope(i int, direction []float64, scale, h float64) (float64, error) {
	var values [2]float64
	for k, sign := range []float64{1, -1} {
		p := s.weights.Clone()
		for j, v := range direction {
			p[i].Data[j] += float32(sign * scale * v)
		}
		g, err := s.step(p, 0, batch)
		if err != nil {
			return 0, err
		}
		for _, v := range g.losses {
			values[k] += v
		}
	}
	return (values[0] - values[1]) / (2 * h), nil
}
