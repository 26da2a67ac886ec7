package modeltest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// broken is a network of one hidden layer with a fault.
type broken struct {
	Features, Outputs int
	Fault             string
}

func (broken) Name() string   { return "broken" }
func (m broken) Inputs() int  { return m.Features }
func (m broken) Classes() int { return m.Outputs }
func (m broken) Check() error { return nil }
func (m broken) Returns() []model.Output {
	if m.Fault == "returns two outputs" {
		return append(model.ClassifierOutputs(m.Outputs), model.Output{Name: nn.Output, Width: m.Outputs})
	}
	return model.ClassifierOutputs(m.Outputs)
}

func (m broken) ForData(s model.Sizes) (model.Architecture, error) {
	m.Features, m.Outputs = s.Features, s.Classes
	if m.Fault == "forgets a field" {
		return broken{s.Features, s.Classes, ""}, nil
	}
	return m, nil
}

func (m broken) Build(b *nn.Builder, x *Node) model.Trace {
	switch m.Fault {
	case "drawn twice differently":
		if b.Rand() != nil {
			b.Dense("extra", x, 3)
		}
	case "batch mean":
		x = Sub(x, ReduceAndKeep(x, ReduceMean, 1))
	case "largest of the batch":
		x = Sub(x, ReduceAndKeep(x, ReduceMax, 1))
	case "number of records":
		x = DivScalar(x, float64(b.Records))
	case "batch mean in training":
		if b.Training {
			x = Sub(x, ReduceAndKeep(x, ReduceMean, 1))
		}
	}
	h := m.hidden(b, b.Dense("in", x, 4))
	if m.Fault == "a seed of its own" || m.Fault == "the hour" {
		h = b.Block([]*Node{m.ownWeight(b), x, h}, func(in []*Node) *Node { return Add(MatMul(in[0], in[1]), in[2]) })
	}
	z := b.Dense("head", h, m.Outputs)
	tr := model.ClassifierTrace(z, h)
	if m.Fault == "returns two outputs" {
		tr.Outputs[nn.Output] = z
	}
	return tr
}

// ownWeight takes a weight that is drawn with a generator of the network's own.
func (m broken) ownWeight(b *nn.Builder) *Node {
	return b.Weight("own", func(_ *rand.Rand, data []float32) {
		seed := uint64(7)
		if m.Fault == "the hour" {
			seed = uint64(time.Now().Unix() / 3600)
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		for i := range data {
			data[i] = float32(rng.NormFloat64())
		}
	}, 4, m.Features)
}

// hidden is the hidden layer.
func (m broken) hidden(b *nn.Builder, h *Node) *Node {
	switch m.Fault {
	case "unrecorded":
		return Tanh(h)
	case "partly recorded":
		return Add(h, b.Tanh(h))
	case "captured":
		return b.Block([]*Node{h}, func(in []*Node) *Node { return Mul(Tanh(in[0]), Sigmoid(h)) })
	case "wrong derivative":
		return b.Op(Tanh(h), []*Node{h}, func(v *Node) []*Node { return []*Node{v} })
	case "small and reversed":
		h = b.Tanh(h)
		return b.Op(MulScalar(h, 0.002), []*Node{h}, func(v *Node) []*Node { return []*Node{MulScalar(v, -0.002)} })
	case "small and zero":
		h = b.Tanh(h)
		return b.Op(MulScalar(h, 0.002), []*Node{h}, func(v *Node) []*Node { return []*Node{ZerosLike(v)} })
	case "small":
		h = b.Tanh(h)
		return b.Op(MulScalar(h, 0.002), []*Node{h}, func(v *Node) []*Node { return []*Node{MulScalar(v, 0.002)} })
	case "an input too few":
		return b.Op(Tanh(h), nil, func(*Node) []*Node { return nil })
	}
	return b.Block([]*Node{h}, func(in []*Node) *Node { return Tanh(in[0]) })
}

// faults has the words that the suite must say, by check and fault.
var faults = map[string]string{
	"returns two outputs/is what it says":                                "a classifier of 3 classes returns",
	"forgets a field/is what it says":                                    "ForData makes",
	"drawn twice differently/draws its weights from the generator alone": "takes other weights than without",
	"a seed of its own/draws its weights from the generator alone":       "the initial values of own are the same with another generator",
	"the hour/draws its weights from the generator alone":                "the initial values of own are the same with another generator",
	"batch mean/answers for every record alone":                          `the output "logits" of a record depends on the other records`,
	"largest of the batch/answers for every record alone":                `of a record depends on the other records`,
	"number of records/answers for every record alone":                   `of a record depends on the other records`,
	"batch mean in training/trains on every record alone":                "in training the outputs for a record depend on the other records",
	"unrecorded/records its operations":                                  "the gradient of in.bias, in.weight is lost at the operation Tanh of shape [4 2]",
	"partly recorded/records its operations":                             "the gradient of in.bias, in.weight is lost at the operation Add",
	"captured/records its operations":                                    "the gradient of in.bias, in.weight is lost in a Block",
	"wrong derivative/has the gradients of its outputs":                  "the gradient of in.weight is not the slope",
	"small and reversed/has the gradients of its outputs":                "the gradient of in.weight is not the slope",
	"small and zero/has the gradients of its outputs":                    "the gradient of in.weight is not the slope",
	"an input too few/has the gradients of its outputs":                  "the gradient of in.weight is not the slope",
}

func TestBroken(t *testing.T) {
	conform.RunOnlyByFails(t)
	seen := map[string]bool{}
	for name := range faults {
		fault, _, _ := strings.Cut(name, "/")
		if !seen[fault] {
			seen[fault] = true
			t.Run(fault, func(t *testing.T) { Run(t, broken{5, 3, fault}, nil) })
		}
	}
}

// The suite passes the network without a fault and says what is wrong with each other.
func TestTheSuiteFindsEveryFault(t *testing.T) {
	Run(t, broken{5, 3, ""}, nil)
	Run(t, broken{5, 3, "small"}, nil)
	conform.CheckSubtestsSay(t, "TestBroken", faults)
}
