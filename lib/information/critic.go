// Critics: networks that score pairs.

package information

import (
	"fmt"
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Critic scores how well x and y match, T(x, y), by a multilayer perceptron on both:
//
//	h1 = act(Wx x + bx + Wy y + by),  h = act(W h + b) ...,  T = w h + b
//
// The first layer has one map per side, so that the map of x is computed once for any
// number of y. A Critic is no architecture of its own: it can be
// attached to a model whose representations are x or y, and its score has derivatives with
// respect to both.
//
// With Coded, as in BlindU's program, act is LeakyReLU of slope 0.2, also on T, weights are
// Kaiming-normal and biases 0. Otherwise act is ReLU, T is unbounded, and weights are drawn
// as in PyTorch. Difference from the program: both maps of the first layer have a bias, of
// which only the sum matters.
type Critic struct {
	X      int   `json:"x"` // features of x
	Y      int   `json:"y"` // features of y
	Hidden []int `json:"hidden,omitempty"`
	Coded  bool  `json:"coded,omitempty"`
}

// leakySlope is the slope of LeakyReLU with Coded.
const leakySlope = 0.2

// SetDefaults implements defaults.Setter.
func (c *Critic) SetDefaults() {
	if len(c.Hidden) == 0 {
		units := 64
		if c.Coded {
			units = 128
		}
		c.Hidden = []int{units, units}
	}
}

// Check returns an error for a critic that cannot be built.
func (c Critic) Check() error {
	if c.X < 1 || c.Y < 1 || len(c.Hidden) == 0 || slices.Min(c.Hidden) < 1 {
		return fmt.Errorf("a critic of %d and %d features with layers of %v units", c.X, c.Y, c.Hidden)
	}
	return nil
}

// Scores returns T [len(ys), n] for x [X, n] with each of ys, [Y, n]. With more than one y
// there are no per-record gradients for the critic's weights.
func (c Critic) Scores(b *nn.Builder, x *Node, ys ...*Node) *Node {
	if c.Coded {
		b = b.Initial(nn.HeNormal)
	}
	fromX := b.Dense("x", x, c.Hidden[0])
	out := make([]*Node, len(ys))
	for k, y := range ys {
		z := b.Block([]*Node{fromX, b.Dense("y", y, c.Hidden[0])}, func(in []*Node) *Node { return Add(in[0], in[1]) })
		for l, units := range append(slices.Clone(c.Hidden[1:]), 1) {
			z = b.Dense(fmt.Sprintf("layer%d", l+2), c.act(b.Tape, z), units)
		}
		if c.Coded {
			z = c.act(b.Tape, z)
		}
		out[k] = z
		b = b.Reuse() // every y has the same weights
	}
	if len(out) == 1 {
		return out[0]
	}
	return b.Block(out, func(in []*Node) *Node { return Concatenate(in, 0) })
}

func (c Critic) act(t *nn.Tape, z *Node) *Node {
	if c.Coded {
		return nn.LeakyReLU(t, z, leakySlope)
	}
	return nn.ReLUDropout(t, z, nil, 0)
}

// Normalised is a critic whose scores are relative to a moving average over negative pairs,
//
//	s = T - log m,  m an average of exp T(x, y') over batches (nn.MovingLogMean)
//
// as [loss.DonskerVaradhan] needs. A network with it depends on batch statistics
// (model.UsesBatchStats).
//
// In a game (train.Game) the critic's player owns the weights with its prefix and minimises
// that loss; a player who owns the model and maximises it, with a negative weight, makes x
// and y independent. The average belongs to no player: it moves in every step.
type Normalised struct {
	Critic
	Rate float64 `json:"rate,omitempty" default:"0.01"` // rate of the moving average
}

// Check returns an error for a critic that cannot be built.
func (c Normalised) Check() error {
	if err := c.Critic.Check(); err != nil {
		return err
	}
	if !(c.Rate > 0 && c.Rate <= 1) {
		return fmt.Errorf("the average of a critic moves at the rate %v", c.Rate)
	}
	return nil
}

// Init draws the weights; their names begin with prefix.
func (c Normalised) Init(rng *rand.Rand, prefix string) nn.Params {
	p, _ := nn.Declare(c.X+c.Y, rng, func(b *nn.Builder, pair *Node) {
		x, y := Slice(pair, AxisRange(0, c.X)), Slice(pair, AxisRange(c.X))
		c.PairScores(b.Sub(prefix), x, y, y)
	})
	return p
}

// PairScores returns the output [loss.PairScores], [1 + len(negatives), n], for pairs (x, y)
// and for x with the negatives.
func (c Normalised) PairScores(b *nn.Builder, x, y *Node, negatives ...*Node) *Node {
	scores := c.Scores(b, x, append([]*Node{y}, negatives...)...)
	m := b.Weights(nn.MovingLogMeanInit("log_mean"))[0]
	average := nn.MovingLogMean(b.Tape, Slice(scores, AxisRange(1)), m, c.Rate)
	return b.Op(Sub(scores, Reshape(average, 1, 1)), []*Node{scores}, func(v *Node) []*Node { return []*Node{v} })
}
