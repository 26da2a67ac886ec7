package information

import (
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// network is a critic on its own. A record is x, y and, behind them, strangers in the
// place of y.
type network struct {
	Normalised
	Strangers int `json:"strangers"`
}

var (
	_ model.Architecture = network{}
	_ model.Coupled      = network{}
)

// Name implements model.Architecture.
func (network) Name() string { return "critic-of-pairs" }

// Inputs implements model.Architecture.
func (m network) Inputs() int { return m.X + (1+m.Strangers)*m.Y }

// Returns implements model.Architecture.
func (m network) Returns() []model.Output {
	return []model.Output{{Name: loss.PairScores, Width: 1 + m.Strangers}}
}

// Coupled implements model.Coupled.
func (network) Coupled() bool { return true }

// Resolved implements model.Architecture.
func (m network) Resolved() model.Architecture {
	m.Normalised = m.Normalised.Resolved()
	return m
}

// Init implements model.Architecture.
func (m network) Init(rng *rand.Rand) nn.Params { return m.Normalised.Init(rng, "") }

// Draws implements model.Architecture.
func (network) Draws() []nn.Draw { return nil }

// Forward implements model.Architecture.
func (m network) Forward(t *nn.Tape, p []*Node, x *Node, _ []*Node) model.Trace {
	ys := make([]*Node, 1+m.Strangers)
	for k := range ys {
		ys[k] = Slice(x, AxisRange(m.X+k*m.Y, m.X+(k+1)*m.Y))
	}
	s := m.Normalised.Forward(t, p, Slice(x, AxisRange(0, m.X)), ys[0], ys[1:]...)
	return model.Trace{Outputs: map[string]*Node{loss.PairScores: s}, Embedding: s}
}
