// Per-example gradients: norms, clipped sums, Fisher information.

package model

import (
	"fmt"
	"maps"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Per-example gradients are the gradients of each record's own loss, with dropout off. One
// backward pass gives those of a whole chunk: records do not mix, so that the adjoint of a
// layer's output contains every record's own. Sums over chunks are in float64 and in a
// fixed order.

// Examples are records with what a loss needs to know of each.
type Examples struct {
	X      array.Matrix[float32]
	Loss   loss.Loss
	Inputs map[string]array.Matrix[float32] // of the loss, one row per record
}

// LabelledExamples returns records with class labels; their loss is the cross-entropy.
func LabelledExamples(x array.Matrix[float32], y []int, classes int) Examples {
	return Examples{x, loss.CrossEntropy{}, map[string]array.Matrix[float32]{loss.Probabilities: loss.Labels(y, classes)}}
}

func (e Examples) names() []string { return slices.Sorted(maps.Keys(e.Inputs)) }

// GradientNorms returns, per record, the Euclidean norm of the gradient of its loss over
// all weights. Squared norms are summed in float32: a norm below 1e-19 is reported as 0.
func (r *Runner) GradientNorms(p nn.Params, e Examples) ([]float64, error) {
	norms := make([]float64, e.X.Rows)
	err := r.perExample(graphNorms, p, e, 0, func(_ int, c Chunk, out []*tensors.Tensor) error {
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

// ClippedSum returns the sum over records of g_i min(1, clip / ||g_i||) for the per-record
// gradients g_i, and the share of records whose gradient norm exceeds clip. The norms are
// constants of a second backward pass; no per-record gradient is formed.
func (r *Runner) ClippedSum(p nn.Params, e Examples, clip float64) (nn.Params, float64, error) {
	if !(clip > 0) || math.IsInf(clip, 1) {
		return nil, 0, fmt.Errorf("model %s: clipping norm %v is not a positive number", r.Arch.Name(), clip)
	}
	norms, sums := make([]float64, e.X.Rows), &laneSums{}
	err := r.perExample(graphClipped, p, e, clip, func(lane int, c Chunk, out []*tensors.Tensor) error {
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
	return sums.total(p, 1), float64(clipped) / float64(e.X.Rows), nil
}

// FisherDiagonal returns the exact diagonal of the Fisher information of a classifier, per
// weight the mean over records of
//
//	sum_c p_c (d log p_c / d w)^2
//
// with the model's predicted probabilities p; it uses no labels. It takes one backward pass
// per class.
func (r *Runner) FisherDiagonal(p nn.Params, x array.Matrix[float32]) (nn.Params, error) {
	classes, err := r.Classes()
	if err != nil {
		return nil, err
	}
	return r.fisher(graphFisher, p, LabelledExamples(x, make([]int, x.Rows), classes))
}

// EmpiricalFisher returns, per weight, the mean over records of the squared gradient of the
// record's loss.
func (r *Runner) EmpiricalFisher(p nn.Params, e Examples) (nn.Params, error) {
	return r.fisher(graphEmpirical, p, e)
}

func (r *Runner) fisher(kind exampleGraph, p nn.Params, e Examples) (nn.Params, error) {
	sums := &laneSums{}
	err := r.perExample(kind, p, e, 0, func(lane int, _ Chunk, out []*tensors.Tensor) error {
		return sums.add(lane, out)
	})
	if err != nil {
		return nil, err
	}
	return sums.total(p, 1/float64(e.X.Rows)), nil
}

// perExample runs one of the graphs on every chunk and passes its outputs to collect with
// the number of the chunk's lane. collect is never called concurrently for one lane.
func (r *Runner) perExample(kind exampleGraph, p nn.Params, e Examples, clip float64, collect func(lane int, c Chunk, out []*tensors.Tensor) error) error {
	if err := r.checkInputs(p, e.X); err != nil {
		return err
	}
	if err := loss.CheckInputs(e.Loss, OutputWidths(r.Arch), e.Inputs, e.X.Rows); err != nil {
		return fmt.Errorf("model %s: %w", r.Arch.Name(), err)
	}
	exec, err := r.exampleProgram(kind, e)
	if err != nil {
		return err
	}
	weights, err := r.Upload(p)
	if err != nil {
		return err
	}
	defer Finalize(weights)
	chunks := Chunks(e.X.Rows, r.Engine.ChunkRows())
	err = r.Engine.Parallel(min(lanes, len(chunks)), func(lane int) error {
		for i := lane; i < len(chunks); i += lanes {
			err := e.chunk(r.Engine, exec, weights, clip, chunks[i], func(out []*tensors.Tensor) error {
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

func (e Examples) chunk(on *engine.Engine, exec *Exec, weights []any, clip float64, c Chunk, collect func(out []*tensors.Tensor) error) error {
	exists := make([]float32, c.Padded)
	for k := range c.N {
		exists[k] = 1
	}
	in, err := e.inputs(on, c)
	defer func() { Finalize(in) }()
	if err != nil {
		return err
	}
	in = append(in, tensors.FromFlatDataAndDimensions(exists, 1, c.Padded), tensors.FromScalar(float32(clip)))
	out, err := exec.Call(append(weights[:len(weights):len(weights)], in...)...)
	if err != nil {
		return err
	}
	defer Finalize(out)
	return collect(out)
}

// inputs returns a chunk's records and the inputs of the loss that exist.
func (e Examples) inputs(on *engine.Engine, c Chunk) ([]any, error) {
	x, err := FeatureMajor(on, e.X, nil, c)
	in := []any{x}
	for _, name := range e.names() {
		if err != nil {
			return in, err
		}
		x, err = FeatureMajor(on, e.Inputs[name], nil, c)
		in = append(in, x)
	}
	return in, err
}

// lanes is the number of partial sums over chunks. It does not depend on the number of
// cores, so that results do not either.
const lanes = 16

// laneSums adds up one output per weight tensor: lane l holds chunks l, l+lanes, ..., and
// the lanes are added in order.
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

// total returns the sum over all lanes times factor, with the names and shapes of like.
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
