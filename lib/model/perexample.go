package model

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Per-example gradients are those of one record's loss with dropout off, for
// which the gradients of a whole chunk of records come from one backward pass:
// records do not mix, so the adjoint of a layer's output holds every record's
// own. Sums over chunks are in float64 and in a fixed order.

// GradientNorms returns, per record, the Euclidean norm of the gradient of its
// own cross-entropy -log softmax(z)_y over all weights. Squared norms are summed
// in float32: a norm below 1e-19 is reported as 0.
func (r *Runner) GradientNorms(p nn.Params, x array.Matrix[float32], y []int) ([]float64, error) {
	targets, err := r.oneHot(x, y)
	if err != nil {
		return nil, err
	}
	norms := make([]float64, x.Rows)
	err = r.perExample(graphNorms, p, x, targets, 0, func(_ int, c Chunk, out []*tensors.Tensor) error {
		return readNorms(norms, c, out[0])
	})
	if err != nil {
		return nil, err
	}
	return norms, nil
}

func readNorms(dst []float64, c Chunk, norms *tensors.Tensor) error {
	return tensors.ConstFlatData(norms, func(flat []float32) {
		for i := range c.N {
			dst[c.First+i] = float64(flat[i])
		}
	})
}

// ClippedSum returns the sum over records of g_i min(1, clip / ||g_i||) for the
// records' own cross-entropy gradients g_i, and the share of records whose
// gradient was longer than clip. The norms enter as constants of a second
// backward pass; no record's gradient is formed.
func (r *Runner) ClippedSum(p nn.Params, x array.Matrix[float32], y []int, clip float64) (nn.Params, float64, error) {
	if !(clip > 0) || math.IsInf(clip, 1) {
		return nil, 0, fmt.Errorf("model %s: clipping norm %v is not a positive number", r.Arch.Name(), clip)
	}
	targets, err := r.oneHot(x, y)
	if err != nil {
		return nil, 0, err
	}
	norms, sums := make([]float64, x.Rows), &laneSums{}
	err = r.perExample(graphClipped, p, x, targets, clip, func(lane int, c Chunk, out []*tensors.Tensor) error {
		if err := readNorms(norms, c, out[0]); err != nil {
			return err
		}
		return sums.add(lane, out[1:])
	})
	if err != nil {
		return nil, 0, err
	}
	clipped := 0
	for _, v := range norms {
		if v > clip {
			clipped++
		}
	}
	return sums.total(p, 1), float64(clipped) / float64(x.Rows), nil
}

// FisherDiagonal returns the exact diagonal of the Fisher information, per
// weight the mean over records of
//
//	sum_c p_c (d log p_c / d w)^2
//
// where p is the model's own prediction: no labels enter. It takes one backward
// pass per class.
func (r *Runner) FisherDiagonal(p nn.Params, x array.Matrix[float32]) (nn.Params, error) {
	return r.fisher(graphFisher, p, x, array.New[float32](x.Rows, r.Arch.Classes()))
}

// EmpiricalFisher returns, per weight, the mean over records of the squared
// gradient of the record's own cross-entropy against its label.
func (r *Runner) EmpiricalFisher(p nn.Params, x array.Matrix[float32], y []int) (nn.Params, error) {
	targets, err := r.oneHot(x, y)
	if err != nil {
		return nil, err
	}
	return r.fisher(graphEmpirical, p, x, targets)
}

func (r *Runner) fisher(kind exampleGraph, p nn.Params, x, targets array.Matrix[float32]) (nn.Params, error) {
	sums := &laneSums{}
	err := r.perExample(kind, p, x, targets, 0, func(lane int, _ Chunk, out []*tensors.Tensor) error {
		return sums.add(lane, out)
	})
	if err != nil {
		return nil, err
	}
	return sums.total(p, 1/float64(x.Rows)), nil
}

func (r *Runner) oneHot(x array.Matrix[float32], y []int) (array.Matrix[float32], error) {
	classes := r.Arch.Classes()
	m := array.New[float32](len(y), classes)
	if len(y) != x.Rows {
		return m, fmt.Errorf("model %s: %d labels for %d records", r.Arch.Name(), len(y), x.Rows)
	}
	for i, c := range y {
		if c < 0 || c >= classes {
			return m, fmt.Errorf("model %s: label %d of record %d is not one of %d classes", r.Arch.Name(), c, i, classes)
		}
		m.Row(i)[c] = 1
	}
	return m, nil
}

// perExample runs one of the graphs on every chunk and hands its outputs on with
// the number of the chunk's lane, which is never collected from at two places
// at once.
func (r *Runner) perExample(kind exampleGraph, p nn.Params, x, targets array.Matrix[float32], clip float64, collect func(lane int, c Chunk, out []*tensors.Tensor) error) error {
	if err := r.checkInputs(p, x); err != nil {
		return err
	}
	exec, err := r.examples.get(r, kind)
	if err != nil {
		return err
	}
	weights, err := r.Upload(p)
	if err != nil {
		return err
	}
	defer Finalize(weights)
	chunks := Chunks(x.Rows, r.Engine.ChunkRows())
	err = r.Engine.Parallel(min(lanes, len(chunks)), func(lane int) error {
		for i := lane; i < len(chunks); i += lanes {
			err := r.exampleChunk(exec, weights, x, targets, clip, chunks[i], func(out []*tensors.Tensor) error {
				return collect(lane, chunks[i], out)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("model %s: per-example gradients: %w", r.Arch.Name(), err)
	}
	return nil
}

func (r *Runner) exampleChunk(exec *Exec, weights []any, x, targets array.Matrix[float32], clip float64, c Chunk, collect func(out []*tensors.Tensor) error) error {
	exists := make([]float32, c.Padded)
	for k := range c.N {
		exists[k] = 1
	}
	in := []any{
		FeatureMajor(x, nil, c), FeatureMajor(targets, nil, c),
		tensors.FromFlatDataAndDimensions(exists, 1, c.Padded), tensors.FromScalar(float32(clip)),
	}
	defer Finalize(in)
	out, err := exec.Call(append(weights[:len(weights):len(weights)], in...)...)
	if err != nil {
		return err
	}
	defer Finalize(out)
	return collect(out)
}

// lanes is the number of partial sums over chunks: a constant, not the number
// of cores, so that results do not depend on cores.
const lanes = 16

// laneSums adds up one output per weight tensor: lane l holds chunks l, l+lanes,
// ..., and the lanes are added in order.
type laneSums [lanes][][]float64

func (s *laneSums) add(lane int, out []*tensors.Tensor) error {
	if s[lane] == nil {
		s[lane] = make([][]float64, len(out))
	}
	for i, t := range out {
		err := tensors.ConstFlatData(t, func(flat []float32) {
			if s[lane][i] == nil {
				s[lane][i] = make([]float64, len(flat))
			}
			for j, v := range flat {
				s[lane][i][j] += float64(v)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// total returns the sum over all lanes times factor, with the names and shapes
// of like.
func (s *laneSums) total(like nn.Params, factor float64) nn.Params {
	out := make(nn.Params, len(like))
	for i, v := range like {
		out[i] = nn.NewParam(v.Name, v.Shape...)
		for j := range out[i].Data {
			var sum float64
			for lane := range s {
				if s[lane] != nil {
					sum += s[lane][i][j]
				}
			}
			out[i].Data[j] = float32(sum * factor)
		}
	}
	return out
}
