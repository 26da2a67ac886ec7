package fishing

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
)

// rowRecord is Row as others get it: a number that was not measured is null there and empty in
// CSV, and never 0.
type rowRecord struct {
	Row
	Displacement *float64 `json:"displacement"`
}

// rowRecord is the row; a model that was trained anew has not moved from the original. Of a
// model that diverged it is how.
func (r Row) record() any {
	if r.Diverged != "" {
		return paper.Diverged{Case: r.Case, Variant: r.Variant, Control: r.Control, Seed: r.Seed, How: r.Diverged}
	}
	g := rowRecord{Row: r}
	if !slices.Contains([]string{Retrained, OtherSeed}, r.Variant) {
		g.Displacement = &r.Displacement
	}
	return g
}

// overlapRecord is Overlap as others get it.
type overlapRecord struct {
	Overlap
	Layers    []layerRecord `json:"layers"`
	LogR      *float64      `json:"log_r"`
	CodedLogR *float64      `json:"coded_log_r"`
	Accuracy  *float64      `json:"accuracy"`
}

type layerRecord struct {
	LayerOverlap
	Coded      *float64 `json:"coded"`
	Rank       *float64 `json:"rank"`
	OthersRank *float64 `json:"others_rank"`
	CodedRank  *float64 `json:"coded_rank"`
	Top1       *float64 `json:"top1"`
	Top10      *float64 `json:"top10"`
}

// rowRecord is the row without what is measured of the forgotten type alone, and of
// classifiers alone. The points of Figure 3 are thousands, and no table shows them.
func (o Overlap) record(points bool) any {
	if !points {
		o.Points = nil
	}
	g := overlapRecord{Overlap: o}
	if o.Forgot {
		g.LogR, g.CodedLogR = &o.LogR, &o.CodedLogR
		if slices.Contains([]string{ModelDeep, ModelDeepAgain, ModelLinear}, o.Model) {
			g.Accuracy = &o.Accuracy
		}
	}
	for _, l := range o.Layers {
		inner := layerRecord{LayerOverlap: l}
		if o.Forgot {
			inner.Coded, inner.Rank, inner.OthersRank = &l.Coded, &l.Rank, &l.OthersRank
			inner.CodedRank, inner.Top1, inner.Top10 = &l.CodedRank, &l.Top1, &l.Top10
		}
		g.Layers = append(g.Layers, inner)
	}
	return g
}
