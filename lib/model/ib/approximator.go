// The second half of a bottleneck as a network of its own.

package ib

import (
	"fmt"
	"math"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Approximator is the second half of a bottleneck as a network of its own: a record is a
// code. Its weights are the second result of SplitWeights. The embedding is the code.
type Approximator struct {
	Of Bottleneck `json:"of"`
}

var (
	_ model.Classifier     = Approximator{}
	_ model.UsesBatchStats = Approximator{}
	_ model.MaxBatch       = Approximator{}
	_ model.StateDictNamer = Approximator{}
)

// Name implements model.Architecture.
func (m Approximator) Name() string { return "approximator-of-" + m.Of.Name() }

// Inputs implements model.Architecture.
func (m Approximator) Inputs() int { return defaults.Fill(m.Of).Latent }

// Classes implements model.Classifier.
func (m Approximator) Classes() int { return m.Of.Classes() }

// Returns implements model.Architecture.
func (m Approximator) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// UsesBatchStats implements model.UsesBatchStats.
func (m Approximator) UsesBatchStats() bool { return defaults.Fill(m.Of).Approximator.UsesBatchStats() }

// MaxBatch implements model.MaxBatch.
func (m Approximator) MaxBatch() int { return chunkRows(defaults.Fill(m.Of).Approximator) }

// Check implements model.Architecture.
func (m Approximator) Check() error { return m.Of.Check() }

// NameStateDict implements model.StateDictNamer, as in the bottleneck.
func (m Approximator) NameStateDict(d *nn.StateDict) { m.Of.NameStateDict(d) }

// Build implements model.Architecture.
func (m Approximator) Build(b *nn.Builder, x *Node) model.Trace {
	// The compressor's weights are drawn first and dropped: a seed gives its bottleneck's half.
	nn.Declare(m.Of.Inputs(), b.Rand(), func(b *nn.Builder, x *Node) { m.Of.Compress(b, x) })
	logits := m.Of.Classify(b, x)
	return model.ClassifierTrace(logits, x, model.Layer{Name: "logits", Value: logits})
}

// SampleCodes draws a code for every record of a bottleneck's prediction,
//
//	z = mu + sigma eps
//
// with eps of record i from stream(i), so that a record's code does not depend on the other
// records.
func SampleCodes(p *model.Prediction, stream func(record int) *rand.Rand) (array.Matrix[float32], error) {
	mu, logvar := p.Outputs[loss.LatentMean], p.Outputs[loss.LatentLogVar]
	if mu.Rows == 0 || mu.Rows != logvar.Rows || mu.Cols != logvar.Cols {
		return array.Matrix[float32]{}, fmt.Errorf("ib: codes of %d x %d means and %d x %d variances", mu.Rows, mu.Cols, logvar.Rows, logvar.Cols)
	}
	z := array.New[float32](mu.Rows, mu.Cols)
	for i := range z.Rows {
		rng, to := stream(i), z.Row(i)
		for j, m := range mu.Row(i) {
			to[j] = float32(float64(m) + float64(math.Exp(float64(logvar.Row(i)[j])/2)*rng.NormFloat64()))
		}
	}
	return z, nil
}
