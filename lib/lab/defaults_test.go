package lab

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/information"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// The suite of unlearning methods checks theirs.
func TestTagsOfDefaultsFitTheirFields(t *testing.T) {
	for _, v := range []any{
		Compression{}, MaskedLanguage{}, Reconstruction{}, Cells{},
		tabular.MLP{}, tabular.ResMLP{}, tabular.FTTransformer{}, tabular.OneHidden{}, tabular.Blocks{},
		vision.AllCNN{}, vision.ResNet18{}, vision.SmallCNN{}, vae.Cells{}, vae.Gaussian{}, diffusion.UNet{}, diffusion.EDM{}, diffusion.Sampler{},
		ib.Bottleneck{}, ib.MLP{}, ib.ResNet{}, ib.ViT{}, text.BERT{}, text.Decoder{}, text.Classifier{},
		cells.Options{}, cells.Simulation{}, cells.Forest{}, privacy.Masking{}, privacy.Laplace{}, privacy.Gaussian{},
		information.Learning{}, information.Normalised{}, information.CodedMINE{}, learned.MLP{}, shadow.RMIA{}, fisher.Coded{},
	} {
		if err := defaults.Check(v); err != nil {
			t.Error(err)
		}
	}
}
