// A vision transformer as a half.

package ib

import (
	"cmp"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
)

// ViT is a vision transformer (Dosovitskiy et al. 2021), which the paper's Table II has as
// an approximator after a ResNet. An image, [Channels, side, side], or a code laid out as
// one, is cut into T patches of Patch x Patch pixels. A linear layer makes a token of Width
// numbers of each patch, a learned class token is appended, and a learned position is added
// to every token. Each of Blocks pre-norm blocks computes, for the tokens H of a record,
//
//	H = H + attend(norm(H))
//	H = H + D relu(U norm(H) + u) + d
//
// Then z = W norm(h) + b of the class token h. The last block computes that token only.
//
// All sizes are this module's choice: the paper gives no more than the name, and there is
// no program. The zero value is meant for codes of 3 x 7 x 7, with every pixel a token: 49
// tokens of 64 numbers, 4 blocks of 4 heads, feed-forward layers of 128 units, 137,866
// weights for 10 classes. For images of 28 x 28 or 32 x 32 use larger patches, such as 4
// pixels.
//
// Differences from Dosovitskiy et al.: (1) ReLU instead of GELU, and no dropout; (2) the
// class token is the last and includes its position; (3) keys have no bias, see
// nn.MultiHead; (4) linear layers start as in PyTorch, positions and class token from a
// normal distribution with standard deviation 0.02.
type ViT struct {
	Channels int `json:"channels,omitempty" default:"3"` // of the input
	Patch    int `json:"patch,omitempty" default:"1"`    // side of a patch in pixels, must divide the image's
	Width    int `json:"width,omitempty" default:"64"`   // of a token
	Heads    int `json:"heads,omitempty" default:"4"`    // must divide the width
	Hidden   int `json:"hidden,omitempty"`               // units of a feed-forward layer, 0: twice the width
	Blocks   int `json:"blocks,omitempty" default:"4"`
}

var _ SubNetwork = ViT{}

// Name implements SubNetwork.
func (ViT) Name() string { return "vit" }

// About implements SubNetwork.
func (ViT) About() string {
	return "images: a vision transformer of 4 pre-norm blocks over tokens of width 64, 4 heads, ReLU"
}

// SetDefaults implements defaults.Setter.
func (m *ViT) SetDefaults() {
	m.Hidden = cmp.Or(m.Hidden, 2*m.Width)
}

// Check implements SubNetwork.
func (m ViT) Check(in, _ int) error {
	m = defaults.Fill(m)
	if err := checkImage(in, m.Channels); err != nil {
		return err
	}
	s := imageSide(in, m.Channels)
	switch {
	case m.Patch < 1 || s%m.Patch != 0:
		return fmt.Errorf("patches of %d x %d pixels do not fill an image of %d x %d", m.Patch, m.Patch, s, s)
	case m.Width < 1 || m.Hidden < 1 || m.Blocks < 1:
		return fmt.Errorf("%d blocks of width %d with %d hidden units", m.Blocks, m.Width, m.Hidden)
	case m.Heads < 1 || m.Width%m.Heads != 0:
		return fmt.Errorf("%d heads do not divide width %d", m.Heads, m.Width)
	}
	return nil
}

// Build implements SubNetwork.
func (m ViT) Build(b *nn.Builder, x *Node, out int) *Node {
	m = defaults.Fill(m)
	side := imageSide(x.Shape().Dimensions[0], m.Channels)
	h := b.DenseTokens("patches", nn.Patches(b.Tape, x, m.Channels, side, side, m.Patch), m.Width)
	places := b.Weight("places", nn.NormalWeights(0.02).Fill, h.Shape().Dimensions[1]/b.Records+1, m.Width)
	h = nn.PlaceTokens(b.Tape, h, places, b.Records)
	for l := range m.Blocks {
		h = m.block(b.Sub(fmt.Sprintf("block%d.", l+1)), h, l == m.Blocks-1)
	}
	return b.Dense("head", b.LayerNorm("norm", h, nn.LayerNormEps), out)
}

// block builds one block on the tokens h; the last block computes the class token only.
func (m ViT) block(b *nn.Builder, h *Node, last bool) *Node {
	in := b.LayerNorm("attention.norm", h, nn.LayerNormEps)
	asking := in
	if last {
		class := h.Shape().Dimensions[1]/b.Records - 1
		asking, h = nn.Token(b.Tape, in, class, b.Records), nn.Token(b.Tape, h, class, b.Records)
	}
	h = nn.Residual(b.Tape, h, b.MultiHead("attention", asking, in, nn.Heads{Count: m.Heads}))
	up := b.ReLU(b.DenseTokens("ffn.up", b.LayerNorm("ffn.norm", h, nn.LayerNormEps), m.Hidden))
	return nn.Residual(b.Tape, h, b.DenseTokens("ffn.down", up, m.Width))
}

// UsesBatchStats implements SubNetwork.
func (ViT) UsesBatchStats() bool { return false }

// MaxBatch implements SubNetwork: a record is many tokens here.
func (ViT) MaxBatch() int { return 64 }
