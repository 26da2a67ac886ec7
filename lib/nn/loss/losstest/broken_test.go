package losstest

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// brokenLoss is a squared error, with an error.
type brokenLoss struct {
	loss.SquaredError
	name   string
	graph  func(apart *Node, g loss.Batch) loss.Value
	breaks string // the test of the suite that must fail
	says   string
}

func (b brokenLoss) Name() string                               { return b.name }
func (brokenLoss) Check(map[string]array.Matrix[float32]) error { return nil }
func (b brokenLoss) Inputs(o map[string]int) (map[string]int, error) {
	w, err := loss.OutputWidth(b, o, nn.Output)
	return map[string]int{loss.Target: w}, err
}
func (b brokenLoss) Graph(g loss.Batch) loss.Value {
	return b.graph(Sub(g.Outputs[nn.Output], g.Inputs[loss.Target]), g)
}

func sum(x *Node) *Node { return ReduceAndKeep(x, ReduceSum, 0) }

// quadratic is factor times the squared error, with a derivative of one's own.
func quadratic(x *Node, factor float64, derivative *Node) loss.Value {
	return loss.Value{Losses: MulScalar(sum(Square(x)), factor), Adjoints: map[string]*Node{nn.Output: derivative}}
}

func plain(x *Node) loss.Value { return loss.Value{Losses: sum(Square(x))} }

// clipped is the derivative of a squared error, and 0 beyond 6.
func clipped(x *Node) *Node {
	return MulScalar(Where(GreaterThan(Abs(x), Scalar(x.Graph(), x.DType(), 6.0)), ZerosLike(x), x), 2)
}

var brokenLosses = []brokenLoss{
	{name: "sign", breaks: "derivatives", says: "by output, element 0 of record 0",
		graph: func(x *Node, _ loss.Batch) loss.Value { return quadratic(x, 1, MulScalar(x, -2)) }},
	{name: "small-and-wrong", breaks: "derivatives", says: "by output, element 0 of record 0",
		graph: func(x *Node, _ loss.Batch) loss.Value { return quadratic(x, 1e-4, MulScalar(x, -2e-4)) }},
	{name: "small-and-twice", breaks: "derivatives", says: "by output, element 0 of record 0",
		graph: func(x *Node, _ loss.Batch) loss.Value { return quadratic(x, 1e-6, MulScalar(x, 4e-6)) }},
	{name: "clipped-beyond-6", breaks: "derivatives far from zero", says: "by output, element",
		graph: func(x *Node, _ loss.Batch) loss.Value { return quadratic(x, 1, clipped(x)) }},
	{name: "vector", breaks: "finite", says: "the loss vector returns losses of shape [5] for 5 records, not [1 5]",
		graph: func(x *Node, _ loss.Batch) loss.Value { return loss.Value{Losses: ReduceSum(Square(x), 0)} }},
	{name: "scalar", breaks: "finite", says: "the loss scalar returns losses of shape [] for 5 records",
		graph: func(x *Node, _ loss.Batch) loss.Value { return loss.Value{Losses: ReduceAllMean(Square(x))} }},
	{name: "wide", breaks: "finite", says: "the loss wide returns losses of shape [4 5] for 5 records",
		graph: func(x *Node, _ loss.Batch) loss.Value { return loss.Value{Losses: Square(x)} }},
	{name: "nil", breaks: "finite", says: "the loss nil returns no Losses (nil)",
		graph: func(*Node, loss.Batch) loss.Value { return loss.Value{} }},
	{name: "panics", breaks: "finite", says: "the loss panics: its graph is not built: ",
		graph: func(x *Node, g loss.Batch) loss.Value { return loss.Value{Losses: Add(x, g.Outputs["nothing"])} }},
	{name: "logarithm", breaks: "finite", says: "the loss, of standard normal outputs, is NaN for record 0",
		graph: func(x *Node, _ loss.Batch) loss.Value { return loss.Value{Losses: sum(Log(x))} }},
	{name: "nan-derivative", breaks: "finite", says: "the derivative by output, of standard normal outputs, is NaN for record 0",
		graph: func(x *Node, _ loss.Batch) loss.Value { return quadratic(x, 1, MulScalar(x, math.NaN())) }},
	{name: "undeclared-output", breaks: "declared", says: `the loss undeclared-output uses the output "latent_mean", and its Inputs accepts`,
		graph: func(x *Node, g loss.Batch) loss.Value {
			return loss.Value{Losses: Add(sum(Square(x)), sum(g.Outputs[loss.LatentMean]))}
		}},
	{name: "undeclared-twice", breaks: "declared", says: `the loss undeclared-twice uses the output "latent_mean"`,
		graph: func(x *Node, g loss.Batch) loss.Value {
			return loss.Value{Losses: Add(sum(Square(x)), Add(sum(g.Outputs[loss.LatentMean]), sum(g.Outputs[nn.Logits])))}
		}},
	{name: "adjoint-shape", breaks: "finite", says: `returns a derivative by the output "output" of shape [1 5]; the output has the shape [4 5]`,
		graph: func(x *Node, _ loss.Batch) loss.Value { return quadratic(x, 1, sum(x)) }},
	{name: "adjoint-nil", breaks: "finite", says: `returns nil for the derivative by the output "output"`,
		graph: func(x *Node, _ loss.Batch) loss.Value { return quadratic(x, 1, nil) }},
	{name: "adjoint-unknown", breaks: "finite", says: `returns a derivative by the output "outptu", which it was not given`,
		graph: func(x *Node, _ loss.Batch) loss.Value {
			return loss.Value{Losses: sum(Square(x)), Adjoints: map[string]*Node{"outptu": x}}
		}},
	{name: "adjoint-left-out", breaks: "derivatives", says: "by logits, element 0 of record 1: 0, by differences",
		graph: func(x *Node, g loss.Batch) loss.Value {
			v := quadratic(x, 1, MulScalar(x, 2))
			v.Losses = Add(v.Losses, sum(Square(g.Outputs[nn.Logits])))
			return v
		}},
	{name: "batch-mean", breaks: "own", says: "the loss of record 0 depends on output of record 2",
		graph: func(x *Node, _ loss.Batch) loss.Value {
			l := sum(Square(x))
			return loss.Value{Losses: Sub(l, ReduceAndKeep(l, ReduceMean, 1))}
		}},
	{name: "mean-by-hand", breaks: "per record", says: "element 0 of record 0, is ",
		graph: func(x *Node, _ loss.Batch) loss.Value {
			return loss.Value{Losses: DivScalar(sum(Square(x)), float64(x.Shape().Dimensions[1]))}
		}},
	{name: "place", breaks: "per record", says: "neither how many records a batch has nor in which order they stand",
		graph: func(x *Node, _ loss.Batch) loss.Value {
			return loss.Value{Losses: Mul(sum(Square(x)), AddScalar(Iota(x.Graph(), sum(x).Shape(), 1), 1))}
		}},
	{name: "derivative-of-a-mean", breaks: "per record", says: "the derivative by output, element 0 of record 0",
		graph: func(x *Node, _ loss.Batch) loss.Value {
			return quadratic(x, 1, MulScalar(x, 2.5-float64(x.Shape().Dimensions[1])/10))
		}},
	{name: "ignores-its-target", breaks: "uses its inputs", says: `asks for the input "target" and ignores it`,
		graph: func(_ *Node, g loss.Batch) loss.Value { return plain(g.Outputs[nn.Output]) }},
	{name: "constant", breaks: "derivatives", says: "the loss depends on no output",
		graph: func(x *Node, _ loss.Batch) loss.Value { return loss.Value{Losses: sum(ZerosLike(x))} }},
}

func TestBrokenLosses(t *testing.T) {
	conform.RunOnlyByFails(t)
	for _, l := range brokenLosses {
		t.Run(l.name, func(t *testing.T) { Run(t, l, nil) })
	}
}

func TestTheSuiteFailsBrokenLosses(t *testing.T) {
	says := map[string]string{}
	for _, l := range brokenLosses {
		says[l.name+"/"+l.breaks] = l.says
	}
	conform.CheckSubtestsSay(t, "TestBrokenLosses", says)
}

func TestTheSuitePassesASquaredError(t *testing.T) {
	Run(t, brokenLoss{name: "right", graph: func(x *Node, _ loss.Batch) loss.Value { return plain(x) }}, nil)
}
