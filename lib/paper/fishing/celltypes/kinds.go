// Package celltypes compares prepared cells with their published types: where the types lie, how
// clusters agree with them, and which unseen cells are matched to those of a forgotten type. It
// uses no model: it shows what an attack on the cells would find without one.
package celltypes

import (
	"fmt"
	"math/rand/v2"
	"slices"

	data "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Cells are prepared cells with their types.
type Cells struct {
	*cells.Prepared
	Title   string
	Classes []string
	Types   []int // type of every kept cell, -1 if unknown
}

// Prepare prepares a data set; rng is used by Leiden. It refuses what Options.Prepare refuses,
// and data without a typed cell.
func Prepare(c *data.Cells, o cells.Options, rng *rand.Rand) (*Cells, error) {
	p, err := o.Prepare(c.Counts, c.Genes, rng)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	out := &Cells{Prepared: p, Title: c.Title, Classes: c.Classes}
	for _, i := range p.Cells {
		out.Types = append(out.Types, c.Y[i])
	}
	if len(out.BySize()) == 0 {
		return nil, fmt.Errorf("%s: no cell has a type", c.Name)
	}
	return out, nil
}

// BySize are the types that have cells, the rarest first.
func (c *Cells) BySize() []int {
	return slices.DeleteFunc(cells.Smallest(c.Types), func(t int) bool { return t < 0 })
}

// Rows returns the row numbers of the cells of a type.
func (c *Cells) Rows(class int) (rows []int) {
	for k, t := range c.Types {
		if t == class {
			rows = append(rows, k)
		}
	}
	return rows
}

// Agreement is the adjusted Rand index of groups and types, over the cells with a type: 1 for
// full agreement, 0 for chance.
func (c *Cells) Agreement(groups []int) (float64, error) {
	if len(groups) != len(c.Types) {
		return 0, fmt.Errorf("kinds: %d groups of %d cells", len(groups), len(c.Types))
	}
	var a, b []int
	for k, t := range c.Types {
		if t >= 0 {
			a, b = append(a, groups[k]), append(b, t)
		}
	}
	return stats.AdjustedRandIndex(a, b)
}

// Match describes the matched non-members of one type in one split.
type Match struct {
	Forget, Unseen    int // cells of the type, in training and unseen
	Matched, SameType int // matched unseen cells, and those of the type among them
}

// MatchType splits the cells by Divide(0.85, seed), forgets the training cells of a type, and
// matches each with the k nearest unseen cells, by places, which has a row per cell: components
// or codes (the paper's section 4, k = 10).
func (c *Cells) MatchType(class int, places array.Matrix[float64], k int, seed uint32) (*Match, error) {
	if places.Rows != len(c.Types) {
		return nil, fmt.Errorf("kinds: places of %d cells, there are %d", places.Rows, len(c.Types))
	}
	split, err := cells.Divide(len(c.Types), 0.85, seed)
	if err != nil {
		return nil, err
	}
	f, err := split.Structured(c.Types, class)
	if err != nil {
		return nil, err
	}
	near, err := cells.Match(places.Gather(f.Forget), places.Gather(split.Unseen), k)
	if err != nil {
		return nil, err
	}
	m := &Match{Forget: len(f.Forget), Unseen: len(c.Rows(class)) - len(f.Forget), Matched: len(near.Rows)}
	for _, r := range near.Rows {
		if c.Types[split.Unseen[r]] == class {
			m.SameType++
		}
	}
	return m, nil
}

// Share is the share of the matched cells that are of the type.
func (m *Match) Share() float64 { return float64(m.SameType) / float64(m.Matched) }

// TypeAUC is the AUC of an attacker without a model that knows only whether a cell is of the
// type: forgotten cells against matched ones. With the share s that is
//
//	1 - s/2
//
// Null: 0.5, if all matched cells are of the type.
func (m *Match) TypeAUC() float64 { return 1 - m.Share()/2 }

// SampleCodes draws a code of every cell from an isotropic normal distribution around its
// position. Its variance is such that two draws of one cell are times as far apart as the cells
// of a type are, on average, from their k nearest cells (including themselves).
func (c *Cells) SampleCodes(class int, k int, times float64, rng *rand.Rand) (array.Matrix[float64], error) {
	near, err := cells.Match(c.Places.Gather(c.Rows(class)), c.Places, k)
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	mean, err := stats.Mean(near.Distance)
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	return cells.SampleCodes(c.Places, c.logVariance(times*mean), rng)
}
