// Critics: networks that score pairs.

package information

import (
	"cmp"
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
// number of y. A Critic is made of layers and is no architecture of its own: it can be
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

// WithDefaults replaces an empty Hidden by two layers of 64 units, or 128 with Coded.
func (c Critic) WithDefaults() Critic {
	if len(c.Hidden) == 0 {
		units := 64
		if c.Coded {
			units = 128
		}
		c.Hidden = []int{units, units}
	}
	return c
}

// Check returns an error for a critic that cannot be built.
func (c Critic) Check() error {
	if c.X < 1 || c.Y < 1 || len(c.Hidden) == 0 || slices.Min(c.Hidden) < 1 {
		return fmt.Errorf("a critic of %d and %d features with layers of %v units", c.X, c.Y, c.Hidden)
	}
	return nil
}

// Tensors returns the number of tensors that Init makes.
func (c Critic) Tensors() int { return 2*len(c.Hidden) + 4 }

// Init draws the weights; their names begin with prefix.
func (c Critic) Init(rng *rand.Rand, prefix string) nn.Params {
	rule := nn.PyTorch
	if c.Coded {
		rule = nn.HeNormal
	}
	p := rule.DenseInit(rng, prefix+"x", c.X, c.Hidden[0])
	p = append(p, rule.DenseInit(rng, prefix+"y", c.Y, c.Hidden[0])...)
	for l, in := range c.Hidden {
		name, out := fmt.Sprintf("%slayer%d", prefix, l+2), 1
		if l+1 < len(c.Hidden) {
			out = c.Hidden[l+1]
		}
		p = append(p, rule.DenseInit(rng, name, in, out)...)
	}
	return p
}

// Forward returns T [1, n] for x [X, n] and y [Y, n].
func (c Critic) Forward(t *nn.Tape, p []*Node, x, y *Node) *Node { return c.Scores(t, p, x, y) }

// Scores returns T [len(ys), n] for x [X, n] with each of ys, [Y, n]. With more than one y
// there are no per-record gradients for the critic's weights.
func (c Critic) Scores(t *nn.Tape, p []*Node, x *Node, ys ...*Node) *Node {
	fromX := nn.Dense(t, x, p[0], p[1])
	out := make([]*Node, len(ys))
	for k, y := range ys {
		z := t.Block([]*Node{fromX, nn.Dense(t, y, p[2], p[3])}, func(in []*Node) *Node { return Add(in[0], in[1]) })
		for q := p[4:c.Tensors()]; len(q) > 0; q = q[2:] {
			z = nn.Dense(t, c.act(t, z), q[0], q[1])
		}
		if c.Coded {
			z = c.act(t, z)
		}
		out[k] = z
	}
	if len(out) == 1 {
		return out[0]
	}
	return t.Block(out, func(in []*Node) *Node { return Concatenate(in, 0) })
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
	Rate float64 `json:"rate,omitempty"` // rate of the moving average; 0: 0.01
}

// WithDefaults replaces zeros by their defaults.
func (c Normalised) WithDefaults() Normalised {
	c.Critic, c.Rate = c.Critic.WithDefaults(), cmp.Or(c.Rate, 0.01)
	return c
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

// Tensors returns the number of tensors that Init makes: those of the critic, then the
// average.
func (c Normalised) Tensors() int { return c.Critic.Tensors() + 1 }

// Init draws the weights; their names begin with prefix.
func (c Normalised) Init(rng *rand.Rand, prefix string) nn.Params {
	return append(c.Critic.Init(rng, prefix), nn.MovingLogMeanInit(prefix+"log_mean"))
}

// Forward returns the output [loss.PairScores], [1 + len(negatives), n], for pairs (x, y)
// and for x with the negatives.
func (c Normalised) Forward(t *nn.Tape, p []*Node, x, y *Node, negatives ...*Node) *Node {
	scores := c.Scores(t, p, x, append([]*Node{y}, negatives...)...)
	average := nn.MovingLogMean(t, Slice(scores, AxisRange(1)), p[c.Tensors()-1], c.Rate)
	return t.Op(Sub(scores, Reshape(average, 1, 1)), []*Node{scores}, func(v *Node) []*Node { return []*Node{v} })
}
