package fishing

// Measuring of overlaps.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// cellType is a type of cells as a forget set, with random sets of as many other cells.
type cellType struct {
	name         string
	forgot       bool
	cells, other []int
	randomPairs  [][2][]int // pairs of disjoint sets
}

// forgettableTypes are the types of a case that can be forget sets, the case's own first.
func forgettableTypes(c *lab.Case) []cellType {
	var out []cellType
	for class, name := range c.About.Classes {
		k := cellType{name: name, forgot: name == forgottenClass(c.Setting)}
		for row, y := range c.Problem.Train.Y {
			if y == class {
				k.cells = append(k.cells, row)
			} else {
				k.other = append(k.other, row)
			}
		}
		n := len(k.cells)
		if n < minTypeCells || 3*n > n+len(k.other) {
			continue
		}
		draws := 1
		if k.forgot {
			draws = overlapDraws
		}
		for d := range draws {
			k.randomPairs = append(k.randomPairs, disjointPair(k.other, n, engine.Root(c.Seed).Stream(engine.StreamOverlap, uint64(class), uint64(d))))
		}
		out = append(out, k)
	}
	slices.SortStableFunc(out, func(a, b cellType) int {
		switch {
		case a.forgot == b.forgot:
			return 0
		case a.forgot:
			return -1
		}
		return 1
	})
	return out
}

// disjointPair draws two disjoint sets of n rows.
func disjointPair(rows []int, n int, rng *rand.Rand) (out [2][]int) {
	drawn := rng.Perm(len(rows))
	for i := range out {
		for _, at := range drawn[i*n : (i+1)*n] {
			out[i] = append(out[i], rows[at])
		}
	}
	return out
}

// rowsWithout are the rows that are not among others.
func rowsWithout(rows, others []int) []int {
	gone := map[int]bool{}
	for _, r := range others {
		gone[r] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r int) bool { return gone[r] })
}

// measureOverlaps compares types with the other cells in every model of a case.
func measureOverlaps(ctx context.Context, c *lab.Case, of Case) ([]Overlap, error) {
	kinds := forgettableTypes(c)
	if len(kinds) == 0 || !kinds[0].forgot {
		return nil, fmt.Errorf("%s has fewer than %d cells to forget, or more than a third", forgottenClass(c.Setting), minTypeCells)
	}
	all, err := comparedModels(ctx, c, of)
	if err != nil {
		return nil, err
	}
	var out []Overlap
	for _, s := range all {
		found, err := s.overlaps(ctx, kinds, engine.Root(c.Seed))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		for i := range found {
			found[i].Case, found[i].Seed = of.Label, c.Seed
		}
		out = append(out, found...)
	}
	return out, nil
}

// overlaps compares every type with the other cells in one model. The exact information of
// disjoint sets is additive, so the value of the others is the total minus the type's. For the
// forgotten type both are computed, because there dead weights matter.
func (s comparedModel) overlaps(ctx context.Context, kinds []cellType, seed engine.Root) ([]Overlap, error) {
	n := s.Train.X.Rows
	groups, consumers := [][]int{allRows(s.Train)}, []func(fisher.Diagonal) error{}
	var total fisher.Diagonal
	request := func(rows []int, what func(fisher.Diagonal) error) {
		groups, consumers = append(groups, rows), append(consumers, what)
	}
	consumers = append(consumers, func(d fisher.Diagonal) error { total = d; return nil })
	out := make([]Overlap, len(kinds))
	for i, k := range kinds {
		out[i] = Overlap{Model: s.name, Control: s.control, Type: k.name, Forgot: k.forgot, Cells: len(k.cells), Others: len(k.other)}
		to := &out[i]
		var own, others, first fisher.Diagonal
		if k.forgot {
			request(k.other, func(d fisher.Diagonal) error { others = d; return nil })
		}
		request(k.cells, func(d fisher.Diagonal) (err error) {
			if own = d; !k.forgot {
				if others, err = total.Without(own, n, len(k.cells)); err != nil {
					return err
				}
			}
			return to.addExact(s, k, own, others)
		})
		for _, pair := range k.randomPairs {
			request(pair[0], func(d fisher.Diagonal) error {
				first = d
				left, err := others.Without(d, len(k.other), len(k.cells))
				if err != nil {
					return err
				}
				if k.forgot {
					if err := to.addTops(s, d, left, false, func(l *LayerOverlap, t fisher.TopShares) { l.TopRandom = append(l.TopRandom, t) }); err != nil {
						return err
					}
				}
				return to.addCosines(s, d, left, func(l *LayerOverlap, c float64) { l.Random = append(l.Random, c) })
			})
			request(pair[1], func(d fisher.Diagonal) error {
				return to.addCosines(s, first, d, func(l *LayerOverlap, c float64) { l.Pairs = append(l.Pairs, c) })
			})
		}
	}
	o, err := s.objective(groups[0])
	if err != nil {
		return nil, err
	}
	each := func(k int, d fisher.Diagonal) error {
		d, err := s.splitDiagonal(d)
		if err != nil {
			return err
		}
		return consumers[k](d)
	}
	if err := (fisher.Exact{}).Each(ctx, s.Runner, s.weights, o, groups, each); err != nil {
		return nil, err
	}
	if err := out[0].addCoded(ctx, s, kinds[0], seed); err != nil {
		return nil, err
	}
	out[0].Accuracy, err = s.accuracy()
	return out, err
}

// addExact adds the results of the exact estimator for a type and the others.
func (o *Overlap) addExact(s comparedModel, k cellType, own, others fisher.Diagonal) error {
	if !o.Forgot {
		return o.addCosines(s, own, others, func(l *LayerOverlap, c float64) { l.Cosine = c })
	}
	parts, err := fisher.Compare(own, others, s.layer)
	if err != nil {
		return err
	}
	for _, p := range parts {
		o.Layers = append(o.Layers, LayerOverlap{
			Layer: p.Name, Weights: p.Weights + p.Dead, Cosine: p.Cosine,
			Rank: p.RankForget, OthersRank: p.RankRetain, Top1: p.Top1, Top10: p.Top10,
		})
	}
	if o.LogR, _, err = fisher.LogPearson(own, others, false); err != nil {
		return err
	}
	o.Points = newPoints(own, others)
	if s.name == ModelVAE {
		o.Proposition, err = measureProposition(s, k, own, others)
	}
	return err
}

// addCosines passes the cosine of every layer to put.
func (o *Overlap) addCosines(s comparedModel, a, b fisher.Diagonal, put func(l *LayerOverlap, c float64)) error {
	cosines, err := fisher.Cosines(a, b, s.layer)
	if err != nil {
		return err
	}
	for _, name := range append(layerNames(a, s.layer), fisher.Global) {
		c, ok := cosines[name]
		if !ok {
			return fmt.Errorf("layer %s: all gradients are zero", name)
		}
		put(o.layerNamed(name), c)
	}
	return nil
}

// addTops passes the shared largest entries to put, layer by layer.
func (o *Overlap) addTops(s comparedModel, a, b fisher.Diagonal, dead bool, put func(l *LayerOverlap, t fisher.TopShares)) error {
	shares, err := fisher.TopSharesByCategory(a, b, s.layer, dead)
	if err != nil {
		return err
	}
	for i := range o.Layers {
		if t, ok := shares[o.Layers[i].Layer]; ok {
			put(&o.Layers[i], t)
		}
	}
	return nil
}

// layerNames are the names of a diagonal's layers, in order.
func layerNames(d fisher.Diagonal, of func(string) string) []string {
	var out []string
	for _, t := range d.Tensors {
		if name := of(t.Name); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// layerNamed is the entry of a layer; it is created if missing.
func (o *Overlap) layerNamed(name string) *LayerOverlap {
	for i := range o.Layers {
		if o.Layers[i].Layer == name {
			return &o.Layers[i]
		}
	}
	o.Layers = append(o.Layers, LayerOverlap{Layer: name})
	return &o.Layers[len(o.Layers)-1]
}

// addCoded adds the results of the coded estimator for the forgotten type, and for random cells
// in its place.
func (o *Overlap) addCoded(ctx context.Context, s comparedModel, k cellType, seed engine.Root) error {
	estimate := func(rows []int) (fisher.Diagonal, error) {
		objective, err := s.objective(rows)
		if err != nil {
			return fisher.Diagonal{}, err
		}
		d, err := fisher.Coded{Seed: seed}.Estimate(ctx, s.Runner, s.weights, objective)
		if err != nil {
			return d, err
		}
		return s.splitDiagonal(d)
	}
	own, err := estimate(k.cells)
	if err != nil {
		return err
	}
	others, err := estimate(k.other)
	if err != nil {
		return err
	}
	if err := o.addCosines(s, own, others, func(l *LayerOverlap, c float64) { l.Coded = c }); err != nil {
		return err
	}
	if err := o.addTops(s, own, others, true, func(l *LayerOverlap, t fisher.TopShares) { l.CodedTop = t }); err != nil {
		return err
	}
	for i := range o.Layers {
		l := &o.Layers[i]
		of := own.Filter(func(t string) bool { return l.Layer == fisher.Global || s.layer(t) == l.Layer })
		rank, err := fisher.EffectiveRank(of)
		if err != nil {
			return err
		}
		l.CodedRank = rank / float64(of.Size())
	}
	if o.CodedLogR, _, err = fisher.LogPearson(own, others, true); err != nil {
		return err
	}
	for _, pair := range k.randomPairs[:codedDraws] {
		own, err := estimate(pair[0])
		if err != nil {
			return err
		}
		left, err := estimate(rowsWithout(k.other, pair[0]))
		if err != nil {
			return err
		}
		if err := o.addCosines(s, own, left, func(l *LayerOverlap, c float64) { l.CodedRandom = append(l.CodedRandom, c) }); err != nil {
			return err
		}
		if err := o.addTops(s, own, left, true, func(l *LayerOverlap, t fisher.TopShares) { l.CodedTopRandom = append(l.CodedTopRandom, t) }); err != nil {
			return err
		}
	}
	return nil
}

// Points are the information of some weights, on the forgotten cells and on the others.
type Points struct {
	Forget []float64 `json:"forget"`
	Others []float64 `json:"others"`
}

// pointsShown is the largest number of weights in a panel of Figure 3.
const pointsShown = 1500

// newPoints are weights at equal distances among those that are alive in both sets.
func newPoints(forget, others fisher.Diagonal) *Points {
	var all Points
	for i, t := range forget.Tensors {
		for j, v := range t.Values {
			if w := others.Tensors[i].Values[j]; v > 0 && w > 0 {
				all.Forget, all.Others = append(all.Forget, v), append(all.Others, w)
			}
		}
	}
	n := len(all.Forget)
	if n <= pointsShown {
		return &all
	}
	out := &Points{}
	for k := range pointsShown {
		at := k * n / pointsShown
		out.Forget, out.Others = append(out.Forget, all.Forget[at]), append(out.Others, all.Others[at])
	}
	return out
}
