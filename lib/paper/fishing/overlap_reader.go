package fishing

import (
	"context"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
)

// For notebooks, as in reader.go: the functions use the first case of the scale.

// MeasureOverlap compares the Fisher information of one seed's models.
func MeasureOverlap(ctx context.Context, seed int) error {
	e, s, err := openScale()
	if err != nil {
		return err
	}
	_, err = paper.Collect(ctx, e, []paper.Measurement[Overlap]{overlapPiece(e, s.Cases[0], seed)})
	return err
}

// Overlaps are the results for several models and seeds.
type Overlaps []Overlap

// MeasuredOverlaps are those of the first case.
func MeasuredOverlaps(ctx context.Context) (Overlaps, error) {
	e, s, err := openScale()
	if err != nil {
		return nil, err
	}
	s.Cases = s.Cases[:1]
	o, err := collectOverlaps(ctx, e, s)
	if err != nil {
		return nil, err
	}
	return o.Rows, nil
}

// Values are the values of the forgotten type in a layer of a model, one per seed.
func (o Overlaps) Values(model, layer string, value func(LayerOverlap) float64) []float64 {
	var out []float64
	for _, f := range o {
		if f.Model == model && f.Forgot {
			out = append(out, value(*f.layerNamed(layer)))
		}
	}
	return out
}

// OtherTypeValues are the values of all other types, each the mean over seeds.
func (o Overlaps) OtherTypeValues(model, layer string, value func(LayerOverlap) float64) []float64 {
	by, names := map[string][]float64{}, []string{}
	for _, f := range o {
		if f.Model != model || f.Forgot {
			continue
		}
		if by[f.Type] == nil {
			names = append(names, f.Type)
		}
		by[f.Type] = append(by[f.Type], value(*f.layerNamed(layer)))
	}
	var out []float64
	for _, name := range names {
		out = append(out, meanOf(by[name]))
	}
	return out
}

// Exact is the cosine of the exact estimator.
func (l LayerOverlap) Exact() float64 { return l.Cosine }

// AtRandom is the mean exact cosine of as many random cells.
func (l LayerOverlap) AtRandom() float64 { return meanOf(l.Random) }

// AsCoded is the cosine of the coded estimator.
func (l LayerOverlap) AsCoded() float64 { return l.Coded }

// CodedAtRandom is AtRandom as coded.
func (l LayerOverlap) CodedAtRandom() float64 { return meanOf(l.CodedRandom) }

// Below is how far the type's exact cosine is below that of random cells.
func (l LayerOverlap) Below() float64 { return l.AtRandom() - l.Cosine }

// Strips shows the exact cosines of the forgotten type in a layer, those of random cells and
// those of the other types, by model.
func (o Overlaps) Strips(meta plot.Meta, layer string, models ...string) plot.Figure {
	f := plot.Strips{Meta: meta, Y: plot.Axis{Label: "cosine"}, Series: []plot.StripSeries{
		{Name: "forgotten type"}, {Name: "as many random cells"}, {Name: "each other type"}}}
	for _, m := range models {
		f.Groups = append(f.Groups, m)
		for k, values := range [][]float64{o.Values(m, layer, LayerOverlap.Exact), o.Values(m, layer, LayerOverlap.AtRandom),
			o.OtherTypeValues(m, layer, LayerOverlap.Exact)} {
			f.Series[k].Values = append(f.Series[k].Values, values)
		}
	}
	return f
}
