// Gradients against finite differences.

package tabular

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
)

// step evaluates the mean cross-entropy of a table and its gradient, with the
// tape's steps and with the library's automatic ones, in one plain graph.
type step struct {
	t      *testing.T
	r      *model.Runner
	x, y   *tensors.Tensor
	rows   int
	tape   *Exec // without dropout
	masked *Exec // with masks behind the targets
	auto   *Exec
	autoM  *Exec
}

func newStep(t *testing.T, r *model.Runner, x array.Matrix[float32], y []int) *step {
	t.Helper()
	s := &step{t: t, r: r}
	s.load(x, y)
	for _, e := range []struct {
		exec           **Exec
		masks, library bool
	}{{&s.tape, false, false}, {&s.masked, true, false}, {&s.auto, false, true}, {&s.autoM, true, true}} {
		exec, err := NewExec(r.Engine.Backend(), func(in []*Node) []*Node { return s.graph(in, e.masks, e.library) })
		if err != nil {
			t.Fatal(err)
		}
		*e.exec = exec
	}
	return s
}

func featureMajor(m array.Matrix[float32]) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(m.Transpose().Data, m.Cols, m.Rows)
}

func (s *step) load(x array.Matrix[float32], y []int) {
	targets := array.New[float32](x.Rows, model.OutputWidths(s.r.Arch)[nn.Logits])
	for i, c := range y {
		targets.Row(i)[c] = 1
	}
	s.rows, s.x, s.y = x.Rows, featureMajor(x), featureMajor(targets)
}

func (s *step) graph(in []*Node, masked, library bool) []*Node {
	n := len(weights(s.r.Arch, 1))
	p, x, y := in[:n], in[n], in[n+1]
	var masks []*Node
	if masked {
		masks = in[n+2:]
	}
	tape := &nn.Tape{}
	z := model.Forward(s.r.Arch, tape, p, x, masks).Outputs[nn.Logits]
	w := DivScalar(OnesLike(Slice(z, AxisElem(0), AxisRange())), float64(s.rows))
	losses, adjoint := nn.Distill(z, y, 1)
	losses, adjoint = Mul(losses, w), Mul(adjoint, w)
	loss := engine.Sum(losses)
	if library {
		return append([]*Node{loss}, Gradient(loss, p...)...)
	}
	return append([]*Node{loss}, tape.Backward(nn.Adjoints{z: adjoint}, p)...)
}

func (s *step) run(e *Exec, p nn.Params, masks []*tensors.Tensor) (float64, [][]float64) {
	s.t.Helper()
	var in []any
	for _, v := range p {
		in = append(in, tensors.FromFlatDataAndDimensions(v.Data, v.Shape...))
	}
	in = append(in, s.x, s.y)
	for _, m := range masks {
		in = append(in, m)
	}
	out, err := e.Call(in...)
	if err != nil {
		s.t.Fatal(err)
	}
	grads := make([][]float64, len(p))
	for i := range p {
		err := tensors.ConstFlatData(out[1+i], func(flat []float32) {
			for _, v := range flat {
				grads[i] = append(grads[i], float64(v))
			}
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return float64(tensors.ToScalar[float32](out[0])), grads
}

// gradient is the loss and the tape's gradient; nil masks are inference.
func (s *step) gradient(p nn.Params, masks []*tensors.Tensor) (float64, [][]float64) {
	if masks == nil {
		return s.run(s.tape, p, nil)
	}
	return s.run(s.masked, p, masks)
}

func (s *step) drawn(key uint64) []*tensors.Tensor {
	var out []*tensors.Tensor
	for k, m := range model.RandomInputs(s.r.Arch) {
		flat := make([]float32, m.Units*s.rows)
		m.Fill(flat, key*31+uint64(k), 0, s.rows)
		out = append(out, tensors.FromFlatDataAndDimensions(flat, m.Units, s.rows))
	}
	return out
}

// apart is the largest difference of two gradients of one tensor, relative to
// the largest entry of the whole gradient.
func apart(t *testing.T, p nn.Params, got, want [][]float64) (worst float64, name string) {
	t.Helper()
	var scale float64
	for i := range want {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("%s: %d entries, want %d", p[i].Name, len(got[i]), len(want[i]))
		}
		for _, v := range want[i] {
			scale = math.Max(scale, math.Abs(v))
		}
	}
	for i := range want {
		for j, v := range want[i] {
			if d := math.Abs(got[i][j]-v) / scale; !(d <= worst) {
				worst, name = d, p[i].Name
			}
		}
	}
	return worst, name
}

func TestTheGradientIsTheLibrarys(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, y := toy(30, 5)
		s := newStep(t, r, x, y)
		p := weights(r.Arch, 1)
		_, want := s.run(s.auto, p, nil)
		_, got := s.gradient(p, nil)
		if d, name := apart(t, p, got, want); !(d < 3e-6) {
			t.Errorf("without dropout %s is %g apart", name, d)
		}
		masks := s.drawn(4)
		_, want = s.run(s.autoM, p, masks)
		_, got = s.gradient(p, masks)
		if d, name := apart(t, p, got, want); !(d < 3e-6) {
			t.Errorf("with dropout %s is %g apart", name, d)
		}
	})
}

// The central difference along the gradient's own direction within each tensor,
// which kinks of ReLU and the loss in float32 leave to a hundredth.
func TestTheGradientIsTheSlopeOfTheLoss(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, y := toy(30, 5)
		s := newStep(t, r, x, y)
		p := weights(r.Arch, 1)
		masks := s.drawn(4)
		_, grads := s.gradient(p, masks)
		modeltest.IsSlope(t, p, grads, 1e-3, func(p nn.Params) float64 {
			loss, _ := s.gradient(p, masks)
			return loss
		})
	})
}

func TestMasksOfOnesAreInference(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, y := toy(30, 5)
		s := newStep(t, r, x, y)
		p := weights(r.Arch, 1)
		var ones []*tensors.Tensor
		for _, m := range model.RandomInputs(r.Arch) {
			flat := make([]float32, m.Units*s.rows)
			for i := range flat {
				flat[i] = 1
			}
			ones = append(ones, tensors.FromFlatDataAndDimensions(flat, m.Units, s.rows))
		}
		plain, _ := s.gradient(p, nil)
		masked, _ := s.gradient(p, ones)
		dropped, _ := s.gradient(p, s.drawn(1))
		if plain != masked {
			t.Errorf("loss %v without masks, %v with masks of ones", plain, masked)
		}
		if plain == dropped && len(ones) > 0 {
			t.Error("dropout changes nothing")
		}
	})
}

// A record's column of the masks must reach that record only.
func TestMasksBelongToTheirRecord(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, _ := toy(6, 5)
		exec, err := NewExec(r.Engine.Backend(), func(in []*Node) *Node {
			n := len(weights(r.Arch, 1))
			return model.Forward(r.Arch, &nn.Tape{}, in[:n], in[n], in[n+1:]).Outputs[nn.Logits]
		})
		if err != nil {
			t.Fatal(err)
		}
		p := weights(r.Arch, 1)
		logits := func(layer, record int) (flat []float32) {
			var in []any
			for _, v := range p {
				in = append(in, tensors.FromFlatDataAndDimensions(v.Data, v.Shape...))
			}
			in = append(in, featureMajor(x))
			for k, m := range model.RandomInputs(r.Arch) {
				mask := make([]float32, m.Units*6)
				for i := range mask {
					if k != layer || i%6 != record || i/6%2 == 0 {
						mask[i] = 1
					}
				}
				in = append(in, tensors.FromFlatDataAndDimensions(mask, m.Units, 6))
			}
			out, err := exec.Call(in...)
			if err != nil {
				t.Fatal(err)
			}
			if err := tensors.ConstFlatData(out[0], func(f []float32) { flat = append(flat, f...) }); err != nil {
				t.Fatal(err)
			}
			return flat
		}
		plain := logits(-1, 0)
		for layer := range model.RandomInputs(r.Arch) {
			for i, v := range logits(layer, 2) {
				if changed := v != plain[i]; changed != (i%6 == 2) {
					t.Errorf("layer %d: masking record 2 changes record %d: %v", layer, i%6, changed)
				}
			}
		}
	})
}
