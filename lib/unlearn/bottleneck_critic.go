// A bottleneck with a critic of its codes, for BlindU.

package unlearn

import (
	"fmt"
	"sync"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/information"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// criticBottleneck is a bottleneck together with a critic that estimates the mutual
// information between its codes and codes to forget. Both are one network, so that the
// critic's score has a derivative with respect to the compressor. A record is that of the
// bottleneck, followed by the code that it is paired with and by a negative code. Besides
// the bottleneck's outputs there are
//
//	erased      = approximator(paired code)
//	pair-scores = critic of (the record's own code, paired code), and with the negative
//
// The weights are the bottleneck's, then the critic's.
type criticBottleneck struct {
	Of     ib.Bottleneck          `json:"of"`
	Critic information.Normalised `json:"critic"`
}

// erasedLogits is the output with the logits of the paired code.
const erasedLogits = "erased"

var (
	_ model.Architecture   = criticBottleneck{}
	_ model.UsesBatchStats = criticBottleneck{}
	_ model.MaxBatch       = criticBottleneck{}
)

// withCritic attaches a critic to a bottleneck with defaults.
func withCritic(of ib.Bottleneck) criticBottleneck {
	critic := information.Normalised{Critic: information.Critic{X: of.Latent, Y: of.Latent}}
	return criticBottleneck{Of: of, Critic: defaults.Fill(critic)}
}

// Name implements model.Architecture.
func (m criticBottleneck) Name() string { return "blinded-" + m.Of.Name() }

// Inputs implements model.Architecture.
func (m criticBottleneck) Inputs() int { return m.Of.Inputs() + 2*m.Of.Latent }

// Returns implements model.Architecture.
func (m criticBottleneck) Returns() []model.Output {
	return append(m.Of.Returns(), model.Output{Name: erasedLogits, Width: m.Of.Outputs}, model.Output{Name: loss.PairScores, Width: 2})
}

// UsesBatchStats implements model.UsesBatchStats: the critic's moving average is over
// batches.
func (criticBottleneck) UsesBatchStats() bool { return true }

// MaxBatch implements model.MaxBatch.
func (m criticBottleneck) MaxBatch() int { return m.Of.MaxBatch() }

// Check implements model.Architecture.
func (m criticBottleneck) Check() error {
	if err := m.Of.Check(); err != nil {
		return err
	}
	return m.Critic.Check()
}

// criticPrefix begins the names of the critic's weights.
const criticPrefix = "critic."

// Build implements model.Architecture. The paired codes go through the approximator before the
// record's own, so that its batch statistics are those of the record's own codes.
func (m criticBottleneck) Build(b *nn.Builder, x *Node) model.Trace {
	features, latent := m.Of.Inputs(), m.Of.Latent
	paired := Slice(x, AxisRange(features, features+latent))
	negative := Slice(x, AxisRange(features+latent))
	code := m.Of.Compress(b, Slice(x, AxisRange(0, features)))
	gone := m.Of.Classify(b, paired)
	logits := m.Of.Classify(b.Reuse(), code.Z)
	return model.Trace{
		Outputs: map[string]*Node{
			nn.Logits: logits, loss.LatentMean: code.Mean, loss.LatentLogVar: code.LogVar,
			erasedLogits: gone, loss.PairScores: m.Critic.PairScores(b.Sub(criticPrefix), code.Z, paired, negative),
		},
		Embedding: code.Mean,
	}
}

// pairAugmenter appends a negative code to every record, which already has its paired code.
// In every epoch the codes are permuted anew.
type pairAugmenter struct {
	seed  engine.Root
	codes array.Matrix[float32]

	mu           sync.Mutex
	permutations map[int][]int // by epoch
}

func (q *pairAugmenter) permutation(epoch int) []int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.permutations == nil {
		q.permutations = map[int][]int{}
	}
	if q.permutations[epoch] == nil {
		q.permutations[epoch] = q.seed.Stream(engine.StreamAssigned, uint64(epoch)).Perm(q.codes.Rows)
	}
	return q.permutations[epoch]
}

// Augment implements train.Augmenter; id is the index of the pair.
func (q *pairAugmenter) Augment(dst, src []float32, epoch, id int) error {
	if id < 0 {
		return fmt.Errorf("pair %d", id)
	}
	copy(dst, src)
	at := len(dst) - q.codes.Cols
	copy(dst[at:], q.codes.Row(q.permutation(epoch)[id%q.codes.Rows]))
	return nil
}

// pairRecords returns n records, each with a code and space for a negative. The shorter
// list repeats. Records and codes are paired by index.
func (m criticBottleneck) pairRecords(n int, records, codes array.Matrix[float32]) array.Matrix[float32] {
	out := array.New[float32](n, m.Inputs())
	for i := range out.Rows {
		code := codes.Row(i % codes.Rows)
		copy(out.Row(i), records.Row(i%records.Rows))
		copy(out.Row(i)[records.Cols:], code)
		copy(out.Row(i)[records.Cols+len(code):], code)
	}
	return out
}
