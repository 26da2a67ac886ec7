// Tests of critic.go.

package information

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// byHand is T(x, y) with the weights p, in float64.
func byHand(c Critic, p nn.Params, x, y []float64) float64 {
	act := func(v float64) float64 {
		switch {
		case v > 0:
			return v
		case c.Coded:
			return 0.2 * v
		}
		return 0
	}
	dense := func(w, b nn.Param, x []float64) []float64 {
		out := make([]float64, len(b.Data))
		for i := range out {
			out[i] = float64(b.Data[i])
			for j, v := range x {
				out[i] += float64(w.Data[i*len(x)+j]) * v
			}
		}
		return out
	}
	z, from := dense(p[0], p[1], x), dense(p[2], p[3], y)
	for i := range z {
		z[i] += from[i]
	}
	for l := range c.Hidden {
		for i := range z {
			z[i] = act(z[i])
		}
		z = dense(p[4+2*l], p[5+2*l], z)
	}
	if c.Coded {
		return act(z[0])
	}
	return z[0]
}

// criticWeights draws a critic's weights.
func criticWeights(c Critic, rng *rand.Rand) nn.Params {
	p, _ := nn.Declare(c.X+c.Y, rng, func(b *nn.Builder, in *Node) { c.Scores(b, Slice(in, AxisRange(0, c.X)), Slice(in, AxisRange(c.X))) })
	return p
}

// run executes a graph with the weights p on matrices with a row per record.
func run(t *testing.T, e *engine.Engine, p nn.Params, build func(b *nn.Builder, in []*Node) []*Node, of ...array.Matrix[float64]) [][]float32 {
	t.Helper()
	var args []any
	for _, v := range p {
		args = append(args, tensors.FromFlatDataAndDimensions(v.Data, v.Shape...))
	}
	for _, m := range of {
		args = append(args, tensors.FromFlatDataAndDimensions(array.Convert[float32](m.Transpose()).Data, m.Cols, m.Rows))
	}
	out, err := CallOnceN(e.Backend(), func(in []*Node) (out []*Node) {
		w, in := in[:len(p)], in[len(p):]
		nn.Build(&nn.Tape{}, p, w, nil, nil, in[0], func(b *nn.Builder) { out = build(b, in) })
		return out
	}, args...)
	if err != nil {
		t.Fatal(err)
	}
	flat := make([][]float32, len(out))
	for k, o := range out {
		if err := tensors.ConstFlatData(o, func(v []float32) { flat[k] = append(flat[k], v...) }); err != nil {
			t.Fatal(err)
		}
	}
	return flat
}

// The scores, also of several ys at once, follow the formula.
func TestACriticIsItsFormula(t *testing.T) {
	e, rng := open(t), engine.Root(1).Stream("critic test")
	x, y, other := array.Normal(rng, 7, 3, 1), array.Normal(rng, 7, 2, 1), array.Normal(rng, 7, 2, 1)
	for _, c := range []Critic{{X: 3, Y: 2, Hidden: []int{5}}, {X: 3, Y: 2, Hidden: []int{6, 4, 5}}, {X: 3, Y: 2, Hidden: []int{5, 4}, Coded: true}} {
		p := criticWeights(c, rng)
		out := run(t, e, p, func(b *nn.Builder, in []*Node) []*Node {
			return []*Node{c.Scores(b, in[0], in[1]), c.Scores(b.Reuse(), in[0], in[1], in[2])}
		}, x, y, other)
		for i := range x.Rows {
			own, strange := byHand(c, p, x.Row(i), y.Row(i)), byHand(c, p, x.Row(i), other.Row(i))
			for _, pair := range [][2]float64{{float64(out[0][i]), own}, {float64(out[1][i]), own}, {float64(out[1][7+i]), strange}} {
				if math.Abs(pair[0]-pair[1]) > 1e-5 {
					t.Errorf("%+v, record %d: %v, by hand %v", c, i, pair[0], pair[1])
				}
			}
		}
	}
}

// A seed gives the weights that the layers draw one after the other.
func TestACriticDrawsItsLayersInTheirOrder(t *testing.T) {
	stream := func() *rand.Rand { return engine.Root(1).Stream("critic test") }
	for rule, coded := range map[nn.Init]bool{nn.PyTorch: false, nn.HeNormal: true} {
		rng := stream()
		want := slices.Concat(rule.DenseInit(rng, "critic.x", 3, 4), rule.DenseInit(rng, "critic.y", 2, 4), rule.DenseInit(rng, "critic.layer2", 4, 5),
			rule.DenseInit(rng, "critic.layer3", 5, 1), nn.Params{nn.MovingLogMeanInit("critic.log_mean")})
		got := Normalised{Critic: Critic{X: 3, Y: 2, Hidden: []int{4, 5}, Coded: coded}}.Init(stream(), "critic.")
		if got.Hash() != want.Hash() || !got[len(got)-1].State {
			t.Errorf("coded %v: other weights", coded)
		}
	}
}

// The published program starts with normal weights of variance 2 over the input units and
// no bias.
func TestACodedCriticBeginsAsTheProgram(t *testing.T) {
	c := defaults.Fill(Critic{X: 49, Y: 98, Coded: true})
	p := criticWeights(c, engine.Root(1).Stream("critic test"))
	if len(c.Hidden) != 2 || c.Hidden[0] != 128 || c.Hidden[1] != 128 {
		t.Errorf("its layers have %v units", c.Hidden)
	}
	for _, v := range p {
		var square, most float64
		for _, w := range v.Data {
			square += float64(w) * float64(w) / float64(len(v.Data))
			most = max(most, math.Abs(float64(w)))
		}
		if strings.HasSuffix(v.Name, "bias") && most != 0 {
			t.Errorf("%s begins with %v", v.Name, most)
		}
		if n := float64(v.Shape[len(v.Shape)-1]); len(v.Shape) == 2 && math.Abs(square*n/2-1) > 5*math.Sqrt(2/float64(len(v.Data))) {
			t.Errorf("%s has the variance %v, want %v", v.Name, square, 2/n)
		}
	}
}

// With a representation z = A x before the critic, the derivative of the bound with respect
// to A agrees with finite differences, and is not 0.
func TestTheBoundHasADerivativeByWhatIsCompared(t *testing.T) {
	e, rng := open(t), engine.Root(2).Stream("critic test")
	x, y, other := array.Normal(rng, 9, 4, 1), array.Normal(rng, 9, 2, 1), array.Normal(rng, 9, 2, 1)
	c := defaults.Fill(Normalised{Critic: Critic{X: 3, Y: 2, Hidden: []int{8, 6}}})
	p := append(nn.PyTorch.DenseInit(rng, "compressor", 4, 3), c.Init(rng, "critic.")...)
	if last := p[len(p)-1]; last.Name != "critic.log_mean" || !last.State || p[2].Name != "critic.x.weight" {
		t.Fatalf("%d weights, the last is %+v", len(p), last)
	}
	p[len(p)-1].Data[0] = 0.3
	at := func() (losses, slopes []float32) {
		out := run(t, e, p, func(b *nn.Builder, in []*Node) []*Node {
			w := b.Weights(p[:2]...)
			s := c.PairScores(b.Sub("critic."), nn.Dense(b.Tape, in[0], w[0], w[1]), in[1], in[2])
			v := loss.Build(loss.DonskerVaradhan{}, loss.Batch{Outputs: map[string]*Node{loss.PairScores: s}})
			grads := b.Backward(nn.Adjoints{s: v.Adjoints[loss.PairScores]}, w[:1])
			return []*Node{v.Losses, grads[0]}
		}, x, y, other)
		return out[0], out[1]
	}
	sum := func() (total float64) {
		losses, _ := at()
		for _, v := range losses {
			total += float64(v)
		}
		return total
	}
	_, got := at()
	some := 0.0
	for k := range p[0].Data {
		const h = 1e-2
		before := p[0].Data[k]
		p[0].Data[k] = before + h
		up := sum()
		p[0].Data[k] = before - h
		down := sum()
		p[0].Data[k] = before
		if want := (up - down) / (2 * h); math.Abs(want-float64(got[k])) > 2e-3*(1+math.Abs(want)) {
			t.Errorf("weight %d: %v, by differences %v", k, got[k], want)
		}
		some += math.Abs(float64(got[k]))
	}
	if some < 1e-3 {
		t.Error("there is no derivative")
	}
}

// The average moves in training, towards the scores of negatives and not of pairs.
func TestTheAverageIsOverNegatives(t *testing.T) {
	e, rng := open(t), engine.Root(3).Stream("critic test")
	x, y, other := array.Normal(rng, 9, 3, 1), array.Normal(rng, 9, 2, 1), array.Normal(rng, 9, 2, 1)
	c := Normalised{Critic: Critic{X: 3, Y: 2, Hidden: []int{8}}, Rate: 0.25}
	p := c.Init(rng, "")
	out := run(t, e, p, func(b *nn.Builder, in []*Node) []*Node {
		b.Training = true
		s := c.PairScores(b, in[0], in[1], in[2])
		return []*Node{s, b.Statistic(b.Reuse().Weights(p[len(p)-1])[0])}
	}, x, y, other)
	mean := 0.0
	for i := range x.Rows {
		mean += math.Exp(byHand(c.Critic, p, x.Row(i), other.Row(i))) / 9
	}
	want := math.Log(0.75 + 0.25*mean)
	if math.Abs(float64(out[1][0])-want) > 1e-5 {
		t.Errorf("the logarithm of the average is %v, by hand %v", out[1][0], want)
	}
	if s := byHand(c.Critic, p, x.Row(4), y.Row(4)) - want; math.Abs(float64(out[0][4])-s) > 1e-5 {
		t.Errorf("a score is %v, by hand %v", out[0][4], s)
	}
}

// A critic with negatives mixes the records of a batch; its weights are named where
// per-record gradients are requested.
func TestACriticWithSeveralNegativesHasNoPerRecordGradients(t *testing.T) {
	m := network{defaults.Fill(Normalised{Critic: Critic{X: 1, Y: 1, Hidden: []int{4}}}), 1}
	if !model.HasBatchStats(m) {
		t.Error("it says that records do not mix")
	}
	r, err := model.NewRunner(open(t), m)
	if err != nil {
		t.Fatal(err)
	}
	p := model.InitialWeights(m, engine.Root(1).Stream("critic test"))
	o := train.Objective{{X: array.New[float32](5, 3), Targets: []train.Target{{Loss: loss.DonskerVaradhan{}, Weight: 1}}}}
	_, err = train.GradientNorms(t.Context(), r, p, o, train.Mode{})
	if err == nil || !strings.Contains(err.Error(), "y.weight") {
		t.Errorf("%v", err)
	}
}

func TestCriticsThatCannotBeAreRefused(t *testing.T) {
	ok := defaults.Fill(Critic{X: 1, Y: 1})
	if err := ok.Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []Critic{{X: 0, Y: 1, Hidden: []int{2}}, {X: 1, Y: 0, Hidden: []int{2}}, {X: 1, Y: 1}, {X: 1, Y: 1, Hidden: []int{2, 0}}} {
		if c.Check() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, rate := range []float64{-1, 2, math.NaN()} {
		if (Normalised{ok, rate}).Check() == nil {
			t.Errorf("an average that moves at %v is accepted", rate)
		}
	}
}
