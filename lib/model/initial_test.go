// Initial weights and random inputs keep their bits: what was trained from a seed is trained from
// it again.

package model_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
)

// described returns the first digits of a hash of what a seed makes of a network: its initial
// weights, which of them are state, its random inputs and its state_dict's names.
func described(a model.Architecture) string {
	p := model.InitialWeights(a, engine.Root(7).Stream(engine.StreamInit))
	h := sha256.New()
	fmt.Fprintln(h, p.Hash())
	for _, v := range p {
		fmt.Fprintln(h, v.Name, v.Shape, v.State, v.Latest)
	}
	for _, d := range model.RandomInputs(a) {
		fmt.Fprintln(h, d.Name, d.Distribution, d.Units, d.Rate)
	}
	for _, s := range model.StateDict(a, p) {
		fmt.Fprintln(h, s.Name, s.Shape, s.Params, s.Counter)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}

// pinned is a network and what described must return for it.
type pinned struct {
	arch model.Architecture
	want string
}

// The hashes were taken while the weights were still drawn, and the random inputs listed, by
// methods written by hand beside the graph.
func TestInitialWeightsAndRandomInputsKeepTheirBits(t *testing.T) {
	bottleneck := ib.Bottleneck{Features: 27, Outputs: 3, Latent: 27}
	resnets := ib.Bottleneck{Features: 27, Outputs: 3, Latent: 27, Compressor: ib.ResNet{Width: 4, Standard: true}, Approximator: ib.ResNet{Width: 4}}
	transformers := ib.Bottleneck{Features: 27, Outputs: 3, Latent: 27, Compressor: ib.ViT{Blocks: 1, Width: 8}, Approximator: ib.ViT{Blocks: 2, Width: 8}}
	tiny := text.BERT{Tokens: 8, Predicted: 2, Layers: 2, Width: 8, Heads: 2, Vocabulary: 20, Positions: 9, Pad: 3}
	for _, c := range []pinned{
		{tabular.MLP{Features: 5, Outputs: 3}, "b661476b8ef5"},
		{tabular.MLP{Features: 5, Outputs: 3, Hidden: 7, Dropout: new(0.0), Weights: nn.HeNormal}, "bf89f77945fe"},
		{tabular.ResMLP{Features: 5, Outputs: 3}, "bde0c5c42734"},
		{tabular.ResMLP{Features: 5, Outputs: 3, Width: 7, Blocks: 3, Dropout: new(0.4), Weights: nn.GlorotUniform}, "5c5244952f66"},
		{tabular.FTTransformer{Features: 5, Outputs: 3}, "432003dda211"},
		{tabular.FTTransformer{Features: 5, Outputs: 3, Width: 6, Heads: 2, Blocks: 1, Attention: new(0.0), Weights: nn.HeNormal}, "8c4631bf3e49"},
		{tabular.OneHidden{Features: 5, Outputs: 3}, "7f7d31df6ae9"},
		{tabular.OneHidden{Features: 5, Outputs: 3, Weights: nn.GlorotUniform}, "edfc1a46b880"},
		{tabular.Blocks{Features: 5, Outputs: 3}, "29bccdcf40a2"},
		{tabular.Blocks{Features: 5, Outputs: 3, Linear: true}, "048ed4f48255"},
		{vision.SmallCNN{}, "efe2a581f5d9"},
		{vision.SmallCNN{Width: 4, Side: 9, Norm: true}, "1a17a54e2bd3"},
		{vision.AllCNN{Width: 4}, "098e7d5e9947"},
		{vision.AllCNN{Width: 4, Plain: true}, "c574ab50a7d0"},
		{vision.ResNet18{Width: 4}, "5518bf10baf2"},
		{text.Small(50, 12), "347d45d78e09"},
		{tiny, "65762d60ed09"},
		{text.Classifier{Tokens: 8, Outputs: 3, Layers: 2, Width: 8, Heads: 2, Vocabulary: 20, Positions: 9}, "f102504ff4d5"},
		{text.Decoder{Tokens: 8, Layers: 2, Width: 8, Heads: 2, Vocabulary: 20}, "402f15e29245"},
		{vae.Gaussian{Features: 5}, "5f5235a045cf"},
		{vae.Cells{Genes: 20}, "577e25480c56"},
		{vae.Cells{Genes: 20, Hidden: []int{9, 5}, Clusters: 3, Dispersion: vae.PerGene, ZeroInflated: true, Dropout: new(0.0)}, "091249f2b8d7"},
		{vae.Decoder{Of: vae.Cells{Genes: 20, Hidden: []int{9, 5}, Clusters: 3}}, "571d41ce9fe4"},
		{bottleneck, "78f36616b3dc"},
		{resnets, "ef6ff71ea8e3"},
		{transformers, "50f7f269869f"},
		{ib.Approximator{Of: bottleneck}, "485fdd14683b"},
		{ib.Approximator{Of: resnets}, "96eab9853485"},
		{diffusion.UNet{}, "387c9d83bd25"},
		{diffusion.UNet{Channels: 3, Side: 8, Width: 8, Levels: 2}, "67752521c1ec"},
		{model.WithTeacher{Student: tabular.MLP{Features: 5, Outputs: 3}}, "546454391fdd"},
		{learned.Network{Features: 5, Hidden: []int{4, 3}, Dropout: 0.1}, "01472478e97b"},
		{learned.Network{Features: 5, Hidden: []int{4, 3}, Spectral: true}, "cc8a1c2be4af"},
		{representation.Decoder{Features: 5, Hidden: 4, Outputs: 3}, "69b2208db51b"},
	} {
		if got := described(c.arch); got != c.want {
			t.Errorf("%s %+v: %s, want %s", c.arch.Name(), c.arch, got, c.want)
		}
	}
}
