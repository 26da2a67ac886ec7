package comparison

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// reports is a small case of texts: which department a report is of.
func reports() lab.Setting {
	return lab.Setting{
		Data: lab.Texts{Set: "generated_reports", Preparation: texts.Preparation{Unit: texts.Windows, Tokens: 12, Vocabulary: 200, MaxDocuments: 60,
			GroupBy: texts.ByText}},
		Forget: lab.RandomGroups{Column: texts.ColumnText, Fraction: 0.1, Least: audit.MinRecords + 2},
		Fit:    train.Config{Epochs: 4, Batch: 64, Optimizer: nn.Adam{LR: 3e-3}},
		Model:  text.Classifier{Layers: 1, Width: 16, Heads: 2, Dropout: new(0.0)},
	}
}

// Every lens on classifiers has a number on one of texts, of the original and of every method's model.
func TestEveryMethodAndLensWorksOnAClassifierOfTexts(t *testing.T) {
	c, err := audit.Open(t.Context(), newLab(t), reports())
	if err != nil {
		t.Fatal(err)
	}
	special := []string{audit.Confusion{}.Name(), audit.Trigger{}.Name(), // of planted cases
		audit.LiRA{}.Name(), audit.OfflineLiRA{}.Name(), audit.NearAccuracy{}.Name()} // of shadow models; of costs
	lenses := []audit.Lens{audit.Subsets{Draws: 4}, audit.Relearning{Epochs: 2}}
	for _, l := range append(audit.CaseLenses(), audit.ArrayLenses()...) {
		known := func(o audit.Lens) bool { return o.Name() == l.Name() }
		if !slices.ContainsFunc(lenses, known) && !slices.Contains(special, l.Name()) {
			lenses = append(lenses, l)
		}
	}
	for _, l := range lenses {
		r, err := c.Read(l, c.Original)
		if err != nil || math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
			t.Errorf("the lens %q: %+v, %v", l.Name(), r, err)
		}
	}
	for _, m := range AllMethods() {
		u, err := c.Unlearn(t.Context(), m)
		if d := (*train.Diverged)(nil); errors.As(err, &d) {
			t.Logf("%s: %v", m.Info().Name, err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", m.Info().Name, err)
			continue
		}
		for _, l := range Lenses() {
			if r, err := c.Read(l, u); err != nil || math.IsNaN(r.Value) {
				t.Errorf("the lens %q after %s: %+v, %v", l.Name(), m.Info().Name, r, err)
			}
		}
	}
}
