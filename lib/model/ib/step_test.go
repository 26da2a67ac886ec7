// One training step, for the tests.

package ib

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// step evaluates, in training and with given draws, cross-entropy + 0.5 KLmean of a
// bottleneck and its gradient: by the tape's steps, or by the library's derivatives.
type step struct {
	t    *testing.T
	e    *engine.Engine
	m    Bottleneck
	exec *Exec
}

func newStep(t *testing.T, e *engine.Engine, m Bottleneck, library bool) *step {
	t.Helper()
	s := &step{t: t, e: e, m: m}
	like := model.InitialWeights(m, engine.Root(1).Stream(engine.StreamInit))
	exec, err := NewExec(e.Backend(), func(in []*Node) []*Node { return s.graph(in, like, library) })
	if err != nil {
		t.Fatal(err)
	}
	s.exec = exec
	return s
}

func (s *step) graph(in []*Node, like nn.Params, library bool) []*Node {
	n := len(like)
	records, latent := float64(in[n].Shape().Dimensions[1]), float64(defaults.Fill(s.m).Latent)
	tape := &nn.Tape{Training: true}
	tr := model.Forward(s.m, tape, in[:n], in[n], in[n+1:n+2])
	fit := loss.Build(loss.CrossEntropy{}, loss.Batch{Outputs: tr.Outputs, Inputs: map[string]*Node{loss.Probabilities: in[n+2]}})
	far := loss.Build(loss.LatentDivergence{}, loss.Batch{Outputs: tr.Outputs})
	value := Add(MulScalar(ReduceAllSum(fit.Losses), 1/records), MulScalar(ReduceAllSum(far.Losses), 0.5/records/latent))
	if library {
		return append(Gradient(value, in[:n]...), value)
	}
	adjoints := nn.Adjoints{tr.Outputs[nn.Logits]: MulScalar(fit.Adjoints[nn.Logits], 1/records)}
	for _, name := range []string{loss.LatentMean, loss.LatentLogVar} {
		adjoints[tr.Outputs[name]] = MulScalar(far.Adjoints[name], 0.5/records/latent)
	}
	out := append(tape.Backward(adjoints, in[:n]), value, tr.Outputs[nn.Logits])
	for i, v := range like {
		if v.State {
			out[i] = tape.Statistic(in[i])
		}
	}
	return out
}

// evaluate is the value and, per tensor, its gradient or what the batch says of state; the
// logits [classes, n] stand behind them, where the library does not derive.
func (s *step) evaluate(p nn.Params, x, eps, labels array.Matrix[float32]) (float32, [][]float32) {
	s.t.Helper()
	in, err := model.Upload(s.e, p)
	if err != nil {
		s.t.Fatal(err)
	}
	defer model.Finalize(in)
	for _, m := range []array.Matrix[float32]{x, eps, labels} {
		in = append(in, tensors.FromFlatDataAndDimensions(m.Transpose().Data, m.Cols, m.Rows))
	}
	out, err := s.exec.Call(in...)
	if err != nil {
		s.t.Fatal(err)
	}
	var flat [][]float32
	for _, o := range out {
		flat = append(flat, tensors.MustCopyFlatData[float32](o))
	}
	value := flat[len(p)][0]
	return value, append(flat[:len(p)], flat[len(p)+1:]...)
}
