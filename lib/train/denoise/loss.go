package denoise

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// loss evaluates the mean squared error of a network's outputs and its gradient.
// A batch is cut into chunks that the engine runs side by side; their gradients
// are added up in float64 in the order of the chunks, so that the result does
// not depend on the number of cores.
type loss struct {
	runner *model.Runner
	exec   *Exec
}

// newLoss compiles a step. Inputs: weights, x, targets, records' weights [1, n].
// Outputs: the summed loss, then one gradient per tensor.
func newLoss(r *model.Runner) (*loss, error) {
	if model.IsCoupled(r.Arch) {
		return nil, fmt.Errorf("denoise: %s mixes the records of a batch, which chunks cannot", r.Arch.Name())
	}
	exec, err := NewExec(r.Engine.Backend(), func(in []*Node) []*Node {
		n := len(in) - 3
		t := &nn.Tape{Training: true}
		out := r.Arch.Forward(t, in[:n], in[n], nil).Outputs[nn.Logits]
		diff := Sub(out, in[n+1])
		weighted := Mul(diff, BroadcastToShape(in[n+2], diff.Shape()))
		sum := engine.Sum(Mul(diff, weighted))
		return append([]*Node{sum}, t.Backward(out, MulScalar(weighted, 2), in[:n])...)
	})
	if err != nil {
		return nil, fmt.Errorf("denoise %s: %w", r.Arch.Name(), err)
	}
	return &loss{r, exec.SetMaxCache(-1)}, nil
}

type sum struct {
	loss  float64
	grads [][]float64
}

func (l *loss) at(p nn.Params, b batch) (sum, error) {
	weights, err := l.runner.Upload(p)
	if err != nil {
		return sum{}, err
	}
	defer model.Finalize(weights)
	chunks := model.Chunks(b.in.Rows, l.runner.Engine.ChunkRows())
	outs := make([][]*tensors.Tensor, len(chunks))
	defer func() {
		for _, out := range outs {
			model.Finalize(out)
		}
	}()
	err = l.runner.Engine.Parallel(len(chunks), func(i int) error {
		c := chunks[i]
		each := make([]float32, c.Padded)
		for k := range c.N {
			each[k] = float32(1 / (float64(b.in.Rows) * float64(b.target.Cols)))
		}
		in := []*tensors.Tensor{model.FeatureMajor(b.in, nil, c), model.FeatureMajor(b.target, nil, c), tensors.FromFlatDataAndDimensions(each, 1, c.Padded)}
		defer model.Finalize(in)
		var err error
		outs[i], err = l.exec.Call(append(weights[:len(weights):len(weights)], in[0], in[1], in[2])...)
		return err
	})
	if err != nil {
		return sum{}, fmt.Errorf("denoise %s: %w", l.runner.Arch.Name(), err)
	}
	return add(p, outs)
}

func add(p nn.Params, outs [][]*tensors.Tensor) (sum, error) {
	s := sum{grads: make([][]float64, len(p))}
	for i := range p {
		s.grads[i] = make([]float64, len(p[i].Data))
	}
	for _, out := range outs {
		s.loss += float64(tensors.ToScalar[float32](out[0]))
		for i, dst := range s.grads {
			err := tensors.ConstFlatData(out[1+i], func(flat []float32) {
				for j, v := range flat {
					dst[j] += float64(v)
				}
			})
			if err != nil {
				return sum{}, err
			}
		}
	}
	return s, nil
}
