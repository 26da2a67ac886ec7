package celltypes

// Figures of cells and their types.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/plot"
)

// logVariance are log variances with which two draws of one cell are apart by the given
// distance, in the root mean square: 2 d exp(v) = apart^2 in d dimensions.
func (c *Cells) logVariance(apart float64) array.Matrix[float64] {
	v := array.New[float64](c.Places.Rows, c.Places.Cols)
	for i := range v.Data {
		v.Data[i] = math.Log(apart * apart / float64(2*c.Places.Cols))
	}
	return v
}

// ComponentScatter shows the first two components, coloured by type, without cells of unknown
// type.
func (c *Cells) ComponentScatter() plot.Scatter {
	return c.scatter(c.Places, plot.Meta{Title: "First two components: " + c.Title,
		Caption: "One point per cell, coloured by its type. The rarest lie on top."}, "component")
}

// UMAPScatter shows the neighbour graph as laid out by UMAP, coloured by type, without cells of
// unknown type.
func (c *Cells) UMAPScatter(rng *rand.Rand) (plot.Scatter, error) {
	places, err := cells.UMAP{}.Layout(c.Graph, c.Places, rng)
	if err != nil {
		return plot.Scatter{}, err
	}
	meta := plot.Meta{
		Title: "The graph of neighbours, by UMAP: " + c.Title,
		Caption: "One point per cell, coloured by its type. Who is near to whom is meant; how far groups lie apart, and how large they are, " +
			"is not.",
	}
	return c.scatter(places, meta, "UMAP"), nil
}

// scatter shows the first two columns of places, the rarest type on top.
func (c *Cells) scatter(places array.Matrix[float64], meta plot.Meta, axis string) plot.Scatter {
	f := plot.Scatter{Meta: meta, X: plot.Axis{Label: axis + " 1"}, Y: plot.Axis{Label: axis + " 2"}}
	for _, class := range c.BySize() {
		cloud := plot.Cloud{Name: c.Classes[class]}
		for _, k := range c.Rows(class) {
			cloud.X, cloud.Y = append(cloud.X, places.Row(k)[0]), append(cloud.Y, places.Row(k)[1])
		}
		f.Clouds = append(f.Clouds, cloud)
	}
	return f
}

// ClusterHeatmap shows the share of each type in each group, the rarest type first. groups has a
// number of at least 0 per cell.
func (c *Cells) ClusterHeatmap(groups []int) plot.Heatmap {
	f := plot.Heatmap{
		Meta: plot.Meta{Title: "Where each type lies: " + c.Title, Caption: "Every row adds up to 1. In brackets: the number of cells."},
		X:    plot.Axis{Label: "cluster"}, Value: "share of the type", Min: plot.Limit(0), Max: plot.Limit(1),
	}
	for g := range slices.Max(groups) + 1 {
		f.Columns = append(f.Columns, fmt.Sprint(g))
	}
	for _, class := range c.BySize() {
		rows, shares := c.Rows(class), make([]float64, len(f.Columns))
		for _, k := range rows {
			shares[groups[k]] += 1 / float64(len(rows))
		}
		f.Rows, f.Values = append(f.Rows, fmt.Sprintf("%s (%d)", c.Classes[class], len(rows))), append(f.Values, shares)
	}
	return f
}

// GeneScatter shows the standardised variance of every varying gene over its mean, and which
// genes were chosen (ascending).
func GeneScatter(title string, chosen []int, d *cells.Dispersion) plot.Scatter {
	kept, others := plot.Cloud{Name: "kept"}, plot.Cloud{Name: "left out", Control: true}
	for g, m := range d.Mean {
		of := &others
		if _, found := slices.BinarySearch(chosen, g); found {
			of = &kept
		}
		if d.Standardised[g] > 0 {
			of.X, of.Y = append(of.X, m), append(of.Y, d.Standardised[g])
		}
	}
	return plot.Scatter{
		Meta: plot.Meta{Title: title}, X: plot.Axis{Label: "mean", Log: true}, Y: plot.Axis{Label: "standardised variance", Log: true},
		Clouds: []plot.Cloud{others, kept}, Null: &plot.Null{Value: 1, Label: "like its peers"},
	}
}
