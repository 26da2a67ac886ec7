// A compressor against a critic in a game.

package information

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// pressed is a compressor z = w x + b with a critic of (z, y): a record is x, two numbers,
// y and a negative.
type pressed struct{ Critic Normalised }

func (pressed) Name() string         { return "pressed" }
func (pressed) Inputs() int          { return 4 }
func (pressed) UsesBatchStats() bool { return true }
func (pressed) Check() error         { return nil }

func (m pressed) WithDefaults() model.Architecture { return m }

func (pressed) Returns() []model.Output {
	return []model.Output{{Name: loss.PairScores, Width: 2}, {Name: nn.Output, Width: 1}}
}

func (m pressed) Build(b *nn.Builder, x *Node) model.Trace {
	p := nn.PyTorch.DenseInit(b.Rand(), "compressor", 2, 1)
	copy(p[0].Data, []float32{1, 0.1})
	w := b.Weights(p...)
	z := nn.Dense(b.Tape, Slice(x, AxisRange(0, 2)), w[0], w[1])
	s := m.Critic.PairScores(b.Sub("critic."), z, Slice(x, AxisRange(2, 3)), Slice(x, AxisRange(3, 4)))
	return model.Trace{Outputs: map[string]*Node{loss.PairScores: s, nn.Output: z}, Embedding: z}
}

// In a game of a critic and a compressor that maximises the critic's loss, the
// representation loses its information about y, measured by nearest neighbours; with a
// fixed compressor it does not.
func TestACompressorForgetsAgainstACritic(t *testing.T) {
	m := pressed{defaults.Fill(Normalised{Critic: Critic{X: 1, Y: 1, Hidden: []int{16}}})}
	r, err := model.NewRunner(open(t), m)
	if err != nil {
		t.Fatal(err)
	}
	pairs, other := gaussians(1000, 1, 0.9, 1), gaussians(1000, 1, 0, 2).X
	x := array.New[float32](1000, 4)
	for i := range 1000 {
		appendValues(x.Row(i), []float64{pairs.X.Data[i], other.Data[i], pairs.Y.Data[i]})
	}
	term := train.Term{X: x, Augment: train.AugmentFunc(func(dst, src []float32, epoch, id int) error {
		copy(dst, src)
		dst[3] = x.Row((id + 1 + 37*epoch%997) % 1000)[2]
		return nil
	})}
	player := func(name string, weight float64) train.Player {
		own := term
		own.Targets = []train.Target{{Loss: loss.DonskerVaradhan{}, Weight: weight}}
		return train.Player{Name: name, Owns: []string{name}, Objective: train.Objective{own}}
	}
	critic, compressor := player("critic.", 1), player("compressor", -1)
	critic.Updates = 3
	left := func(players ...train.Player) float64 {
		c := train.Config{Epochs: 30, Batch: 200, Optimizer: nn.Adam{LR: 0.01}, Seed: 1}
		w, _, err := train.FitPlan(t.Context(), r, model.InitialWeights(m, engine.Root(1).Stream("game test")), train.Plan{Game: &train.Game{Players: players}}, c, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := r.PredictOutputs(w, x, nn.Output)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("w = %v", w[0].Data)
		return estimate(t, KSG{}, nil, Pairs{array.Convert[float64](found.Outputs[nn.Output]), pairs.Y}, 0).Value
	}
	still, against := left(critic), left(critic, compressor)
	t.Logf("%.3f nats are left, %.3f where the compressor stands still", against, still)
	if still < 0.6 || against > 0.2 {
		t.Errorf("%v nats are left, %v where the compressor stands still", against, still)
	}
}
