// Auxiliary records by model inversion.

package unlearn

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// inversionSource makes records that the original classifies with high probability: the
// model inversion of Fredrikson, Jha and Ristenpart 2015 (algorithm 1), with which BlindU's
// server makes auxiliary records. Every record x has a label y and takes 100 steps
//
//	x <- P( x + 0.1 grad log p(y | x) )
//
// where P clamps every feature to the request's range. The records start as those of Noise.
// The classes have equally many labels, up to one, in random order. The model is in
// inference: a bottleneck's code is its mean, and normalisation uses running statistics.
//
// Differences from Fredrikson et al.: (1) they descend 1 - p, whose gradient vanishes where
// p is small. (2) They start at 0 and make one image per class; starting from noise gives
// many different ones. (3) They take up to 5,000 steps with early stopping; here there are
// 100. As for their networks, there is no prior on the records.
type inversionSource struct{}

const (
	inversionSteps = 100
	inversionRate  = 0.1
)

var _ Source = inversionSource{}

// Name implements Source.
func (inversionSource) Name() Auxiliary { return Inverted }

// About implements Source.
func (inversionSource) About() string {
	return "noise moved by gradient ascent on the original's log-probability of a class"
}

// Sees implements Source.
func (inversionSource) Sees() Sees { return Sees{Original: true} }

// Records implements Source.
func (inversionSource) Records(ctx context.Context, r Request, n int) (Data, error) {
	classes, err := r.Runner.Classes()
	if err != nil {
		return Data{}, err
	}
	d := r.uniformRecords(n)
	for i, k := range r.Seed.Stream(engine.StreamAuxiliary, 1).Perm(n) {
		d.Y[k] = i % classes
	}
	block := r.Runner.Engine.ChunkRows()
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		some := array.Matrix[float32]{Rows: to - from, Cols: d.X.Cols, Data: d.X.Data[from*d.X.Cols : to*d.X.Cols]}
		if err := r.invert(ctx, some, d.Y[from:to]); err != nil {
			return Data{}, err
		}
	}
	return d, nil
}

// invert moves records towards their labels. It trains the records in a game in which the
// model's weights have no owner. A step uses the sum over the records, so that each record
// follows its own gradient.
func (r Request) invert(ctx context.Context, x array.Matrix[float32], y []int) error {
	runner, err := model.NewRunner(r.Runner.Engine, learnedInputs{Of: r.Runner.Arch, Records: x.Rows})
	if err != nil {
		return err
	}
	start := append(nn.Params{{Name: learnedInputsTensor, Shape: []int{x.Rows, x.Cols}, Data: x.Data}}, weightsOnly(r.Original)...)
	places := array.New[float32](x.Rows, 1)
	for i := range places.Data {
		places.Data[i] = float32(i)
	}
	o := train.Objective{{Name: "inversion", X: places, Targets: []train.Target{train.CrossEntropy(y, r.classes(), float64(x.Rows))}}}
	plan := train.Plan{Game: &train.Game{Players: []train.Player{{Name: "records", Owns: []string{learnedInputsTensor}, Objective: o}}}}
	c := train.Config{Epochs: inversionSteps, Optimizer: clampedOptimizer{nn.SGD{LR: inversionRate}, defaults.Fill(r.Range)}}
	p, _, err := train.FitPlan(ctx, runner, start, plan, c, train.Hooks{})
	if err != nil {
		return err
	}
	copy(x.Data, p[0].Data)
	return nil
}

// learnedInputs is a network whose input records are its weights: they are the rows of its
// first tensor, and its input is a row number. It always runs in inference mode.
type learnedInputs struct {
	Of      model.Architecture `json:"of"`
	Records int                `json:"records"`
}

// learnedInputsTensor is the name of the tensor of records.
const learnedInputsTensor = "imagined.records"

var _ model.Architecture = learnedInputs{}

// Name implements model.Architecture.
func (m learnedInputs) Name() string { return "imagined-" + m.Of.Name() }

// Inputs implements model.Architecture: the row number.
func (learnedInputs) Inputs() int { return 1 }

// Returns implements model.Architecture.
func (m learnedInputs) Returns() []model.Output { return m.Of.Returns() }

// Check implements model.Architecture.
func (m learnedInputs) Check() error { return m.Of.Check() }

// Build implements model.Architecture.
func (m learnedInputs) Build(b *nn.Builder, x *Node) model.Trace {
	b.Training = false
	records := b.Weight(learnedInputsTensor, nil, m.Records, m.Of.Inputs())
	w := b.Weights(weightsOnly(model.InitialWeights(m.Of, b.Rand()))...)
	return model.Forward(m.Of, b.Tape, w, nn.Embedding(b.Tape, x, records), nil)
}

// weightsOnly returns a model's tensors with its state turned into weights.
func weightsOnly(p nn.Params) nn.Params {
	out := make(nn.Params, len(p))
	for i, w := range p {
		w.State = false
		out[i] = w
	}
	return out
}

// clampedOptimizer is an optimiser that clamps every trained weight to a range after each
// step.
type clampedOptimizer struct {
	nn.Optimizer
	bounds Range
}

// WithDefaults implements nn.Optimizer.
func (w clampedOptimizer) WithDefaults() nn.Optimizer {
	return clampedOptimizer{w.Optimizer.WithDefaults(), w.bounds}
}

// Step implements nn.Optimizer.
func (w clampedOptimizer) Step(p nn.Params, grads [][]float64, s *nn.OptimizerState, rates []float64) error {
	if err := w.Optimizer.Step(p, grads, s, rates); err != nil {
		return err
	}
	for i := range p {
		if rates[i] != 0 {
			w.bounds.clamp(p[i].Data)
		}
	}
	return nil
}
