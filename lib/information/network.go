// A critic as an architecture of its own.

package information

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// network is a critic as an architecture of its own. A record is x, y and, after them, the
// negatives.
type network struct {
	Normalised
	Negatives int `json:"strangers"`
}

var (
	_ model.Architecture   = network{}
	_ model.UsesBatchStats = network{}
)

// Name implements model.Architecture.
func (network) Name() string { return "critic-of-pairs" }

// Inputs implements model.Architecture.
func (m network) Inputs() int { return m.X + (1+m.Negatives)*m.Y }

// Returns implements model.Architecture.
func (m network) Returns() []model.Output {
	return []model.Output{{Name: loss.PairScores, Width: 1 + m.Negatives}}
}

// UsesBatchStats implements model.UsesBatchStats.
func (network) UsesBatchStats() bool { return true }

// Build implements model.Architecture.
func (m network) Build(b *nn.Builder, x *Node) model.Trace {
	ys := make([]*Node, 1+m.Negatives)
	for k := range ys {
		ys[k] = Slice(x, AxisRange(m.X+k*m.Y, m.X+(k+1)*m.Y))
	}
	s := m.PairScores(b, Slice(x, AxisRange(0, m.X)), ys[0], ys[1:]...)
	return model.Trace{Outputs: map[string]*Node{loss.PairScores: s}, Embedding: s}
}
