// A small network for digits and glyphs.

package vision

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// SmallCNN is a small network for handwritten digits and glyphs, of this module's own
// design:
//
//	h_i = pool(relu(conv_i(h_{i-1}))) for i = 1, 2, 3,  hp = relu(W h_3 + b),  h = head(hp)
//
// with 3x3 convolutions with bias, a border of one pixel and 32, 64 and 128 channels,
// max-pooling of 2x2 pixels, and 128 hidden units. For 28 x 28 pixels h1 is 32x14x14, h2
// 64x7x7, h3 128x3x3 and hp 128. There is no normalisation, so that records do not mix and
// a batch may be cut into chunks; Norm replaces the bias of every convolution by a batch
// normalisation.
type SmallCNN struct {
	Channels int  `json:"channels,omitempty"` // of the image, 0: 1
	Side     int  `json:"side,omitempty"`     // of the image in pixels, 0: 28
	Outputs  int  `json:"outputs,omitempty"`  // 0: 10
	Width    int  `json:"width,omitempty"`    // channels of the first convolution, 0: 32
	Hidden   int  `json:"hidden,omitempty"`   // 0: 128
	Norm     bool `json:"norm,omitempty"`
}

var (
	_ model.Classifier     = SmallCNN{}
	_ model.MaxBatch       = SmallCNN{}
	_ model.UsesBatchStats = SmallCNN{}
	_ model.Shaped         = SmallCNN{}
)

func (m SmallCNN) withDefaults() SmallCNN {
	m.Channels, m.Side, m.Outputs = cmp.Or(m.Channels, 1), cmp.Or(m.Side, 28), cmp.Or(m.Outputs, 10)
	m.Width, m.Hidden = cmp.Or(m.Width, 32), cmp.Or(m.Hidden, 128)
	return m
}

// Name implements model.Architecture.
func (SmallCNN) Name() string { return "small-cnn" }

// Inputs implements model.Architecture.
func (m SmallCNN) Inputs() int {
	m = m.withDefaults()
	return m.Channels * m.Side * m.Side
}

// Axes implements model.Shaped.
func (m SmallCNN) Axes() []int {
	m = m.withDefaults()
	return []int{m.Channels, m.Side, m.Side}
}

// Classes implements model.Classifier.
func (m SmallCNN) Classes() int { return m.withDefaults().Outputs }

// Returns implements model.Architecture.
func (m SmallCNN) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// MaxBatch implements model.MaxBatch.
func (m SmallCNN) MaxBatch() int { return chunkRows }

// UsesBatchStats implements model.UsesBatchStats.
func (m SmallCNN) UsesBatchStats() bool { return m.Norm }

// Check implements model.Architecture.
func (m SmallCNN) Check() error {
	m = m.withDefaults()
	if m.Hidden < 1 {
		return fmt.Errorf("%s: %d hidden units", m.Name(), m.Hidden)
	}
	if err := checkImage(m.Name(), m.Channels, m.Side, 8, m.Outputs, m.Width); err != nil {
		return err
	}
	w, h := float64(m.Width), float64(m.Hidden)
	return model.CheckSize(m.Name(), 9*w*(float64(m.Channels)+10*w)+imageSize(4, m.Side/8)*w*h+h*float64(m.Outputs),
		max(imageSize(m.Channels, m.Side), imageSize(m.Width, m.Side), h, float64(m.Outputs)))
}

// Init implements model.Architecture.
func (m SmallCNN) Init(rng *rand.Rand) nn.Params {
	m = m.withDefaults()
	var p nn.Params
	in, side := m.Channels, m.Side
	for i := range 3 {
		out := m.Width << i
		p = append(p, nn.ConvInit(rng, fmt.Sprintf("conv%d", i+1), in, out, 3, !m.Norm)...)
		if m.Norm {
			p = append(p, nn.BatchNormInit(fmt.Sprintf("bn%d", i+1), out)...)
		}
		in, side = out, side/2
	}
	p = append(p, nn.PyTorch.DenseInit(rng, "hidden", in*side*side, m.Hidden)...)
	return append(p, nn.PyTorch.DenseInit(rng, "head", m.Hidden, m.Outputs)...)
}

// RandomInputs implements model.Architecture.
func (SmallCNN) RandomInputs() []nn.RandomInput { return nil }

// Forward implements model.Architecture.
func (m SmallCNN) Forward(t *nn.Tape, p []*Node, x *Node, _ []*Node) model.Trace {
	m = m.withDefaults()
	r := &paramReader{t, p}
	h := nn.NewImage(t, x, m.Channels, m.Side, m.Side).ChannelsLast(t)
	var stages []nn.Image
	for range 3 {
		// Bias and ReLU after pooling give the same result for a quarter of the work.
		h = r.conv(h, nn.Conv2D{Pad: 1}, false)
		if m.Norm {
			h = nn.Pool2D{Size: 2}.Max(t, r.norm(h))
		} else {
			h = nn.Pool2D{Size: 2}.Max(t, h).AddBias(t, r.next())
		}
		h = h.ReLU(t)
		stages = append(stages, h)
	}
	hp := nn.ReLUDropout(t, r.dense(h.Join(t)), nil, 0)
	return namedTrace(stages, hp, r.dense(hp))
}
