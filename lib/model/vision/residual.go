// The body of residual networks.

package vision

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Residual is the body of a residual network of 18 layers, without its head: a stem, four
// stages of two blocks and the mean over the image, from [Channels, Side, Side] to 8 Width
// numbers. See [ResNet18] for the stages.
//
// Slim is the variant of BlindU's program, in which the stem and the second convolution of
// a block are 1x1, and the stem has no ReLU:
//
//	h' = relu(bn(conv1x1(relu(bn(conv3x3(h))))) + shortcut(h))
type Residual struct {
	Channels, Side int // of the image, in pixels
	Width          int // channels of the first stage
	Slim           bool
}

// size returns the kernel size of the stem and of a block's second convolution.
func (m Residual) size() int {
	if m.Slim {
		return 1
	}
	return 3
}

// Build builds the body on x [Channels Side Side, n]: the outputs of the stages, and their mean
// over the image, [8 Width, n].
func (m Residual) Build(b *nn.Builder, x *Node) (stages []nn.Image, mean *Node) {
	h := nn.NewImage(b.Tape, x, m.Channels, m.Side, m.Side).ChannelsLast(b.Tape)
	h = b.BatchNorm("bn1", b.Conv("conv1", h, nn.Kernel{Out: m.Width, Size: m.size()}))
	if !m.Slim {
		h = h.ReLU(b.Tape)
	}
	for s := range 4 {
		stride := min(s+1, 2) // only the first stage keeps the size
		h = m.block(b.Sub(fmt.Sprintf("layer%d.0.", s+1)), h, m.Width<<s, stride)
		h = m.block(b.Sub(fmt.Sprintf("layer%d.1.", s+1)), h, m.Width<<s, 1)
		stages = append(stages, h)
	}
	return stages, nn.GlobalMean(b.Tape, h).Join(b.Tape)
}

// block builds one block with out channels. Its shortcut is a convolution where the shape changes.
func (m Residual) block(b *nn.Builder, h nn.Image, out, stride int) nn.Image {
	inner := b.BatchNorm("bn1", b.Conv("conv1", h, nn.Kernel{Out: out, Size: 3, Stride: stride})).ReLU(b.Tape)
	inner = b.BatchNorm("bn2", b.Conv("conv2", inner, nn.Kernel{Out: out, Size: m.size()}))
	if stride != 1 || h.C != out {
		h = b.BatchNorm("shortcut.bn", b.Conv("shortcut.conv", h, nn.Kernel{Out: out, Size: 1, Stride: stride}))
	}
	return inner.Add(b.Tape, h).ReLU(b.Tape)
}

// NameStateDict names the modules as torchvision's resnet18 does: a shortcut is the block's
// downsample, a convolution and a normalisation.
func (m Residual) NameStateDict(d *nn.StateDict, prefix string) {
	for stage := 2; stage <= 4; stage++ {
		block := fmt.Sprintf("%slayer%d.0.", prefix, stage)
		d.Module(block+"shortcut.conv", block+"downsample.0")
		d.Module(block+"shortcut.bn", block+"downsample.1")
	}
}
