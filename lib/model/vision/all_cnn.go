// An all-convolutional network.

package vision

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// AllCNN is an all-convolutional network (after Springenberg et al. 2015), in the form
// whose activations have the sizes of the SDE paper's Table 6: eight convolutions of 96,
// 96, 96 (stride 2), 192, 192, 192 (stride 2), 192 and 192 (1x1) channels, each with batch
// normalisation and ReLU, then the mean over the image and a linear head. The others are
// 3x3 with a border of one pixel.
//
// h1 to h4 are the activations after the convolutions 2, 4, 6 and 8: for images of 32 x 32
// pixels 96x32x32, 192x16x16, 192x8x8 and 192x8x8; hp is 192.
//
// Differences from Springenberg et al.: (1) the last 1x1 convolution to ten channels is a
// linear layer after the mean; (2) batch normalisation, which the SDE paper does not
// mention; Plain leaves it out and gives the convolutions biases; (3) no dropout.
type AllCNN struct {
	Channels int  `json:"channels,omitempty" default:"3"` // of the image
	Side     int  `json:"side,omitempty" default:"32"`    // of the image in pixels
	Outputs  int  `json:"outputs,omitempty" default:"10"`
	Width    int  `json:"width,omitempty" default:"96"` // of the first three convolutions, half of the others'
	Plain    bool `json:"plain,omitempty"`
}

var (
	_ model.Classifier     = AllCNN{}
	_ model.MaxBatch       = AllCNN{}
	_ model.UsesBatchStats = AllCNN{}
	_ model.Shaped         = AllCNN{}
)

// allConv is one convolution of AllCNN.
type allConv struct{ widths, size, stride int } // widths: in units of Width

var allConvs = []allConv{{1, 3, 1}, {1, 3, 1}, {1, 3, 2}, {2, 3, 1}, {2, 3, 1}, {2, 3, 2}, {2, 3, 1}, {2, 1, 1}}

// Name implements model.Architecture.
func (AllCNN) Name() string { return "all-cnn" }

// Inputs implements model.Architecture.
func (m AllCNN) Inputs() int {
	m = defaults.Fill(m)
	return m.Channels * m.Side * m.Side
}

// Axes implements model.Shaped.
func (m AllCNN) Axes() []int {
	m = defaults.Fill(m)
	return []int{m.Channels, m.Side, m.Side}
}

// Classes implements model.Classifier.
func (m AllCNN) Classes() int { return defaults.Fill(m).Outputs }

// Returns implements model.Architecture.
func (m AllCNN) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// MaxBatch implements model.MaxBatch.
func (AllCNN) MaxBatch() int { return chunkRows }

// UsesBatchStats implements model.UsesBatchStats.
func (m AllCNN) UsesBatchStats() bool { return !m.Plain }

// Check implements model.Architecture.
func (m AllCNN) Check() error {
	m = defaults.Fill(m)
	if err := checkImage(m.Name(), m.Channels, m.Side, 4, m.Outputs, m.Width); err != nil {
		return err
	}
	in, width, weights := float64(m.Channels), float64(m.Width), 0.0
	for _, c := range allConvs {
		out := float64(c.widths) * width
		weights += in * out * float64(c.size*c.size)
		in = out
	}
	return model.CheckSize(m.Name(), weights+in*float64(m.Outputs), max(imageSize(m.Channels, m.Side), imageSize(m.Width, m.Side), float64(m.Outputs)))
}

// Build implements model.Architecture.
func (m AllCNN) Build(b *nn.Builder, x *Node) model.Trace {
	m = defaults.Fill(m)
	h := nn.NewImage(b.Tape, x, m.Channels, m.Side, m.Side).ChannelsLast(b.Tape)
	var stages []nn.Image
	for i, c := range allConvs {
		h = b.Conv(fmt.Sprintf("conv%d", i+1), h, nn.Kernel{Out: c.widths * m.Width, Size: c.size, Stride: c.stride, Bias: m.Plain})
		if !m.Plain {
			h = b.BatchNorm(fmt.Sprintf("bn%d", i+1), h)
		}
		h = h.ReLU(b.Tape)
		if i%2 == 1 {
			stages = append(stages, h)
		}
	}
	return imageHead(b, stages, nn.GlobalMean(b.Tape, h).Join(b.Tape), m.Outputs)
}
