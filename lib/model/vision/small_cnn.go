// A small network for digits and glyphs.

package vision

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
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
	Channels int  `json:"channels,omitempty" default:"1"` // of the image
	Side     int  `json:"side,omitempty" default:"28"`    // of the image in pixels
	Outputs  int  `json:"outputs,omitempty" default:"10"`
	Width    int  `json:"width,omitempty" default:"32"` // channels of the first convolution
	Hidden   int  `json:"hidden,omitempty" default:"128"`
	Norm     bool `json:"norm,omitempty"`
}

var (
	_ model.Classifier     = SmallCNN{}
	_ model.MaxBatch       = SmallCNN{}
	_ model.UsesBatchStats = SmallCNN{}
	_ model.Shaped         = SmallCNN{}
)

// Name implements model.Architecture.
func (SmallCNN) Name() string { return "small-cnn" }

// Inputs implements model.Architecture.
func (m SmallCNN) Inputs() int {
	m = defaults.Fill(m)
	return m.Channels * m.Side * m.Side
}

// Axes implements model.Shaped.
func (m SmallCNN) Axes() []int {
	m = defaults.Fill(m)
	return []int{m.Channels, m.Side, m.Side}
}

// Classes implements model.Classifier.
func (m SmallCNN) Classes() int { return defaults.Fill(m).Outputs }

// Returns implements model.Architecture.
func (m SmallCNN) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// MaxBatch implements model.MaxBatch.
func (m SmallCNN) MaxBatch() int { return chunkRows }

// UsesBatchStats implements model.UsesBatchStats.
func (m SmallCNN) UsesBatchStats() bool { return m.Norm }

// Check implements model.Architecture.
func (m SmallCNN) Check() error {
	m = defaults.Fill(m)
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

// Build implements model.Architecture.
func (m SmallCNN) Build(b *nn.Builder, x *Node) model.Trace {
	m = defaults.Fill(m)
	h := nn.NewImage(b.Tape, x, m.Channels, m.Side, m.Side).ChannelsLast(b.Tape)
	var stages []nn.Image
	for i := range 3 {
		// Bias and ReLU after pooling give the same result for a quarter of the work.
		name, bound := fmt.Sprintf("conv%d", i+1), nn.UniformWeights(1/math.Sqrt(float64(9*h.C)))
		h = b.Conv(name, h, nn.Kernel{Out: m.Width << i, Size: 3})
		if m.Norm {
			h = nn.Pool2D{Size: 2}.Max(b.Tape, b.BatchNorm(fmt.Sprintf("bn%d", i+1), h))
		} else {
			h = nn.Pool2D{Size: 2}.Max(b.Tape, h).AddBias(b.Tape, b.Weight(name+".bias", bound.Fill, h.C))
		}
		h = h.ReLU(b.Tape)
		stages = append(stages, h)
	}
	return imageHead(b, stages, b.ReLU(b.Dense("hidden", h.Join(b.Tape), m.Hidden)), m.Outputs)
}
