package fishing

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
)

// given is Row as others get it: a number that was not measured is null there and empty in
// CSV, and never 0.
type given struct {
	Row
	Displacement *float64 `json:"displacement"`
}

// given is the row; a model that was trained anew has not moved from the original. Of a
// model that diverged it is how.
func (r Row) given() any {
	if r.Diverged != "" {
		return paper.Diverged{Case: r.Case, Arm: r.Arm, Control: r.Control, Seed: r.Seed, How: r.Diverged}
	}
	g := given{Row: r}
	if !slices.Contains([]string{Retrained, OtherSeed}, r.Arm) {
		g.Displacement = &r.Displacement
	}
	return g
}

// givenOverlap is Overlap as others get it.
type givenOverlap struct {
	Overlap
	Layers    []givenLayer `json:"layers"`
	LogR      *float64     `json:"log_r"`
	CodedLogR *float64     `json:"coded_log_r"`
	Accuracy  *float64     `json:"accuracy"`
}

type givenLayer struct {
	LayerOverlap
	Coded      *float64 `json:"coded"`
	Rank       *float64 `json:"rank"`
	OthersRank *float64 `json:"others_rank"`
	CodedRank  *float64 `json:"coded_rank"`
	Top1       *float64 `json:"top1"`
	Top10      *float64 `json:"top10"`
}

// given is the row without what is measured of the forgotten type alone, and of
// classifiers alone. The points of Figure 3 are thousands, and no table shows them.
func (o Overlap) given(points bool) any {
	if !points {
		o.Points = nil
	}
	g := givenOverlap{Overlap: o}
	if o.Forgot {
		g.LogR, g.CodedLogR = &o.LogR, &o.CodedLogR
		if slices.Contains([]string{ModelDeep, ModelDeepAgain, ModelLinear}, o.Model) {
			g.Accuracy = &o.Accuracy
		}
	}
	for _, l := range o.Layers {
		inner := givenLayer{LayerOverlap: l}
		if o.Forgot {
			inner.Coded, inner.Rank, inner.OthersRank = &l.Coded, &l.Rank, &l.OthersRank
			inner.CodedRank, inner.Top1, inner.Top10 = &l.CodedRank, &l.Top1, &l.Top10
		}
		g.Layers = append(g.Layers, inner)
	}
	return g
}
