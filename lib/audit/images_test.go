package audit

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// pictures is a small case of images.
func pictures() lab.Setting {
	return lab.Setting{
		Data: lab.Images{Set: "glyphs", MaxTrain: 200, MaxTest: 60}, Forget: lab.Random{Fraction: 0.1},
		Fit:   train.Config{Epochs: 6, Batch: 50, Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9}, Schedule: train.Cosine()},
		Model: vision.SmallCNN{Channels: 1, Side: 16, Width: 4, Hidden: 32, Norm: true},
	}
}

func TestEveryLensSeesAModelOfImages(t *testing.T) {
	c := openCase(t, newLab(t), pictures())
	if len(c.Forget) != 20 || len(c.Retain) != 180 || c.Test.X.Rows != 60 {
		t.Fatalf("%d and %d of %d images", len(c.Forget), len(c.Retain), c.Test.X.Rows)
	}
	for _, lens := range append(DefaultLenses(), Subsets{Draws: 4}) {
		if _, err := c.Read(lens, c.Oracle); err != nil {
			t.Errorf("%s: %v", lens.Name(), err)
		}
	}
	m, err := c.Unlearn(t.Context(), unlearn.RandomLabel{})
	if err != nil || m.Report.Displacement == 0 {
		t.Errorf("%+v, %v", m, err)
	}
}
