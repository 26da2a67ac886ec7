package information

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Critic scores how well x and y go together, T(x, y), by a multilayer perceptron on
// both:
//
//	h1 = act(Wx x + bx + Wy y + by),  h = act(W h + b) ...,  T = w h + b
//
// Its first layer has a map for either side, so that x is looked at once for however
// many y. It is made of layers and no network of its own: it can be put beside a model
// whose representations are x or y, and its answer has a derivative by both.
//
// As coded (BlindU's program) act is LeakyReLU of slope 0.2, also on T, the weights
// are Kaiming-normal and the biases 0; else act is ReLU, T is free to be negative and
// all begin as PyTorch's. Differs from the program: 1. Both maps of the first layer
// have a bias, of which the sum counts.
type Critic struct {
	X      int   `json:"x"` // features of x
	Y      int   `json:"y"` // features of y
	Hidden []int `json:"hidden,omitempty"`
	Coded  bool  `json:"coded,omitempty"`
}

// leakySlope is that of LeakyReLU as coded.
const leakySlope = 0.2

// WithDefaults puts two layers of 64 units in the place of no layers, as coded of 128.
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

// Check reports a critic that cannot be built.
func (c Critic) Check() error {
	if c.X < 1 || c.Y < 1 || len(c.Hidden) == 0 || slices.Min(c.Hidden) < 1 {
		return fmt.Errorf("a critic of %d and %d features with layers of %v units", c.X, c.Y, c.Hidden)
	}
	return nil
}

// Tensors is how many Init makes.
func (c Critic) Tensors() int { return 2*len(c.Hidden) + 4 }

// Init draws the weights, whose names begin with prefix.
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

// Forward is T for x [X, n] with y [Y, n]: [1, n].
func (c Critic) Forward(t *nn.Tape, p []*Node, x, y *Node) *Node { return c.Scores(t, p, x, y) }

// Scores is T for x [X, n] with each of several ys, [Y, n]: [len(ys), n]. With more
// than one no record has a gradient of its own by the critic's weights.
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

// Normalised is a critic whose scores are relative to a moving average of what it says
// of strangers,
//
//	s = T - log m,  m an average of exp T(x, y') over batches (nn.MovingLogMean)
//
// which is what [loss.DonskerVaradhan] needs. A network that holds it is coupled
// (model.UsesBatchStats).
//
// In a game (train.Game) the critic's player owns the weights of its prefix and goes
// down that loss; a player who owns the model and goes up it, with a negative weight,
// takes what is compared apart. The average is nobody's: it moves in everybody's steps.
type Normalised struct {
	Critic
	Rate float64 `json:"rate,omitempty"` // of the average; 0: 0.01
}

// WithDefaults replaces zeros by their meaning.
func (c Normalised) WithDefaults() Normalised {
	c.Critic, c.Rate = c.Critic.WithDefaults(), cmp.Or(c.Rate, 0.01)
	return c
}

// Check reports a critic that cannot be built.
func (c Normalised) Check() error {
	if err := c.Critic.Check(); err != nil {
		return err
	}
	if !(c.Rate > 0 && c.Rate <= 1) {
		return fmt.Errorf("the average of a critic moves at the rate %v", c.Rate)
	}
	return nil
}

// Tensors is how many Init makes: those of the critic and, behind them, the average.
func (c Normalised) Tensors() int { return c.Critic.Tensors() + 1 }

// Init draws the weights, whose names begin with prefix.
func (c Normalised) Init(rng *rand.Rand, prefix string) nn.Params {
	return append(c.Critic.Init(rng, prefix), nn.MovingLogMeanInit(prefix+"log_mean"))
}

// Forward is the output [loss.PairScores], [1 + len(strangers), n], of pairs (x, y)
// and of x with strangers.
func (c Normalised) Forward(t *nn.Tape, p []*Node, x, y *Node, negatives ...*Node) *Node {
	scores := c.Scores(t, p, x, append([]*Node{y}, negatives...)...)
	average := nn.MovingLogMean(t, Slice(scores, AxisRange(1)), p[c.Tensors()-1], c.Rate)
	return t.Op(Sub(scores, Reshape(average, 1, 1)), []*Node{scores}, func(v *Node) []*Node { return []*Node{v} })
}
