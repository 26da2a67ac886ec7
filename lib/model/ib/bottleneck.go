// The bottleneck classifier and the interface of its halves.

package ib

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Bottleneck is the classifier of BlindU (section IV), a deep variational information
// bottleneck (Alemi et al. 2017). The compressor makes two numbers of a record for each of
// Latent variables,
//
//	(mu, r) = compressor(x),  sigma = softplus(r) = log(1 + exp(r))
//	z = mu + sigma eps,  eps standard normal in training and 0 in inference
//	logits = approximator(z)
//
// Besides the logits it returns mu and log sigma^2, from which loss.LatentDivergence
// computes the divergence of the code from a standard normal. It is trained on both, see
// lab.Compression. The embedding is mu.
//
// The zero value of the other fields is the program's network for MNIST, with 49 variables
// and 90,636 weights. For Adult, Latent is 9; for CIFAR-10 see [ResNet]. [All] lists the
// networks for either half.
//
// Differences: (1) the paper describes two networks of five layers; here, as in the
// program, they have two. (2) The program draws eps in inference too; to do so use
// [SampleCodes] with an [Approximator]. (3) The program's decoder, which is never trained,
// is left out.
type Bottleneck struct {
	Features     int        `json:"features,omitempty" default:"784"`
	Outputs      int        `json:"outputs,omitempty" default:"10"` // classes
	Latent       int        `json:"latent,omitempty" default:"49"`  // variables of a code
	Compressor   SubNetwork `json:"compressor,omitempty"`           // nil: MLP{}
	Approximator SubNetwork `json:"approximator,omitempty"`         // nil: MLP{}
}

var (
	_ model.Classifier     = Bottleneck{}
	_ model.UsesBatchStats = Bottleneck{}
	_ model.MaxBatch       = Bottleneck{}
	_ model.StateDictNamer = Bottleneck{}
)

// SubNetwork is a network for either half of a bottleneck.
type SubNetwork interface {
	// Name is the short name, such as "mlp"; with the fields, as JSON, it identifies the
	// network.
	Name() string
	// About describes the network in one line.
	About() string
	// Check returns an error for input and output widths that the network cannot have.
	Check(in, out int) error
	// Build builds the network on x [in, n]; the result is [out, n].
	Build(b *nn.Builder, x *Node, out int) *Node
	// UsesBatchStats reports whether training mixes the records of a batch.
	UsesBatchStats() bool
	// MaxBatch is the maximum number of records per execution, 0: any number.
	MaxBatch() int
}

// The prefixes of the weights' names.
const (
	compressor   = "compressor"
	approximator = "approximator"
)

// SetDefaults implements defaults.Setter.
func (m *Bottleneck) SetDefaults() {
	m.Compressor, m.Approximator = cmp.Or[SubNetwork](m.Compressor, MLP{}), cmp.Or[SubNetwork](m.Approximator, MLP{})
}

// Name implements model.Architecture; it names both halves.
func (m Bottleneck) Name() string {
	m = defaults.Fill(m)
	return "bottleneck-" + m.Compressor.Name() + "-" + m.Approximator.Name()
}

// Inputs implements model.Architecture.
func (m Bottleneck) Inputs() int { return defaults.Fill(m).Features }

// Classes implements model.Classifier.
func (m Bottleneck) Classes() int { return defaults.Fill(m).Outputs }

// Returns implements model.Architecture.
func (m Bottleneck) Returns() []model.Output {
	m = defaults.Fill(m)
	return append(model.ClassifierOutputs(m.Outputs),
		model.Output{Name: loss.LatentMean, Width: m.Latent}, model.Output{Name: loss.LatentLogVar, Width: m.Latent})
}

// UsesBatchStats implements model.UsesBatchStats.
func (m Bottleneck) UsesBatchStats() bool {
	m = defaults.Fill(m)
	return m.Compressor.UsesBatchStats() || m.Approximator.UsesBatchStats()
}

// MaxBatch implements model.MaxBatch.
func (m Bottleneck) MaxBatch() int {
	m = defaults.Fill(m)
	return min(chunkRows(m.Compressor), chunkRows(m.Approximator))
}

// chunkRows returns the maximum number of records per execution.
func chunkRows(h SubNetwork) int { return cmp.Or(h.MaxBatch(), math.MaxInt) }

// Check implements model.Architecture.
func (m Bottleneck) Check() error {
	m = defaults.Fill(m)
	if m.Features < 1 || m.Outputs < 2 || m.Latent < 1 {
		return fmt.Errorf("%s: %d features, %d classes and %d latent variables", m.Name(), m.Features, m.Outputs, m.Latent)
	}
	if err := m.Compressor.Check(m.Features, 2*m.Latent); err != nil {
		return fmt.Errorf("%s: the compressor: %w", m.Name(), err)
	}
	if err := m.Approximator.Check(m.Latent, m.Outputs); err != nil {
		return fmt.Errorf("%s: the approximator: %w", m.Name(), err)
	}
	return nil
}

// NameStateDict implements model.StateDictNamer: the halves are the modules compressor and
// approximator; a residual network has torchvision's names.
func (m Bottleneck) NameStateDict(d *nn.StateDict) {
	m = defaults.Fill(m)
	if r, ok := m.Compressor.(ResNet); ok {
		r.NameStateDict(d, compressor, m.Features)
	}
	if r, ok := m.Approximator.(ResNet); ok {
		r.NameStateDict(d, approximator, m.Latent)
	}
}

// Build implements model.Architecture.
func (m Bottleneck) Build(b *nn.Builder, x *Node) model.Trace {
	code := m.Compress(b, x)
	logits := m.Classify(b, code.Z)
	return model.Trace{
		Outputs:   map[string]*Node{nn.Logits: logits, loss.LatentMean: code.Mean, loss.LatentLogVar: code.LogVar},
		Embedding: code.Mean,
		Layers:    []model.Layer{{Name: "mean", Value: code.Mean}, {Name: "logits", Value: logits}},
	}
}

// TensorCounts returns the number of weight tensors of the halves.
func (m Bottleneck) TensorCounts() (compressing, approximating int) {
	c, a := SplitWeights(model.InitialWeights(m, nil))
	return len(c), len(a)
}

// Code is what the compressor makes of records, [Latent, n] each.
type Code struct{ Mean, LogVar, Z *Node }

// Compress builds the compressor on x [Features, n]. eps is a random input.
func (m Bottleneck) Compress(b *nn.Builder, x *Node) Code {
	m = defaults.Fill(m)
	both := m.Compressor.Build(b.Sub(compressor+"."), x, 2*m.Latent)
	mean := b.Block([]*Node{both}, func(in []*Node) *Node { return Slice(in[0], AxisRange(0, m.Latent)) })
	logvar := b.Block([]*Node{both}, func(in []*Node) *Node { return logSquaredSoftplus(Slice(in[0], AxisRange(m.Latent))) })
	eps := b.Random(nn.RandomInput{Name: "eps", Distribution: nn.Normal, Units: m.Latent})
	if eps == nil {
		return Code{mean, logvar, mean}
	}
	z := b.Block([]*Node{mean, logvar}, func(in []*Node) *Node { return Add(in[0], Mul(Exp(MulScalar(in[1], 0.5)), eps)) })
	return Code{mean, logvar, z}
}

// Classify builds the approximator on codes [Latent, n].
func (m Bottleneck) Classify(b *nn.Builder, z *Node) *Node {
	m = defaults.Fill(m)
	return m.Approximator.Build(b.Sub(approximator+"."), z, m.Outputs)
}

// logSquaredSoftplus is 2 log log(1 + exp(r)). Far below 0 it uses r for the logarithm of
// softplus(r), because the logarithm of a softplus rounded to 0 is not finite.
func logSquaredSoftplus(r *Node) *Node {
	low := LessThan(r, Scalar(r.Graph(), r.DType(), softplusUnderflow))
	safe := MaxScalar(r, softplusUnderflow)
	softplus := Add(MaxScalar(safe, 0), Log1P(Exp(Neg(Abs(safe)))))
	return MulScalar(Where(low, r, Log(softplus)), 2)
}

// softplusUnderflow is the r below which softplus(r) equals exp(r) in float32.
const softplusUnderflow = -17

// SplitWeights splits the weights of a bottleneck into those of the compressor and those of
// the approximator.
func SplitWeights(p nn.Params) (compressing, approximating nn.Params) {
	for _, w := range p {
		if strings.HasPrefix(w.Name, compressor+".") {
			compressing = append(compressing, w)
		} else {
			approximating = append(approximating, w)
		}
	}
	return compressing, approximating
}
