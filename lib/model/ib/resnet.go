// A residual network as a half.

package ib

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
)

// ResNet is a residual network of 18 layers, the body of vision.Residual followed by a
// linear layer. Its input is an image, [Channels, side, side]: the records of a compressor
// or, for an approximator, codes laid out as images, with Channels side^2 latent variables.
// For CIFAR-10 the program has
//
//	Bottleneck{Features: 3072, Latent: 147, Compressor: ResNet{}, Approximator: ResNet{}}
//
// whose codes are images of 3 x 7 x 7.
//
// The zero value is the program's network for colour images, which is not ResNet-18: its
// stem and the second convolution of every block are 1x1, and there is no ReLU after the
// stem. Standard is ResNet-18 for small images, vision.ResNet18. The program's network has
// 5,747,558 weights as this compressor and 5,601,866 as this approximator; the standard one
// 11,319,654 and 11,173,962.
//
// Differences: (1) the paper calls the program's network a ResNet-18; (2) the program
// computes the codes that it unlearns from with batch normalisation in training mode, here
// inference uses the running statistics.
type ResNet struct {
	Channels int  `json:"channels,omitempty" default:"3"` // of the input
	Width    int  `json:"width,omitempty" default:"64"`   // of the first stage
	Standard bool `json:"standard,omitempty"`
}

var _ SubNetwork = ResNet{}

// Name implements SubNetwork.
func (ResNet) Name() string { return "resnet" }

// About implements SubNetwork.
func (ResNet) About() string {
	return "images: a residual network of 18 layers, with the program's 1x1 convolutions or the standard one"
}

func (m ResNet) body(in int) vision.Residual {
	m = defaults.Fill(m)
	return vision.Residual{Channels: m.Channels, Side: imageSide(in, m.Channels), Width: m.Width, Slim: !m.Standard}
}

// Check implements SubNetwork.
func (m ResNet) Check(in, _ int) error {
	if defaults.Fill(m).Width < 1 {
		return fmt.Errorf("width %d", m.Width)
	}
	return checkImage(in, defaults.Fill(m).Channels)
}

// Build implements SubNetwork.
func (m ResNet) Build(b *nn.Builder, x *Node, out int) *Node {
	_, h := m.body(x.Shape().Dimensions[0]).Build(b, x)
	return b.Dense("head", h, out)
}

// NameStateDict names the modules as torchvision's resnet18 does.
func (m ResNet) NameStateDict(d *nn.StateDict, name string, in int) {
	m.body(in).NameStateDict(d, name+".")
	d.Module(name+".head", name+".fc")
}

// UsesBatchStats implements SubNetwork: batch normalisation mixes records.
func (ResNet) UsesBatchStats() bool { return true }

// MaxBatch implements SubNetwork.
func (ResNet) MaxBatch() int { return 32 }
