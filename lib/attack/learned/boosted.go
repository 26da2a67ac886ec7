// Gradient boosting with regression trees as an attacker (Friedman 2001), as in scikit-learn.

package learned

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/progress"
)

// BoostedTrees is gradient boosting with regression trees for the binary cross-entropy (J. Friedman
// (2001), Greedy function approximation: a gradient boosting machine, The Annals of Statistics 29,
// section 4.5). The score is a sum of trees, a logit:
//
//	F_0 = log(members/non-members),  F_m = F_{m-1} + Rate t_m
//
// Tree t_m splits the residuals y - p, with p = 1/(1 + exp(-F_{m-1})), into parts l and r with the
// largest n_l n_r (mean_l - mean_r)^2. The value of a leaf is a Newton step, the sum of y - p over
// that of p (1 - p).
//
// The zero value is scikit-learn's GradientBoostingClassifier. It gives the same scores if no two
// splits are equally good; otherwise it takes the first feature, where scikit-learn takes a random
// one. It draws no random numbers and does not depend on the scale of features. Unlike Logistic it
// can use intervals of a feature and interactions of features.
type BoostedTrees struct {
	Trees int     `json:"trees,omitempty"` // 0: 100
	Depth int     `json:"depth,omitempty"` // of a tree, 0: 3
	Rate  float64 `json:"rate,omitempty"`  // 0: 0.1
	Leaf  int     `json:"leaf,omitempty"`  // records that a leaf has at least, 0: 1
}

var _ Attacker = BoostedTrees{}

// Name implements Attacker.
func (BoostedTrees) Name() string { return "boosted-trees" }

// About implements Attacker.
func (BoostedTrees) About() string { return "gradient-boosted trees on features" }

// Fit implements Attacker.
func (b BoostedTrees) Fit(ctx context.Context, _ *engine.Engine, known Records, _ engine.Root) (Scorer, error) {
	if err := known.Check(); err != nil {
		return nil, err
	}
	if b.Trees < 0 || b.Depth < 0 || b.Leaf < 0 || !(b.Rate >= 0) {
		return nil, fmt.Errorf("learned: %d trees of depth %d at rate %v, leaves of %d records", b.Trees, b.Depth, b.Rate, b.Leaf)
	}
	b.Trees, b.Depth, b.Rate, b.Leaf = cmp.Or(b.Trees, 100), cmp.Or(b.Depth, 3), cmp.Or(b.Rate, 0.1), cmp.Or(b.Leaf, 1)
	g := newTreeBuilder(known, b.Depth, b.Leaf)
	prior := math.Log(float64(known.Members.Rows) / float64(known.Nonmembers.Rows))
	logits := slices.Repeat([]float64{prior}, known.size())
	trees := make([]tree, b.Trees)
	ctx, task := progress.Start(ctx, b.Name(), b.Trees)
	defer task.Done()
	for m := range trees {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		trees[m] = g.grow(logits)
		task.Add(1)
		for i, at := range g.nodeOf {
			logits[i] += float64(b.Rate * trees[m][at].value)
		}
	}
	return func(x array.Matrix[float64]) ([]float64, error) {
		if x.Cols != known.Members.Cols {
			return nil, fmt.Errorf("learned: %d features, the attacker has learned on %d", x.Cols, known.Members.Cols)
		}
		out := slices.Repeat([]float64{prior}, x.Rows)
		for i := range out {
			for _, t := range trees {
				out[i] += float64(b.Rate * t.value(x.Row(i)))
			}
		}
		return out, nil
	}, nil
}

// tree is a list of nodes, the root first.
type tree []node

// node sends records up to a cut of a feature to the left and others to the right. A leaf has a
// value and no children.
type node struct {
	feature     int
	cut         float64
	left, right int // 0: a leaf
	value       float64
}

// value returns the value of a record's leaf.
func (t tree) value(x []float64) float64 {
	at := 0
	for t[at].left != 0 {
		at = t[at].next(x)
	}
	return t[at].value
}

func (n node) next(x []float64) int {
	if x[n.feature] <= n.cut {
		return n.left
	}
	return n.right
}

// treeBuilder grows trees on known records. It keeps the order of the records by every feature, and
// the feature's values in that order.
type treeBuilder struct {
	x           array.Matrix[float64]
	members     int
	depth, leaf int
	order       [][]int
	values      [][]float64

	residual, curvature []float64 // of every record
	nodeOf              []int     // the node that it is in
}

func newTreeBuilder(known Records, depth, leaf int) *treeBuilder {
	g := &treeBuilder{x: known.stacked(), members: known.Members.Rows, depth: depth, leaf: leaf}
	for j := range g.x.Cols {
		order := indices(g.x.Rows)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.x.Row(a)[j], g.x.Row(b)[j]) })
		values := make([]float64, len(order))
		for k, i := range order {
			values[k] = g.x.Row(i)[j]
		}
		g.order, g.values = append(g.order, order), append(g.values, values)
	}
	g.residual, g.curvature, g.nodeOf = make([]float64, g.x.Rows), make([]float64, g.x.Rows), make([]int, g.x.Rows)
	return g
}

// grow fits a tree to the negative gradient at these logits.
func (g *treeBuilder) grow(logits []float64) tree {
	for i, z := range logits {
		p, y := 1/(1+math.Exp(-z)), 0.0
		if i < g.members {
			y = 1
		}
		g.residual[i], g.curvature[i], g.nodeOf[i] = y-p, p*(1-p), 0
	}
	t, first := tree{{}}, 0
	for range g.depth {
		before := len(t)
		if t = g.split(t, first); len(t) == before {
			break
		}
		first = before
	}
	g.setLeafValues(t)
	return t
}

// partition holds sums over the records of a node on one side of a cut.
type partition struct {
	n, sum, squares float64
	last            float64 // the largest value of the feature
	closed          bool    // nothing is to be split
}

// splitCandidate is the best split of a node so far; a gain below 0: none.
type splitCandidate struct {
	gain    float64
	feature int
	cut     float64
}

// split splits the nodes from first on if their residuals differ, and assigns their records to the
// children.
func (g *treeBuilder) split(t tree, first int) tree {
	whole, best := make([]partition, len(t)), make([]splitCandidate, len(t))
	for i, at := range g.nodeOf {
		whole[at].n++
		whole[at].sum += g.residual[i]
		whole[at].squares += float64(g.residual[i] * g.residual[i])
	}
	for k := range best {
		best[k].gain, whole[k].closed = -1, k < first || whole[k].isConstant()
	}
	for j := range g.order {
		g.findSplits(j, whole, best)
	}
	for k := first; k < len(best); k++ {
		if b := best[k]; b.gain >= 0 {
			t[k] = node{feature: b.feature, cut: b.cut, left: len(t), right: len(t) + 1}
			t = append(t, node{}, node{})
		}
	}
	for i, at := range g.nodeOf {
		if t[at].left != 0 {
			g.nodeOf[i] = t[at].next(g.x.Row(i))
		}
	}
	return t
}

// findSplits searches a feature for better splits of the nodes that are not closed.
func (g *treeBuilder) findSplits(feature int, whole []partition, best []splitCandidate) {
	left := make([]partition, len(whole))
	for rank, i := range g.order[feature] {
		k, v := g.nodeOf[i], g.values[feature][rank]
		if whole[k].closed {
			continue
		}
		if l := left[k]; l.n > 0 && v > l.last {
			if gain := g.gain(l, whole[k]); gain > best[k].gain {
				best[k] = splitCandidate{gain, feature, midpoint(l.last, v)}
			}
		}
		left[k].n++
		left[k].sum += g.residual[i]
		left[k].last = v
	}
}

// isConstant reports whether all residuals are the same, up to rounding.
func (p partition) isConstant() bool {
	mean := p.sum / p.n
	return p.squares/p.n-float64(mean*mean) <= 0x1p-52
}

// gain returns n_l n_r (mean_l - mean_r)^2, or -1 if a part is too small for a leaf.
func (g *treeBuilder) gain(l, whole partition) float64 {
	n := whole.n - l.n
	if min(l.n, n) < float64(g.leaf) {
		return -1
	}
	apart := float64(n*l.sum) - float64(l.n*(whole.sum-l.sum))
	return apart * apart / (l.n * n)
}

// midpoint returns the middle of two values, below the larger one.
func midpoint(a, b float64) float64 {
	if m := a/2 + b/2; m < b {
		return m
	}
	return a
}

// setLeafValues computes the values of the leaves.
func (g *treeBuilder) setLeafValues(t tree) {
	curvature := make([]float64, len(t))
	for i, at := range g.nodeOf {
		t[at].value += g.residual[i]
		curvature[at] += g.curvature[i]
	}
	for k, c := range curvature {
		if t[k].value /= c; c < 1e-150 { // of no record, or all are known for sure
			t[k].value = 0
		}
	}
}
