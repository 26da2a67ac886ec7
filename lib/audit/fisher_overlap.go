// The lens on gradient lengths, the trace of the Fisher information ("Fishing for
// Privacy", section 6).

package audit

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// FisherOverlap compares the gradient lengths of forgotten and of held-out records ("Fishing for
// Privacy", section 6). The trace of the diagonal Fisher information is the mean squared length of
// the records' gradients, and a record that a model has fitted has a small gradient:
//
//	AUC = P( ||g(forgotten)|| < ||g(held out)|| ) + P( equal ) / 2
//
// over all records of both sets, with DeLong's interval over records, or that of stats.ClusterAUC over groups. For a classifier g is the
// gradient of the output layer, (p - y) h^T and p - y, in closed form, so that batch normalisation
// is no obstacle. For other networks g is the gradient of all weights.
//
// Null: 0.5. Above it the forgotten records look like members (memory).
//
// The paper's own quantity is the cosine of the forgotten records' information with the retained
// records'. It is available as FisherCosines and is not the reading, because it says which weights
// two sets matter to and not which records were trained on. Its control is the same cosine for
// held-out records.
//
// The gradient length of a classifier's output is nearly a function of the loss: expect this lens
// to agree with Outputs.
type FisherOverlap struct{}

var _ Lens = FisherOverlap{}

// Name implements Lens.
func (FisherOverlap) Name() string { return "Fisher trace" }

// Info implements Lens.
func (FisherOverlap) Info() Info {
	return Info{Measures: "signed AUC of the records' gradient lengths, forgotten against held-out records", High: 1, Needs: Needs{Case: true}}
}

// Read implements Lens.
func (l FisherOverlap) Read(e *Evidence, m *Arrays) (*Reading, error) {
	forgotten, held, err := l.gradientNorms(e.Case, m.Model)
	if err != nil {
		return nil, err
	}
	return e.contrastAUC(l.Name(), m.Name, Scored{e.HeldOut, held}, Scored{e.Forget, forgotten})
}

// gradientNorms returns the gradient lengths of the forgotten and of the held-out records.
func (l FisherOverlap) gradientNorms(c *Case, m *Model) (forgotten, held []float64, err error) {
	if _, ok := c.Problem.Arch.(model.Classifier); !ok {
		return l.fullGradientNorms(c, m)
	}
	f, h, err := l.headLayers(c, m)
	if err != nil {
		return nil, nil, err
	}
	return f.gradientNorms(), h.gradientNorms(), nil
}

// fullGradientNorms returns the lengths of the gradients of all weights, by the goal of the case's
// training.
func (l FisherOverlap) fullGradientNorms(c *Case, m *Model) (forgotten, held []float64, err error) {
	goal := c.goal()
	on := func(part datasets.Part, rows []int) ([]float64, error) {
		p, data := *c.Problem, *c.Prepared
		data.Train, p.Prepared = part, &data
		o, err := goal.Objective(&p, rows)
		if err != nil {
			return nil, err
		}
		return train.GradientNorms(context.Background(), c.Runner, m.Weights, o, train.Mode{})
	}
	if forgotten, err = on(c.Problem.Train, c.Forget); err != nil {
		return nil, nil, err
	}
	held, err = on(c.Test, c.EvalRows())
	return forgotten, held, err
}

// layer holds the two factors of the gradient of a classifier's output layer: per record the errors
// p - y and the layer's inputs, with a 1 appended for the bias.
type layer struct{ errors, inputs array.Matrix[float64] }

// headLayers returns the output-layer factors of the forgotten and of the held-out records.
func (FisherOverlap) headLayers(c *Case, m *Model) (forgotten, held layer, err error) {
	o, err := m.Outputs()
	if err != nil {
		return layer{}, layer{}, err
	}
	judged := c.EvalRows()
	if len(c.Forget) == 0 || len(judged) == 0 {
		return layer{}, layer{}, fmt.Errorf("audit: %d forgotten and %d held-out records", len(c.Forget), len(judged))
	}
	return headLayer(o.Train, c.Problem.Train.Y, c.Forget), headLayer(o.Test, c.Test.Y, judged), nil
}

func headLayer(p *model.Prediction, y, rows []int) layer {
	errors := array.Convert[float64](train.Softmax(p.Logits().Gather(rows), 1))
	h := p.Embedding.Gather(rows)
	inputs := array.New[float64](h.Rows, h.Cols+1)
	for i, r := range rows {
		errors.Row(i)[y[r]]--
		for k, v := range h.Row(i) {
			inputs.Row(i)[k] = float64(v)
		}
		inputs.Row(i)[h.Cols] = 1
	}
	return layer{errors, inputs}
}

// gradientNorms returns ||e h^T|| = ||e|| ||h|| of every record.
func (l layer) gradientNorms() []float64 {
	out := make([]float64, l.errors.Rows)
	for i := range out {
		out[i] = norm(l.errors.Row(i)) * norm(l.inputs.Row(i))
	}
	return out
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}

// FisherCosines returns the paper's overlaps in the output layer of a classifier: the cosine of the
// forgotten records' information with the retained records', and as a control that of the held-out
// records. Both are in [0, 1]; neither has a null.
func (c *Case) FisherCosines(m *Model) (forgotten, held float64, err error) {
	if _, ok := c.Problem.Arch.(model.Classifier); !ok {
		return 0, 0, fmt.Errorf("audit: %s has no output layer of scores", c.Problem.Arch.Name())
	}
	f, h, err := FisherOverlap{}.headLayers(c, m)
	if err != nil {
		return 0, 0, err
	}
	o, err := m.Outputs()
	if err != nil {
		return 0, 0, err
	}
	retained := headLayer(o.Train, c.Problem.Train.Y, c.Retain)
	var diagonals []fisher.Diagonal
	for _, l := range []layer{f, h, retained} {
		t, err := fisher.Linear(l.errors, l.inputs)
		if err != nil {
			return 0, 0, err
		}
		diagonals = append(diagonals, fisher.Diagonal{Tensors: []fisher.Tensor{t}})
	}
	if forgotten, err = fisher.Cosine(diagonals[0], diagonals[2]); err != nil {
		return 0, 0, err
	}
	held, err = fisher.Cosine(diagonals[1], diagonals[2])
	return forgotten, held, err
}
