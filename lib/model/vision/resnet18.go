package vision

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// ResNet18 is the residual network of 18 layers (He et al. 2016) in its variant
// for small images: a 3x3 stem with stride 1 and no max-pooling, then four
// stages of two blocks with 64, 128, 256 and 512 channels, of which the last
// three halve the image, the mean over the image and a linear head. A block is
//
//	h' = relu(bn(conv(relu(bn(conv(h))))) + shortcut(h))
//
// with 3x3 convolutions without bias. The shortcut is h itself, or a 1x1
// convolution with batch normalisation where the block changes the shape.
//
// h1 to h4 are the outputs of the stages: on images of 32 x 32 pixels 65,536,
// 32,768, 16,384 and 8,192 values, and hp 512, as in the SDE paper's Table 6.
// The default has 11,173,962 weights.
//
// Differences from the usual programs: (1) all initial weights are those of
// torch.nn.Conv2d and torch.nn.Linear, where torchvision draws the kernels from
// He's normal distribution; (2) for images of one channel the stem takes one.
type ResNet18 struct {
	Channels int `json:"channels,omitempty"` // of the image, 0: 3
	Side     int `json:"side,omitempty"`     // of the image in pixels, 0: 32
	Outputs  int `json:"outputs,omitempty"`  // 0: 10
	Width    int `json:"width,omitempty"`    // of the first stage, 0: 64
}

var (
	_ model.Classifier = ResNet18{}
	_ model.Chunked    = ResNet18{}
	_ model.Coupled    = ResNet18{}
)

func (m ResNet18) withDefaults() ResNet18 {
	m.Channels, m.Side, m.Outputs = cmp.Or(m.Channels, 3), cmp.Or(m.Side, 32), cmp.Or(m.Outputs, 10)
	m.Width = cmp.Or(m.Width, 64)
	return m
}

// block is one residual block.
type block struct {
	name            string
	in, out, stride int
}

// shortcut tells whether the block has a convolution beside it.
func (b block) shortcut() bool { return b.stride != 1 || b.in != b.out }

func (m ResNet18) blocks() []block {
	var out []block
	in := m.Width
	for s := range 4 {
		for k := range 2 {
			b := block{name: fmt.Sprintf("layer%d.%d.", s+1, k), in: in, out: m.Width << s, stride: 1}
			if s > 0 && k == 0 {
				b.stride = 2
			}
			out = append(out, b)
			in = b.out
		}
	}
	return out
}

// Name implements model.Architecture.
func (ResNet18) Name() string { return "resnet-18" }

// Inputs implements model.Architecture.
func (m ResNet18) Inputs() int {
	m = m.withDefaults()
	return m.Channels * m.Side * m.Side
}

// Classes implements model.Classifier.
func (m ResNet18) Classes() int { return m.withDefaults().Outputs }

// Returns implements model.Architecture.
func (m ResNet18) Returns() []model.Output { return model.Scores(m.Classes()) }

// ChunkRows implements model.Chunked.
func (ResNet18) ChunkRows() int { return chunkRows }

// Coupled implements model.Coupled.
func (ResNet18) Coupled() bool { return true }

// Check implements model.Architecture.
func (m ResNet18) Check() error {
	m = m.withDefaults()
	return check(m.Name(), m.Channels, m.Side, 8, m.Outputs, m.Width)
}

// Init implements model.Architecture.
func (m ResNet18) Init(rng *rand.Rand) nn.Params {
	m = m.withDefaults()
	p := nn.ConvInit(rng, "conv1", m.Channels, m.Width, 3, false)
	p = append(p, nn.BatchNormInit("bn1", m.Width)...)
	for _, b := range m.blocks() {
		p = append(p, nn.ConvInit(rng, b.name+"conv1", b.in, b.out, 3, false)...)
		p = append(p, nn.BatchNormInit(b.name+"bn1", b.out)...)
		p = append(p, nn.ConvInit(rng, b.name+"conv2", b.out, b.out, 3, false)...)
		p = append(p, nn.BatchNormInit(b.name+"bn2", b.out)...)
		if b.shortcut() {
			p = append(p, nn.ConvInit(rng, b.name+"shortcut.conv", b.in, b.out, 1, false)...)
			p = append(p, nn.BatchNormInit(b.name+"shortcut.bn", b.out)...)
		}
	}
	return append(p, nn.PyTorch.DenseInit(rng, "head", 8*m.Width, m.Outputs)...)
}

// Draws implements model.Architecture.
func (ResNet18) Draws() []nn.Draw { return nil }

// Forward implements model.Architecture.
func (m ResNet18) Forward(t *nn.Tape, p []*Node, x *Node, _ []*Node) model.Trace {
	m = m.withDefaults()
	r := &reader{t, p}
	h := nn.NewImage(t, x, m.Channels, m.Side, m.Side, parts(t, x.Shape().Dimensions[1], true)).ChannelsLast(t)
	h = r.norm(r.conv(h, nn.Conv2D{Pad: 1}, false)).ReLU(t)
	var stages []nn.Image
	for i, b := range m.blocks() {
		h = r.block(h, b)
		if i%2 == 1 {
			stages = append(stages, h)
		}
	}
	hp := nn.GlobalMean(t, h).Join(t)
	return trace(stages, hp, r.dense(hp))
}

func (r *reader) block(h nn.Image, b block) nn.Image {
	inner := r.norm(r.conv(h, nn.Conv2D{Stride: b.stride, Pad: 1}, false)).ReLU(r.t)
	inner = r.norm(r.conv(inner, nn.Conv2D{Pad: 1}, false))
	if b.shortcut() {
		h = r.norm(r.conv(h, nn.Conv2D{Stride: b.stride}, false))
	}
	return inner.Add(r.t, h).ReLU(r.t)
}
