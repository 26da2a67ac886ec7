package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Named is a setting with the words under which a table shows it.
type Named struct {
	Name string
	Setting
}

// LensCases are the cases of the table of lenses. At quick scale they need no
// file; at standard and paper scale RULER's ten tables join them.
func LensCases(scale string) ([]Named, error) {
	long := train.Config{Epochs: 150, Optimizer: nn.Adam{LR: 5e-3}}
	cases := []Named{
		{"an island that contradicts the moons", Setting{DataSet: "moons_island", Planted: "island", Fit: long}},
		{"a tip that the moons explain", Setting{DataSet: "moons_island", Planted: "tip", Fit: long}},
		{"outliers that contradict the rule", Setting{DataSet: "tabular_outliers", Planted: "outliers"}},
		{"records whose copies stay", Setting{DataSet: "blobs_duplicates", Planted: "originals"}},
		{"random records", Setting{DataSet: "tabular_outliers", Fraction: 0.10}},
		{"random records, real data", Setting{DataSet: "breast_cancer", Fraction: 0.10}},
	}
	byHeart := train.Config{Epochs: 40, Batch: 32, Optimizer: nn.SGD{LR: 0.1, Momentum: 0.9, WeightDecay: 5e-4}, Schedule: train.Cosine()}
	cases = append(cases,
		Named{"random drawings, known by heart", Setting{DataSet: "glyphs", MaxRows: 400, Fraction: 0.30, Fit: byHeart, Arch: smallNet}},
		Named{"drawings with a wrong label", Setting{DataSet: "glyphs", MaxRows: 1000, Planted: "mislabelled", Fit: byHeart, Arch: smallNet}})
	switch scale {
	case "quick":
		return cases, nil
	case "standard", "paper":
	default:
		return nil, fmt.Errorf("scale %q is not one of quick, standard, paper", scale)
	}
	photographs := byHeart
	photographs.Epochs, photographs.Batch, photographs.Optimizer = 30, 64, nn.SGD{LR: 0.05, Momentum: 0.9, WeightDecay: 5e-4}
	cases = append(cases, Named{"random photographs", Setting{DataSet: "cifar10_first4000", MaxRows: 2000, TestRows: 2000, Fraction: 0.10, Fit: photographs, Arch: smallNet}})
	for _, name := range datasets.RULER() {
		s := Setting{DataSet: name}
		if scale == "standard" {
			s.MaxRows = 6000
		}
		cases = append(cases, Named{"random records, RULER", s})
	}
	return cases, nil
}

// smallNet is the network for images of the table of lenses: small and narrow.
func smallNet(features, classes int) model.Architecture {
	return ForImages(vision.Family{New: func(channels, side, outputs int) model.Architecture {
		return vision.SmallCNN{Channels: channels, Side: side, Outputs: outputs, Width: 16, Norm: true}
	}})(features, classes)
}

// imageMethods are judged on networks for images: those of SDE's Table 4, and
// fine-tuning, which does nothing about the forget set, with the same optimiser.
func imageMethods() []unlearn.Method {
	return []unlearn.Method{
		unlearn.RandomLabel{}, unlearn.SalUn{}, unlearn.L1Sparsity{}, unlearn.Unroll{},
		unlearn.FineTuning{Epochs: 10, LR: 0.01, SGD: &unlearn.Descent{}},
	}
}

// lensMethods are judged beside the controls; the last is NegGrad at four times
// the paper's rate, so that one method reaches what is to be forgotten.
func lensMethods() []unlearn.Method {
	return []unlearn.Method{
		unlearn.GradientAscent{}, unlearn.NegGrad{}, unlearn.FineTuning{}, unlearn.SCRUB{}, unlearn.BadTeacher{},
		unlearn.NegGrad{LR: 2e-3},
	}
}

// LensTable looks at every method and control of every case through every lens:
// value, interval and call in each cell, and in the last column where the
// lenses disagree. Cases whose data are not on this machine are left out and
// named. progress, which may be nil, is told after each case.
func (l *Lab) LensTable(ctx context.Context, scale string, progress func(Progress)) (*report.Table, error) {
	cases, err := LensCases(scale)
	if err != nil {
		return nil, err
	}
	return l.lensTable(ctx, cases, scale, progress)
}

func (l *Lab) lensTable(ctx context.Context, cases []Named, scale string, progress func(Progress)) (*report.Table, error) {
	t := &report.Table{
		ID: "lenses", Title: "Do the lenses agree?",
		Caption: "Each cell: what a lens shows, its 95 % interval, and where that places the model between the original, of which nothing was unlearned, " +
			"and the oracle, retrained without the records. A lens that cannot tell original from oracle is blind on that case: nothing that it says of a method is evidence there.",
		Columns: []report.Column{{Name: "model"}},
	}
	for _, lens := range Lenses() {
		t.Columns = append(t.Columns, report.Column{Name: lens.Name(), Note: lens.About()})
	}
	t.Columns = append(t.Columns, report.Column{Name: "together"})
	for i, n := range cases {
		if progress != nil {
			progress(Progress{Done: int64(i), Total: int64(len(cases)), What: n.DataSet + ": " + n.Name})
		}
		err := l.lensCase(ctx, t, n)
		if errors.Is(err, datasets.ErrMissing) {
			t.Notes = append(t.Notes, fmt.Sprintf("Left out, its file is not on this machine: %s. Get it with: lethe data get %s", n.DataSet, n.DataSet))
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	t.Notes = append(t.Notes,
		"M2 of the oracle against itself is 0 exactly, so that the lens 'against the oracle' is hardly ever blind, however small the difference. The row 'retrained, other seed' shows how it can place a perfect unlearner.",
		"One training seed per case; intervals are over records, those of the lens subsets over draws of references.",
		"'neggrad' stands twice: at the paper's learning rate, and at four times that rate.")
	t.Provenance.Scale, t.Provenance.Seeds = scale, []int64{0}
	t.Provenance.Command = "lethe table lenses --scale " + scale
	return t, nil
}

func (l *Lab) lensCase(ctx context.Context, t *report.Table, n Named) error {
	c, err := l.Case(ctx, n.Setting)
	if err != nil {
		return err
	}
	c.Through = Lenses()
	models, err := c.Controls(ctx)
	if err != nil {
		return err
	}
	methods := lensMethods()
	if c.ofImages() {
		methods = imageMethods()
	}
	for _, m := range methods {
		u, err := c.Unlearn(ctx, m)
		if err != nil {
			return err
		}
		models = append(models, u)
	}
	if !c.ofImages() {
		models[len(models)-1].Label += ", rate x 4"
	}
	rows, err := c.callRows(fmt.Sprintf("%s: %s (%d)", n.DataSet, n.Name, len(c.Forget)), models)
	if err != nil {
		return err
	}
	t.Rows = append(t.Rows, rows...)
	p := c.Provenance()
	if t.Provenance.Data == nil {
		t.Provenance = p
	}
	for name, hash := range p.Data {
		if c.ofImages() { // there may be several draws of one set
			name = fmt.Sprintf("%s, %d images", name, c.Train.X.Rows)
		}
		t.Provenance.Data[name] = hash
	}
	if c.About.Synthetic && !slices.Contains(t.Notes, generatedNote) {
		t.Notes = append(t.Notes, generatedNote)
	}
	return nil
}

const generatedNote = "moons_island, tabular_outliers, blobs_duplicates and glyphs are generated."
