package fishing

// Table 6: utility.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
)

var table6 = paper.Recipe{
	ID:    "fishing/table6",
	Title: "Fishing Table 6. What the models are still good for",
	Doc: "On unseen cells. 'as coded' is the marker correlation of the published program, which leaves the library size out and so compares " +
		"proportions with expression. ARI is the agreement of k-means on latent means (as many groups as types, 10 starts) with the published " +
		"types, where the program takes Leiden's clusters of the expression; silhouette and the probe, a linear rule that is to name the type, " +
		"are of the same means. Compare methods with 'fine-tuning, 10 epochs' and the retrained models with each other before with the original.",
}

// printed6 are the paper's ELBO, divergence, marker r (without library size), ARI.
func printed6(variant string) string {
	return map[string]string{
		Original: "364.2  10.55  0.831  0.452", RetrainedCoded: "365.6  9.69  0.829  0.488", RetainTuned: "363.2  10.59  0.832  0.461",
		Ascended: "363.3  10.53  0.832  0.441", Dampened: "363.9  10.40  0.831  0.449", Scrubbed: "363.8  10.41  0.832  0.451",
		Contrasted: "364.0  10.38  0.832  0.458", Fisher: "489.8  0.007  0.628  0.481",
		Extra: "403.7  4.70  0.789  0.508", Private: "403.3  8.08  0.787  0.482",
	}[variant]
}

func (ev *evidence) table6() *paper.Output {
	columns := []column{
		paper.MeanColumn("ELBO", "reconstruction loss plus divergence; lower is better; mean over models with its 95 % interval", 1, Row.ELBO),
		paper.MeanColumn("KL", "divergence from the prior; 0: the posterior knows nothing of its cell", 2, func(r Row) float64 { return r.UnseenDivergence }),
		markerColumn("marker r", "mean correlation of marker genes, with library size; null 0, higher is better", Row.MarkerR),
		markerColumn("marker r, as coded", "without library size", Row.BareMarkerR),
		paper.BoundedColumn("ARI", "k-means on latent means with the published types; null 0, higher is better", -1, 1,
			func(r Row) float64 { return r.Latent.ARI }),
		paper.BoundedColumn("silhouette", "of the types, Euclidean distance of latent means; higher is better", -1, 1,
			func(r Row) float64 { return r.Latent.Silhouette }),
		paper.ShareColumn("probe", "share of cells whose type a linear rule names, trained on other cells; null: the largest type's share, in the notes",
			func(r Row) float64 { return r.Latent.Probe }),
	}
	columns = append(columns, ev.spentColumns()...)
	columns = append(columns, printedColumn("ELBO, KL, marker r as coded and ARI as printed, on PBMC-33k", "", printed6))
	t := ev.variantTable(table6, columns)
	for _, c := range ev.Cases {
		if rows := ev.rowsOf(c.Label, Original); len(rows) > 0 {
			l := rows[0].Latent
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d unseen cells with a published type, of %d types; the largest is %.3f of them.",
				c.Label, l.Cells, l.Types, l.Majority))
		}
	}
	t.Notes = append(t.Notes, ev.notes()...)
	return &paper.Output{Table: t}
}
