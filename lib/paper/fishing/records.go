package fishing

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
)

// rowRecord is Row as published: a number that was not measured is null, or empty in CSV, and
// never 0.
type rowRecord struct {
	Row
	Displacement *float64 `json:"displacement"`
}

// record is the row as published: without the displacement of a model that was trained anew, and
// of a diverged model only how it diverged.
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

// overlapRecord is Overlap as published.
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

// record is the overlap as published: without the values that only the forgotten type or only
// classifiers have. points keeps the thousands of points of Figure 3, which no table shows.
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
