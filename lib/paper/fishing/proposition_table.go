package fishing

// The table of Proposition 1.

import (
	"math"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

var proposition1 = paper.Recipe{
	ID:    "fishing/proposition1",
	Title: "Fishing, Proposition 1, at the head of the decoder's mean",
	Doc: "For a linear decoder whose squared residuals e and inputs h are uncorrelated the cosine of two sets is the product of the cosines of their " +
		"profiles, sigma = E[e^2] per gene and nu = E[h^2] per unit. The head here feeds a softmax, whose derivative mixes the genes, so that e " +
		"is not the residual: the profiles of the head's own information (rows and columns) and those of the data are two things. " +
		"Values of the head are of the exact estimator, the paper's of squared sums over batches; those of the data need neither.",
}

// ratio is the only row whose value has no upper bound; the others are cosines of non-negative
// vectors, products of such cosines, or shares.
const ratio = "product over measured"

// propositionRows are the rows with the paper's or its program's values.
var propositionRows = []struct {
	name, paper string
	value       func(p Proposition) float64
}{
	{"cosine, measured", "0.369", func(p Proposition) float64 { return p.Cosine }},
	{"cos sigma, of the head's rows", "0.514", func(p Proposition) float64 { return p.Sigma }},
	{"cos nu, of the head's columns", "0.795", func(p Proposition) float64 { return p.Nu }},
	{"product", "0.409", func(p Proposition) float64 { return p.Product }},
	{ratio, "1.107", func(p Proposition) float64 { return p.Ratio }},
	{"cos sigma, of the data's residuals", "0.829", func(p Proposition) float64 { return p.DataSigma }},
	{"cos nu, of the data's hidden units", "0.788", func(p Proposition) float64 { return p.DataNu }},
	{"product, by the data", "0.653", func(p Proposition) float64 { return p.DataProduct }},
	{"cosine without the softmax, same residuals and units", "", func(p Proposition) float64 { return p.Linear }},
	{"sigma of the head against the data, forgotten", "0.504", func(p Proposition) float64 { return p.SigmaForget }},
	{"sigma of the head against the data, others", "0.729", func(p Proposition) float64 { return p.SigmaOthers }},
	{"nu of the head against the data, forgotten", "0.991", func(p Proposition) float64 { return p.NuForget }},
	{"nu of the head against the data, others", "0.998", func(p Proposition) float64 { return p.NuOthers }},
	{"first singular value's share, forgotten", "0.944", func(p Proposition) float64 { return p.FirstForget }},
	{"first singular value's share, others", "0.956", func(p Proposition) float64 { return p.FirstOthers }},
	{"cosine per gene, median", "0.877", func(p Proposition) float64 { return p.GeneMedian }},
	{"genes with a cosine above 0.5, share", "0.731", func(p Proposition) float64 { return p.GeneShare }},
}

func (o *overlaps) proposition1() *paper.Output {
	t := &report.Table{
		ID: proposition1.ID, Title: proposition1.Title, Caption: proposition1.Doc, Provenance: o.provenance(proposition1.ID),
		Columns: []report.Column{{Name: "value"}, {Name: "measured", Note: "mean over models with its 95 % interval"},
			{Name: "paper", Note: "on PBMC-33k, as coded"}},
		Notes: o.overlapNotes(),
	}
	for _, c := range o.Cases {
		own := o.find(c.Label, ModelVAE, func(f Overlap) bool { return f.Forgot })
		if len(own) == 0 {
			continue
		}
		for _, r := range propositionRows {
			var x []float64
			for _, f := range own {
				x = append(x, r.value(*f.Proposition))
			}
			most := 1.0
			if r.name == ratio {
				most = math.Inf(1)
			}
			mean := stats.MeanInterval(x, 0.95, stats.OverModels).ClampedTo(0, most)
			t.Rows = append(t.Rows, report.Row{Group: c.Label, Cells: []report.Cell{
				report.Str(r.name), report.Est(mean, 3), report.Str(r.paper),
			}})
		}
	}
	return &paper.Output{Table: t}
}
