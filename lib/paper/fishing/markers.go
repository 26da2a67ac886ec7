package fishing

// Reconstruction of marker genes.

import (
	"errors"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/utility"
)

// Marker is how well a model reconstructs a marker gene: the correlation over unseen cells
// between the decoder's output and the expression, with library size, and without it as in the
// published program. nil if either is constant.
type Marker struct {
	Gene string   `json:"gene"`
	R    *float64 `json:"r"`
	Bare *float64 `json:"r_bare"`
}

// measureMarkers are the correlations of the given genes in the unseen cells, for those among
// the case's variable genes. In the paper's data all eight are.
func measureMarkers(c *lab.Case, genes []string, w nn.Params) ([]Marker, error) {
	if len(genes) == 0 {
		return nil, nil
	}
	p, err := c.Runner.PredictOutputs(w, c.Test.X, loss.Proportion)
	if err != nil {
		return nil, err
	}
	x := c.Test.X
	if genes := p.Outputs[loss.Proportion].Cols; genes < x.Cols { // the types stand behind the genes
		x = x.FirstColumns(genes)
	}
	var out []Marker
	for _, gene := range genes {
		j := slices.IndexFunc(c.About.Features, func(f datasets.Feature) bool { return f.Name == gene })
		if j < 0 {
			continue
		}
		m := Marker{Gene: gene}
		predicted := p.Outputs[loss.Proportion]
		if m.R, err = correlation(predicted, x, utility.LibrarySizes(x), j); err != nil {
			return nil, err
		}
		if m.Bare, err = correlation(predicted, x, ones(x.Rows), j); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// correlation is one gene's, nil if undefined.
func correlation(proportion, x array.Matrix[float32], library []float64, gene int) (*float64, error) {
	r, err := utility.MarkerCorrelation(proportion, x, library, []int{gene})
	if errors.Is(err, stats.ErrConstant) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &r[0], nil
}

// MarkerR is the mean correlation of the case's marker genes with library size, NaN if one has
// none.
func (r Row) MarkerR() float64 { return markerMean(r.Markers, func(m Marker) *float64 { return m.R }) }

// BareMarkerR is MarkerR without library size, the paper's *marker r*.
func (r Row) BareMarkerR() float64 {
	return markerMean(r.Markers, func(m Marker) *float64 { return m.Bare })
}

func markerMean(markers []Marker, of func(Marker) *float64) float64 {
	sum := 0.0
	for _, m := range markers {
		v := of(m)
		if v == nil {
			return math.NaN()
		}
		sum += *v
	}
	return sum / float64(len(markers))
}

// markerColumn is a column that only cases with marker genes have.
func markerColumn(name, note string, value func(Row) float64) column {
	bounded := paper.BoundedColumn(name, note, -1, 1, value)
	return column{Name: name, Note: note, Cell: func(l line) report.Cell {
		if len(l.Models[0].Markers) == 0 {
			return report.Gap("no marker genes")
		}
		return bounded.Cell(l)
	}}
}
