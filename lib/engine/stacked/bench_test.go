// Steps of RULER's MLP: many models in one execution, and the same models one by one.

package stacked_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/engine/stacked"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// rulerMLP is the MLP of RULER on Adult.
func rulerMLP() network {
	return newNetwork(tabular.MLP{Features: 50, Outputs: 2}, loss.CrossEntropy{})
}

// stepInputs are the inputs of a step of 256 records, of the first model of the tests.
func stepInputs(n network) (in []input, states int) {
	state := n.state()
	return slices.Concat(state, n.data(256, false)), len(state)
}

// copies returns an input with the values of the first model for a number of models.
func (in input) copies(models int) input {
	if !in.shared() {
		in.values = slices.Repeat(in.values[:1], models)
	}
	return in
}

func report(b *testing.B, models, steps int) {
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*models*steps), "us/step/model")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkStepSideBySide(b *testing.B) {
	e, err := enginetest.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	n := rulerMLP()
	in, states := stepInputs(n)
	for _, models := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(models), func(b *testing.B) {
			declared, args := make([]stacked.Input, len(in)), make([]*tensors.Tensor, len(in))
			for i, v := range in {
				declared[i] = stacked.Input{Name: v.name, Shape: v.shape, Shared: v.shared()}
				args[i] = v.copies(models).all()
			}
			if models == 1 { // without the axis of the models
				for i := range in {
					args[i] = newInput(in[i].name, in[i].values[:1], in[i].shape.Dimensions...).alone(0)
					declared[i].Shared = true
				}
			}
			p, err := stacked.Compile(e.Backend(), models, declared, func(in []*Node) []*Node {
				total, next := n.step(in[:states], in[states:])
				return append([]*Node{total}, next...)
			})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			for b.Loop() {
				if _, err := p.Run(args...); err != nil {
					b.Fatal(err)
				}
			}
			report(b, models, 1)
		})
	}
}

// One by one, as many at a time as the engine runs.
func BenchmarkStepOneByOne(b *testing.B) {
	e, err := enginetest.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	n := rulerMLP()
	in, states := stepInputs(n)
	exec, err := NewExec(e.Backend(), func(in []*Node) []*Node {
		total, next := n.step(in[:states], in[states:])
		return append([]*Node{total}, next...)
	})
	if err != nil {
		b.Fatal(err)
	}
	const models = 8
	args := make([][]any, models)
	for m := range models {
		for _, v := range in {
			args[m] = append(args[m], v.alone(0))
		}
	}
	for b.Loop() {
		err := e.Parallel(models, func(m int) error {
			_, err := exec.Call(args[m]...)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	report(b, models, 1)
}

// An epoch of 16 steps of 256 records as one execution, on engines with loops.
func BenchmarkEpochSideBySide(b *testing.B) {
	e, err := enginetest.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	if !e.Backend().Capabilities().Functions {
		b.Skip("the engine has no loops")
	}
	n := rulerMLP()
	const steps = 16
	counts := []int{1, 8, 64}
	if e.SeparateMemory() {
		counts = append(counts, 256)
	}
	for _, models := range counts {
		b.Run(fmt.Sprint(models), func(b *testing.B) {
			state := n.state()
			in := slices.Concat([]input{newInput("loss", []any{[]float32{0}})}, state, n.epochData(4096, steps, 256, models))
			declared, args := make([]stacked.Input, len(in)), make([]*tensors.Tensor, len(in))
			for i, v := range in {
				if i <= len(state) {
					v = v.copies(models)
				}
				declared[i] = stacked.Input{Name: v.name, Shape: v.shape, Shared: v.shared()}
				args[i] = v.all()
			}
			p, err := stacked.Compile(e.Backend(), models, declared, func(in []*Node) []*Node { return n.epoch(in, len(state)) })
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			for b.Loop() {
				if _, err := p.Run(args...); err != nil {
					b.Fatal(err)
				}
			}
			report(b, models, steps)
		})
	}
}
