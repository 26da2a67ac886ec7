// The body of residual networks.

package vision

import (
	"fmt"
	"math/rand/v2"

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

// block is one residual block.
type block struct {
	name            string
	in, out, stride int
}

// shortcut reports whether the block's shortcut is a convolution.
func (b block) shortcut() bool { return b.stride != 1 || b.in != b.out }

func (m Residual) blocks(prefix string) []block {
	var out []block
	in := m.Width
	for s := range 4 {
		for k := range 2 {
			b := block{name: fmt.Sprintf("%slayer%d.%d.", prefix, s+1, k), in: in, out: m.Width << s, stride: 1}
			if s > 0 && k == 0 {
				b.stride = 2
			}
			out = append(out, b)
			in = b.out
		}
	}
	return out
}

// Features returns the number of output values per record.
func (m Residual) Features() int { return 8 * m.Width }

// size returns the kernel size of the stem and of a block's second convolution.
func (m Residual) size() int {
	if m.Slim {
		return 1
	}
	return 3
}

// Init draws the weights, as torch.nn.Conv2d does; their names begin with prefix.
func (m Residual) Init(rng *rand.Rand, prefix string) nn.Params {
	p := nn.ConvInit(rng, prefix+"conv1", m.Channels, m.Width, m.size(), false)
	p = append(p, nn.BatchNormInit(prefix+"bn1", m.Width)...)
	for _, b := range m.blocks(prefix) {
		p = append(p, nn.ConvInit(rng, b.name+"conv1", b.in, b.out, 3, false)...)
		p = append(p, nn.BatchNormInit(b.name+"bn1", b.out)...)
		p = append(p, nn.ConvInit(rng, b.name+"conv2", b.out, b.out, m.size(), false)...)
		p = append(p, nn.BatchNormInit(b.name+"bn2", b.out)...)
		if b.shortcut() {
			p = append(p, nn.ConvInit(rng, b.name+"shortcut.conv", b.in, b.out, 1, false)...)
			p = append(p, nn.BatchNormInit(b.name+"shortcut.bn", b.out)...)
		}
	}
	return p
}

// Forward builds the body on x [Channels Side Side, n]: the outputs of the stages, their
// mean over the image [Features, n], and the remaining weights, for the head.
func (m Residual) Forward(t *nn.Tape, p []*Node, x *Node) (stages []nn.Image, mean *Node, rest []*Node) {
	r := &paramReader{t, p}
	h := nn.NewImage(t, x, m.Channels, m.Side, m.Side).ChannelsLast(t)
	h = r.norm(r.conv(h, nn.Conv2D{Pad: m.size() / 2}, false))
	if !m.Slim {
		h = h.ReLU(t)
	}
	for i, b := range m.blocks("") {
		h = m.block(r, h, b)
		if i%2 == 1 {
			stages = append(stages, h)
		}
	}
	return stages, nn.GlobalMean(t, h).Join(t), r.rest
}

func (m Residual) block(r *paramReader, h nn.Image, b block) nn.Image {
	inner := r.norm(r.conv(h, nn.Conv2D{Stride: b.stride, Pad: 1}, false)).ReLU(r.t)
	inner = r.norm(r.conv(inner, nn.Conv2D{Pad: m.size() / 2}, false))
	if b.shortcut() {
		h = r.norm(r.conv(h, nn.Conv2D{Stride: b.stride}, false))
	}
	return inner.Add(r.t, h).ReLU(r.t)
}

// NameStateDict names the modules as torchvision's resnet18 does: a shortcut is the block's
// downsample, a convolution and a normalisation.
func (m Residual) NameStateDict(d *nn.StateDict, prefix string) {
	for _, b := range m.blocks(prefix) {
		d.Module(b.name+"shortcut.conv", b.name+"downsample.0")
		d.Module(b.name+"shortcut.bn", b.name+"downsample.1")
	}
}
