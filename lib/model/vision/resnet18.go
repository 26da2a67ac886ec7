// ResNet-18 for small images.

package vision

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// ResNet18 is the residual network of 18 layers (He et al. 2016) in its variant for small
// images: a 3x3 stem with stride 1 and no max-pooling, then four stages of two blocks with
// 64, 128, 256 and 512 channels, of which the last three halve the image, the mean over the
// image and a linear head. A block is
//
//	h' = relu(bn(conv(relu(bn(conv(h))))) + shortcut(h))
//
// with 3x3 convolutions without bias. The shortcut is h itself, or a 1x1 convolution with
// batch normalisation where the block changes the shape.
//
// h1 to h4 are the outputs of the stages: for images of 32 x 32 pixels 65,536, 32,768,
// 16,384 and 8,192 values, and hp 512, as in the SDE paper's Table 6. The default has
// 11,173,962 weights.
//
// Differences from common implementations: (1) all initial weights are those of
// torch.nn.Conv2d and torch.nn.Linear, where torchvision draws the kernels from He's normal
// distribution; (2) for images of one channel the stem takes one.
type ResNet18 struct {
	Channels int `json:"channels,omitempty" default:"3"` // of the image
	Side     int `json:"side,omitempty" default:"32"`    // of the image in pixels
	Outputs  int `json:"outputs,omitempty" default:"10"`
	Width    int `json:"width,omitempty" default:"64"` // of the first stage
}

var (
	_ model.Classifier     = ResNet18{}
	_ model.MaxBatch       = ResNet18{}
	_ model.UsesBatchStats = ResNet18{}
	_ model.Shaped         = ResNet18{}
	_ model.StateDictNamer = ResNet18{}
)

func (m ResNet18) body() Residual {
	return Residual{Channels: m.Channels, Side: m.Side, Width: m.Width}
}

// Name implements model.Architecture.
func (ResNet18) Name() string { return "resnet-18" }

// Inputs implements model.Architecture.
func (m ResNet18) Inputs() int {
	m = defaults.Fill(m)
	return m.Channels * m.Side * m.Side
}

// Axes implements model.Shaped.
func (m ResNet18) Axes() []int {
	m = defaults.Fill(m)
	return []int{m.Channels, m.Side, m.Side}
}

// Classes implements model.Classifier.
func (m ResNet18) Classes() int { return defaults.Fill(m).Outputs }

// Returns implements model.Architecture.
func (m ResNet18) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// MaxBatch implements model.MaxBatch.
func (ResNet18) MaxBatch() int { return chunkRows }

// UsesBatchStats implements model.UsesBatchStats.
func (ResNet18) UsesBatchStats() bool { return true }

// Check implements model.Architecture.
func (m ResNet18) Check() error {
	m = defaults.Fill(m)
	if err := checkImage(m.Name(), m.Channels, m.Side, 8, m.Outputs, m.Width); err != nil {
		return err
	}
	const ofStages = 2724 // weights of the kernels, in units of the width squared
	w := float64(m.Width)
	return model.CheckSize(m.Name(), 9*float64(m.Channels)*w+ofStages*w*w+8*w*float64(m.Outputs),
		max(imageSize(m.Channels, m.Side), imageSize(m.Width, m.Side), float64(m.Outputs)))
}

// NameStateDict implements model.StateDictNamer: torchvision's resnet18.
func (m ResNet18) NameStateDict(d *nn.StateDict) {
	defaults.Fill(m).body().NameStateDict(d, "")
	d.Module("head", "fc")
}

// Build implements model.Architecture.
func (m ResNet18) Build(b *nn.Builder, x *Node) model.Trace {
	m = defaults.Fill(m)
	stages, hp := m.body().Build(b, x)
	return imageHead(b, stages, hp, m.Outputs)
}
