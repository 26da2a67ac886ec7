// The denoising network.

package diffusion

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

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
	Channels int `json:"channels,omitempty"` // of the image, 0: 1
	Side     int `json:"side,omitempty"`     // of the image in pixels, 0: 28
	Width    int `json:"width,omitempty"`    // channels of the first level, a multiple of 4, 0: 16
	Levels   int `json:"levels,omitempty"`   // resolutions, 0: 3
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

func (m UNet) withDefaults() UNet {
	return UNet{Channels: cmp.Or(m.Channels, 1), Side: cmp.Or(m.Side, 28), Width: cmp.Or(m.Width, 16), Levels: cmp.Or(m.Levels, 3)}
}

// Name implements model.Architecture.
func (UNet) Name() string { return "unet" }

// Pixels returns the number of values of an image.
func (m UNet) Pixels() int {
	m = m.withDefaults()
	return m.Channels * m.Side * m.Side
}

// Inputs implements model.Architecture: the pixels and c_noise.
func (m UNet) Inputs() int { return m.Pixels() + 1 }

// Returns implements model.Architecture: one output per pixel.
func (m UNet) Returns() []model.Output { return []model.Output{{Name: nn.Output, Width: m.Pixels()}} }

// Encoded returns the number of values of the encoder's output.
func (m UNet) Encoded() int {
	m = m.withDefaults()
	side := m.Side >> (m.Levels - 1)
	return m.width(m.Levels-1) * side * side
}

// MaxBatch implements model.MaxBatch.
func (UNet) MaxBatch() int { return chunkRows }

// RandomInputs implements model.Architecture.
func (UNet) RandomInputs() []nn.RandomInput { return nil }

// width returns the number of channels of a level.
func (m UNet) width(level int) int { return m.Width << level }

// Check implements model.Architecture.
func (m UNet) Check() error {
	m = m.withDefaults()
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

// Init implements model.Architecture.
func (m UNet) Init(rng *rand.Rand) nn.Params {
	m = m.withDefaults()
	e := m.embedding()
	p := nn.PyTorch.DenseInit(rng, "noise1", m.Width, e)
	p = append(p, nn.PyTorch.DenseInit(rng, "noise2", e, e)...)
	p = append(p, nn.ConvInit(rng, "in", m.Channels, m.Width, 3, true)...)
	from := m.Width
	for l := range m.Levels {
		p = append(p, blockInit(rng, fmt.Sprintf("encoder%d", l+1), from, m.width(l), e)...)
		from = m.width(l)
	}
	p = append(p, blockInit(rng, "middle", from, from, e)...)
	for l := m.Levels - 2; l >= 0; l-- {
		p = append(p, blockInit(rng, fmt.Sprintf("decoder%d", l+1), from+m.width(l), m.width(l), e)...)
		from = m.width(l)
	}
	p = append(p, nn.GroupNormInit("out.norm", from)...)
	last := nn.ConvInit(rng, "out", from, m.Channels, 3, true)
	for _, v := range last {
		clear(v.Data)
	}
	return append(p, last...)
}

// embedding returns the width of the noise level's embedding.
func (m UNet) embedding() int { return 4 * m.Width }

func blockInit(rng *rand.Rand, name string, in, out, embedding int) nn.Params {
	p := nn.GroupNormInit(name+".norm1", in)
	p = append(p, nn.ConvInit(rng, name+".conv1", in, out, 3, true)...)
	p = append(p, nn.PyTorch.DenseInit(rng, name+".noise", embedding, out)...)
	p = append(p, nn.GroupNormInit(name+".norm2", out)...)
	p = append(p, nn.ConvInit(rng, name+".conv2", out, out, 3, true)...)
	if in != out {
		p = append(p, nn.ConvInit(rng, name+".skip", in, out, 1, true)...)
	}
	return p
}

// Forward implements model.Architecture.
func (m UNet) Forward(t *nn.Tape, p []*Node, x *Node, _ []*Node) model.Trace {
	m = m.withDefaults()
	b := &builder{t: t, rest: p}
	b.noise = b.embed(nn.Features(t, x, m.Pixels(), m.Pixels()+1), m.Width/2)
	h := b.conv(nn.NewImage(t, nn.Features(t, x, 0, m.Pixels()), m.Channels, m.Side, m.Side), 1)
	var levels []nn.Image
	for l := range m.Levels {
		if l > 0 {
			h = nn.Pool2D{Size: 2}.Mean(t, h)
		}
		h = b.block(h, m.width(l))
		levels = append(levels, h)
	}
	tr := model.Trace{Embedding: h.Flat()}
	for l, level := range levels {
		tr.Layers = append(tr.Layers, model.Layer{Name: fmt.Sprintf("h%d", l+1), Value: level.Flat()})
	}
	h = b.block(h, h.C)
	for l := m.Levels - 2; l >= 0; l-- {
		h = b.block(nn.Concat(t, nn.Upsample2(t, h), levels[l]), m.width(l))
	}
	tr.Outputs = map[string]*Node{nn.Output: b.conv(b.norm(h).SiLU(t), 1).Join(t)}
	return tr
}

// builder hands out the parameters in order while the graph is built.
type builder struct {
	t     *nn.Tape
	rest  []*Node
	noise *Node // the noise level's embedding [e, n]
}

func (b *builder) next() *Node {
	p := b.rest[0]
	b.rest = b.rest[1:]
	return p
}

func (b *builder) conv(m nn.Image, pad int) nn.Image {
	w, bias := b.next(), b.next()
	return nn.Conv2D{Pad: pad}.Apply(b.t, m, w, bias)
}

func (b *builder) norm(m nn.Image) nn.Image {
	gamma, beta := b.next(), b.next()
	return nn.GroupNorm(b.t, m, m.C/perGroup, gamma, beta, normEps)
}

func (b *builder) dense(x *Node) *Node {
	w, bias := b.next(), b.next()
	return nn.Dense(b.t, x, w, bias)
}

// embed returns the embedding of c_noise [1, n]. No gradient flows back to the noise level,
// which is an input.
func (b *builder) embed(c *Node, frequencies int) *Node {
	f := make([]float32, frequencies)
	for i := range f {
		f[i] = float32(math.Pow(highest, float64(i)/float64(max(1, frequencies-1))))
	}
	angle := Dot(Reshape(ConvertDType(Const(c.Graph(), f), c.DType()), frequencies, 1), c).Product()
	h := Concatenate([]*Node{Cos(angle), Sin(angle)}, 0)
	h = nn.SiLU(b.t, b.dense(h))
	return nn.SiLU(b.t, b.dense(h))
}

func (b *builder) block(x nn.Image, out int) nn.Image {
	h := b.conv(b.norm(x).SiLU(b.t), 1)
	h = h.AddPerRecord(b.t, b.dense(b.noise))
	h = b.conv(b.norm(h).SiLU(b.t), 1)
	if x.C != out {
		x = b.conv(x, 0)
	}
	return h.Add(b.t, x)
}
