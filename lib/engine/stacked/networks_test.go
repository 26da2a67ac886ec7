// Training steps of the networks, and an epoch as one loop, for models side by side and one by one.

package stacked_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/stacked"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

const models = 3

// optimizer has a large epsilon, so that gradients near 0 do not become steps of full length.
var optimizer = nn.Adam{LR: 0.01, Eps: 1e-3}

// network is a network with its losses.
type network struct {
	arch   model.Architecture
	losses []loss.Loss
	like   nn.Params
	// tolerance is the largest allowed difference of a result, relative to its largest
	// number. Batch normalisations of few numbers make rounding errors grow.
	tolerance float64
}

func newNetwork(arch model.Architecture, losses ...loss.Loss) network {
	return network{arch, losses, model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit)), 2e-5}
}

func (n network) within(tolerance float64) network {
	n.tolerance = tolerance
	return n
}

// lossInputs returns the names and widths of the inputs of a loss.
func (n network) lossInputs(l loss.Loss) ([]string, map[string]int) {
	widths, err := l.Inputs(model.OutputWidths(n.arch))
	if err != nil {
		panic(err)
	}
	return slices.Sorted(maps.Keys(widths)), widths
}

// step builds a training step. state are the weights, then two slots per weight; data are x,
// the random inputs, the inputs of the losses and the optimiser's parameters. It returns the
// loss and the new state.
func (n network) step(state, data []*Node) (*Node, []*Node) {
	w, slots := state[:len(n.like)], state[len(n.like):]
	x, data := data[0], data[1:]
	draws, data := data[:len(model.RandomInputs(n.arch))], data[len(model.RandomInputs(n.arch)):]
	tape := &nn.Tape{Training: true}
	trace := model.Forward(n.arch, tape, w, x, draws)
	var total *Node
	from := nn.Adjoints{}
	for _, l := range n.losses {
		batch := loss.Batch{Outputs: trace.Outputs, Inputs: map[string]*Node{}}
		names, _ := n.lossInputs(l)
		for _, name := range names {
			batch.Inputs[name], data = data[0], data[1:]
		}
		v := loss.Build(l, batch)
		weight := OnesLike(v.Losses)
		total = sum(total, v.Losses)
		for node, d := range trace.Adjoints(v, weight) {
			from[node] = sum(from[node], d)
		}
	}
	grads := tape.Backward(from, w)
	var rule []*Node
	for k := range data[0].Shape().Dimensions[0] {
		rule = append(rule, Reshape(Slice(data[0], AxisElem(k))))
	}
	next := make([]*Node, len(state))
	for i, p := range n.like {
		own := []int{len(n.like) + 2*i, len(n.like) + 2*i + 1}
		if p.State {
			next[i], next[own[0]], next[own[1]] = nn.UpdatedRunning(w[i], tape.Statistic(w[i])), slots[2*i], slots[2*i+1]
			continue
		}
		moved, left := optimizer.GraphStep(w[i], Reshape(grads[i], p.Shape...), slots[2*i:2*i+2], rule)
		next[i], next[own[0]], next[own[1]] = moved, left[0], left[1]
	}
	return engine.Sum(total), next
}

func sum(a, b *Node) *Node {
	if a == nil {
		return b
	}
	return Add(a, b)
}

// input is an input of a graph with its values: one slice per model, or one for all.
type input struct {
	name   string
	shape  shapes.Shape
	values []any
}

func newInput(name string, values []any, dims ...int) input {
	return input{name, shapes.Make(dtypes.FromGoType(reflect.TypeOf(values[0]).Elem()), dims...), values}
}

func (in input) shared() bool { return len(in.values) == 1 }

// all returns the tensor for all models.
func (in input) all() *tensors.Tensor {
	dims := in.shape.Dimensions
	if !in.shared() {
		dims = append([]int{len(in.values)}, dims...)
	}
	flat := reflect.MakeSlice(reflect.TypeOf(in.values[0]), 0, 0)
	for _, v := range in.values {
		flat = reflect.AppendSlice(flat, reflect.ValueOf(v))
	}
	return newTensor(flat, dims)
}

// alone returns the tensor for one model.
func (in input) alone(m int) *tensors.Tensor {
	return newTensor(reflect.ValueOf(in.values[m%len(in.values)]), in.shape.Dimensions)
}

func newTensor(flat reflect.Value, dims []int) *tensors.Tensor {
	t := tensors.FromShape(shapes.Make(dtypes.FromGoType(flat.Type().Elem()), dims...))
	if err := t.MutableFlatData(func(to any) { reflect.Copy(reflect.ValueOf(to), flat) }); err != nil {
		panic(err)
	}
	return t
}

// perModel returns values for every model, or for all.
func perModel(shared bool, draw func(m int) any) (out []any) {
	for m := range models {
		if m == 0 || !shared {
			out = append(out, draw(m))
		}
	}
	return out
}

func normals(rng *rand.Rand, n int, scale float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(scale * rng.NormFloat64())
	}
	return out
}

// oneHot draws a class for each of n records, [classes, n].
func oneHot(rng *rand.Rand, classes, n int) []float32 {
	out := make([]float32, classes*n)
	for i := range n {
		out[rng.IntN(classes)*n+i] = 1
	}
	return out
}

// state are the inputs of weights and slots.
func (n network) state() (in []input) {
	for i, p := range n.like {
		in = append(in, newInput("w"+fmt.Sprint(i), perModel(false, func(m int) any {
			return model.InitialWeights(n.arch, engine.Root(uint64(m+1)).Stream(engine.StreamInit))[i].Data
		}), p.Shape...))
	}
	for i, p := range n.like {
		for k := range 2 {
			in = append(in, newInput(fmt.Sprintf("slot%d of w%d", k, i), perModel(false, func(int) any { return make([]float32, len(p.Data)) }), p.Shape...))
		}
	}
	return in
}

// data are the other inputs of a step, for a number of records.
func (n network) data(records int, sharedRecords bool) []input {
	rng := rand.New(rand.NewPCG(3, 5))
	in := []input{newInput("x", perModel(sharedRecords, func(int) any { return normals(rng, n.arch.Inputs()*records, 1) }), n.arch.Inputs(), records)}
	for k, d := range model.RandomInputs(n.arch) {
		in = append(in, newInput(fmt.Sprint("draw", k), perModel(false, func(m int) any {
			v := make([]float32, d.Units*records)
			d.Fill(v, uint64(100*m+k), 0, records)
			return v
		}), d.Units, records))
	}
	for k, l := range n.losses {
		names, widths := n.lossInputs(l)
		for _, name := range names {
			in = append(in, newInput(fmt.Sprint(name, k), perModel(sharedRecords, func(int) any { return oneHot(rng, widths[name], records) }), widths[name], records))
		}
	}
	rule := optimizer.StepParams(1, 1)
	return append(in, newInput("rule", []any{rule}, len(rule)))
}

// difference runs a graph a number of times for the models side by side and one by one. The
// first results of the graph are extra ones; the others replace the first inputs in the next
// run. It returns the largest difference of a result, relative to its largest number.
func difference(b compute.Backend, in []input, runs, extra int, build func(in []*Node) []*Node) (float64, error) {
	declared := make([]stacked.Input, len(in))
	together := make([]*tensors.Tensor, len(in))
	for i, v := range in {
		declared[i] = stacked.Input{Name: v.name, Shape: v.shape, Shared: v.shared()}
		together[i] = v.all()
	}
	p, err := stacked.Compile(b, models, declared, build)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	got, err := repeat(runs, extra, together, p.Run)
	if err != nil {
		return 0, err
	}
	exec, err := NewExec(b, build)
	if err != nil {
		return 0, err
	}
	most := 0.0
	for m := range models {
		alone := make([]*tensors.Tensor, len(in))
		for i, v := range in {
			alone[i] = v.alone(m)
		}
		want, err := repeat(runs, extra, alone, func(in ...*tensors.Tensor) ([]*tensors.Tensor, error) {
			args := make([]any, len(in))
			for i, t := range in {
				args[i] = t
			}
			return exec.Call(args...)
		})
		if err != nil {
			return 0, err
		}
		for k, t := range want {
			single := tensors.MustCopyFlatData[float32](t)
			part := tensors.MustCopyFlatData[float32](got[k])[m*len(single):][:len(single)]
			most = max(most, relative(part, single))
		}
	}
	return most, nil
}

func repeat(runs, extra int, in []*tensors.Tensor, run func(in ...*tensors.Tensor) ([]*tensors.Tensor, error)) (out []*tensors.Tensor, err error) {
	in = slices.Clone(in)
	for range runs {
		if out, err = run(in...); err != nil {
			return nil, err
		}
		copy(in, out[extra:])
	}
	return out, nil
}

func relative(got, want []float32) float64 {
	off, most := 0.0, 1e-12
	for i, v := range want {
		d := math.Abs(float64(got[i]) - float64(v))
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		off, most = max(off, d), max(most, math.Abs(float64(v)))
	}
	return off / most
}

func networks() map[string]network {
	label := loss.CrossEntropy{}
	return map[string]network{
		"MLP":            newNetwork(tabular.MLP{Features: 7, Outputs: 3, Hidden: 6}, label),
		"residual MLP":   newNetwork(tabular.ResMLP{Features: 7, Outputs: 3, Width: 6, Hidden: 8}, label),
		"FT-Transformer": newNetwork(tabular.FTTransformer{Features: 5, Outputs: 3, Width: 8, Heads: 2, Blocks: 2}, label),
		"VAE":            newNetwork(vae.Gaussian{Features: 9, Hidden: 6, Latent: 3}, loss.GaussianELBO{Beta: 0.5}),
		"cells": newNetwork(vae.Cells{Genes: 11, Hidden: []int{8, 6}, Latent: 3, Clusters: 2, ZeroInflated: true},
			loss.ZeroInflated{}, loss.LatentDivergence{}),
		"bottleneck":         newNetwork(ib.Bottleneck{Features: 12, Outputs: 3, Latent: 4, Compressor: ib.MLP{Hidden: 6}, Approximator: ib.MLP{Hidden: 5}}, label, loss.LatentDivergence{}),
		"small CNN":          newNetwork(vision.SmallCNN{Side: 9, Outputs: 3, Width: 3, Hidden: 5}, label),
		"small CNN, batches": newNetwork(vision.SmallCNN{Side: 9, Outputs: 3, Width: 3, Hidden: 5, Norm: true}, label),
		"AllCNN":             newNetwork(vision.AllCNN{Side: 8, Outputs: 3, Width: 4}, label).within(2e-4),
		"ResNet-18":          newNetwork(vision.ResNet18{Side: 16, Outputs: 3, Width: 3}, label).within(1e-3),
	}
}

func TestTrainingStepsAreThoseOfOneModel(t *testing.T) {
	stacked.ForEachBackend(t, func(t *testing.T, b compute.Backend) {
		for name, n := range networks() {
			for _, shared := range []bool{false, true} {
				if shared && slices.Contains([]string{"cells", "AllCNN", "ResNet-18"}, name) {
					continue // compiles long
				}
				t.Run(fmt.Sprintf("%s, shared records %t", name, shared), func(t *testing.T) {
					state, data := n.state(), n.data(6, shared)
					off, err := difference(b, slices.Concat(state, data), 2, 1, func(in []*Node) []*Node {
						total, next := n.step(in[:len(state)], in[len(state):])
						return append([]*Node{total}, next...)
					})
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("largest difference %.1g", off)
					if off > n.tolerance {
						t.Errorf("a result differs by %.2g, more than %g", off, n.tolerance)
					}
				})
			}
		}
	})
}
