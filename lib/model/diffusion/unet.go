// The denoising network.

package diffusion

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// UNet is a compact U-Net (Ronneberger et al. 2015) modelled on EDM's DDPM++ network, for
// small grey images. A record is a row of pixels followed by one more number, c_noise: see
// [Precondition].
//
//	h_0 = block(conv(x)),  h_l = block(pool(h_{l-1}))      encoder, Width 2^l channels
//	u   = block(h_{L-1})                                   middle
//	u   = block([upsample(u), h_l]) for l = L-2, ..., 0    decoder
//	F   = conv(silu(norm(u)))
//
// A block is conv(silu(norm(.))), plus a dense layer of the noise level's embedding,
// conv(silu(norm(.))) again, plus its input, through a 1x1 convolution where the number of
// channels changes. Norms are group norms with four channels per group. The noise level
// enters as cosines and sines of c_noise at geometrically spaced frequencies from 1 to 16,
// followed by two dense layers.
//
// The output is F, one value per pixel. The embedding is the encoder's output h_{L-1},
// flattened: 64 x 7 x 7 = 3136 numbers for 28 x 28 pixels. Layers h1, h2, ... are the
// encoder's levels.
//
// Differences from EDM's network for CIFAR-10 (Karras et al. 2022):
//  1. 16 instead of 128 channels, and 1 block per level instead of 4.
//  2. Mean pooling and nearest upsampling, without its resampling filters.
//  3. No attention, no dropout, no augmentation label.
//  4. The embedding is added to channels; EDM's also scales them.
//  5. No factor sqrt(1/2) on a block's sum. Only the last convolution starts at 0.
type UNet struct {
	Channels int `json:"channels,omitempty" default:"1"` // of the image
	Side     int `json:"side,omitempty" default:"28"`    // of the image in pixels
	Width    int `json:"width,omitempty" default:"16"`   // channels of the first level, a multiple of 4
	Levels   int `json:"levels,omitempty" default:"3"`   // resolutions
}

var (
	_ model.Architecture = UNet{}
	_ model.MaxBatch     = UNet{}
)

const (
	chunkRows = 16
	perGroup  = 4
	normEps   = 1e-5
	// highest is the highest frequency of the noise level's embedding.
	highest = 16
)

// Name implements model.Architecture.
func (UNet) Name() string { return "unet" }

// Pixels returns the number of values of an image.
func (m UNet) Pixels() int {
	m = defaults.Fill(m)
	return m.Channels * m.Side * m.Side
}

// Inputs implements model.Architecture: the pixels and c_noise.
func (m UNet) Inputs() int { return m.Pixels() + 1 }

// Returns implements model.Architecture: one output per pixel.
func (m UNet) Returns() []model.Output { return []model.Output{{Name: nn.Output, Width: m.Pixels()}} }

// Encoded returns the number of values of the encoder's output.
func (m UNet) Encoded() int {
	m = defaults.Fill(m)
	side := m.Side >> (m.Levels - 1)
	return m.width(m.Levels-1) * side * side
}

// MaxBatch implements model.MaxBatch.
func (UNet) MaxBatch() int { return chunkRows }

// width returns the number of channels of a level.
func (m UNet) width(level int) int { return m.Width << level }

// Check implements model.Architecture.
func (m UNet) Check() error {
	m = defaults.Fill(m)
	switch {
	case m.Channels < 1:
		return fmt.Errorf("%s: images of %d channels", m.Name(), m.Channels)
	case m.Levels < 1 || m.Levels > 8:
		return fmt.Errorf("%s: %d levels, expected 1 to 8", m.Name(), m.Levels)
	case m.Side < 1 || m.Side%(1<<(m.Levels-1)) != 0:
		return fmt.Errorf("%s: a side of %d pixels cannot be halved %d times", m.Name(), m.Side, m.Levels-1)
	case m.Width < perGroup || m.Width%perGroup != 0:
		return fmt.Errorf("%s: width %d is not a multiple of %d", m.Name(), m.Width, perGroup)
	}
	return nil
}

// Build implements model.Architecture.
func (m UNet) Build(b *nn.Builder, x *Node) model.Trace {
	m = defaults.Fill(m)
	noise := m.embed(b, nn.Features(b.Tape, x, m.Pixels(), m.Pixels()+1))
	h := nn.NewImage(b.Tape, nn.Features(b.Tape, x, 0, m.Pixels()), m.Channels, m.Side, m.Side)
	h = b.Conv("in", h, nn.Kernel{Out: m.Width, Size: 3, Bias: true})
	var levels []nn.Image
	var tr model.Trace
	for l := range m.Levels {
		if l > 0 {
			h = nn.Pool2D{Size: 2}.Mean(b.Tape, h)
		}
		h = block(b.Sub(fmt.Sprintf("encoder%d.", l+1)), h, noise, m.width(l))
		levels = append(levels, h)
		tr.Embedding = h.Flat()
		tr.Layers = append(tr.Layers, model.Layer{Name: fmt.Sprintf("h%d", l+1), Value: tr.Embedding})
	}
	h = block(b.Sub("middle."), h, noise, h.C)
	for l := m.Levels - 2; l >= 0; l-- {
		h = nn.Concat(b.Tape, nn.Upsample2(b.Tape, h), levels[l])
		h = block(b.Sub(fmt.Sprintf("decoder%d.", l+1)), h, noise, m.width(l))
	}
	h = b.GroupNorm("out.norm", h, perGroup, normEps).SiLU(b.Tape)
	last := nn.ConvInit(b.Rand(), "out", h.C, m.Channels, 3, true)
	for _, v := range last {
		clear(v.Data)
	}
	w := b.Weights(last...)
	tr.Outputs = map[string]*Node{nn.Output: nn.Conv2D{Pad: 1}.Apply(b.Tape, h, w[0], w[1]).Join(b.Tape)}
	return tr
}

// embed returns the embedding of c_noise [1, n], [4 Width, n]. No gradient flows back to the noise
// level, which is an input.
func (m UNet) embed(b *nn.Builder, c *Node) *Node {
	f := make([]float32, m.Width/2)
	for i := range f {
		f[i] = float32(math.Pow(highest, float64(i)/float64(max(1, len(f)-1))))
	}
	angle := Dot(Reshape(ConvertDType(Const(c.Graph(), f), c.DType()), len(f), 1), c).Product()
	h := Concatenate([]*Node{Cos(angle), Sin(angle)}, 0)
	h = nn.SiLU(b.Tape, b.Dense("noise1", h, 4*m.Width))
	return nn.SiLU(b.Tape, b.Dense("noise2", h, 4*m.Width))
}

// block builds one block with out channels; noise is the noise level's embedding.
func block(b *nn.Builder, x nn.Image, noise *Node, out int) nn.Image {
	k := nn.Kernel{Out: out, Size: 3, Bias: true}
	h := b.Conv("conv1", b.GroupNorm("norm1", x, perGroup, normEps).SiLU(b.Tape), k)
	h = h.AddPerRecord(b.Tape, b.Dense("noise", noise, out))
	h = b.Conv("conv2", b.GroupNorm("norm2", h, perGroup, normEps).SiLU(b.Tape), k)
	if x.C != out {
		x = b.Conv("skip", x, nn.Kernel{Out: out, Size: 1, Bias: true})
	}
	return h.Add(b.Tape, x)
}
