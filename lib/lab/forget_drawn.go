// Forget sets that are drawn: a random share, and those of "Fishing for Privacy".

package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/texts"
	libcells "github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Random forgets a share of the train part, drawn as RULER does (datasets.ForgetSet): at least
// ten records. It is the forget set of a Setting that names none.
type Random struct {
	Fraction float64 // 0: 0.05
	Seed     uint32  // 0: ForgetSeed
}

// Name implements ForgetSet.
func (f Random) Name() string {
	f = f.withDefaults()
	return fmt.Sprintf("%g-%d", f.Fraction, f.Seed)
}

func (f Random) withDefaults() Random {
	return Random{cmp.Or(f.Fraction, 0.05), cmp.Or(f.Seed, ForgetSeed)}
}

// Rows implements ForgetSet.
func (f Random) Rows(p *datasets.Prepared) ([]int, error) {
	f = f.withDefaults()
	forget, _, err := datasets.ForgetSet(p.Train.X.Rows, f.Fraction, f.Seed)
	return forget, err
}

// aboutIn says that more records were drawn than the share has; "" where they were not.
func (f Random) aboutIn(p *datasets.Prepared, n int) string {
	f = f.withDefaults()
	share := int(math.Floor(float64(f.Fraction * float64(p.Train.X.Rows))))
	if share >= n {
		return ""
	}
	return fmt.Sprintf("%d random records (%g %% of the %d in the train part are %d, and at least %d are drawn)", n, 100*f.Fraction, p.Train.X.Rows, share,
		datasets.MinForget)
}

// Reseed implements SeededForgetSet.
func (f Random) Reseed(shift int) ForgetSet {
	f = f.withDefaults()
	f.Seed += uint32(shift)
	return f
}

// RandomGroups forgets a share of the groups of records that have one value in a column, such as
// the documents of a text set (texts.ColumnDocument) with all of their sentences: of the groups
// that are whole or in part in the train part, share times their number, rounded, at least Least.
type RandomGroups struct {
	Column   string
	Fraction float64 // 0: 0.05
	Seed     uint32  // 0: ForgetSeed
	Least    int     `json:",omitempty"` // number of groups; 0: 1
}

// Name implements ForgetSet.
func (f RandomGroups) Name() string {
	f = f.withDefaults()
	name := fmt.Sprintf("%s-%g-%d", strings.ReplaceAll(f.Column, " ", "_"), f.Fraction, f.Seed)
	if f.Least > 1 {
		name += fmt.Sprintf("-%d", f.Least)
	}
	return name
}

func (f RandomGroups) withDefaults() RandomGroups {
	return RandomGroups{f.Column, cmp.Or(f.Fraction, 0.05), cmp.Or(f.Seed, ForgetSeed), f.Least}
}

// Rows implements ForgetSet.
func (f RandomGroups) Rows(p *datasets.Prepared) ([]int, error) {
	f = f.withDefaults()
	if !(f.Fraction > 0 && f.Fraction < 1) {
		return nil, fmt.Errorf("the share of groups to forget is %v, possible are numbers between 0 and 1", f.Fraction)
	}
	k := slices.IndexFunc(p.About.Columns, func(c datasets.Column) bool { return c.Name == f.Column })
	if k < 0 {
		return nil, fmt.Errorf("there is no column %q to draw groups by", f.Column)
	}
	groups := rowGroups(p, p.About.Columns[k])
	n := max(1, f.Least, f.rounded(len(groups)))
	if n >= len(groups) {
		return nil, fmt.Errorf("%d of %d groups by %s are to be forgotten, and some must stay", n, len(groups), f.Column)
	}
	var out []int
	for _, g := range seedRoot(f.Seed).Stream(engine.StreamGroups).Perm(len(groups))[:n] {
		out = append(out, groups[g]...)
	}
	slices.Sort(out)
	return out, nil
}

// rounded is the number of groups nearest to the share.
func (f RandomGroups) rounded(groups int) int {
	return int(math.Round(float64(f.Fraction * float64(groups))))
}

// aboutIn is About, and says so where one group is drawn of which the share is less than half.
func (f RandomGroups) aboutIn(p *datasets.Prepared, n int) string {
	f = f.withDefaults()
	k := slices.IndexFunc(p.About.Columns, func(c datasets.Column) bool { return c.Name == f.Column })
	if k < 0 {
		return f.About(n)
	}
	all := len(rowGroups(p, p.About.Columns[k]))
	if max(f.Least, f.rounded(all)) > 0 {
		return f.About(n)
	}
	return fmt.Sprintf("the %d records of 1 random %s (%g %% of the %d in the train part are %.3g)", n, f.groups(1), 100*f.Fraction, all,
		f.Fraction*float64(all))
}

// rowGroups returns the rows of the train part by the value of a column, in the order of their
// first rows. A record without a value is a group of its own.
func rowGroups(p *datasets.Prepared, c datasets.Column) (out [][]int) {
	known := map[float64]int{}
	for row, id := range p.Train.IDs {
		if c.Missing(id) {
			out = append(out, []int{row})
			continue
		}
		at, seen := known[cellNumber(c, id)]
		if !seen {
			at = len(out)
			known[cellNumber(c, id)], out = at, append(out, nil)
		}
		out[at] = append(out[at], row)
	}
	return out
}

// cellNumber returns the number of a cell, or the code of its text.
func cellNumber(c datasets.Column, id int) float64 {
	if c.Kind.Numeric() {
		return c.Numbers[id]
	}
	return float64(c.Codes[id])
}

// Reseed implements SeededForgetSet.
func (f RandomGroups) Reseed(shift int) ForgetSet {
	f = f.withDefaults()
	f.Seed += uint32(shift)
	return f
}

// About implements DescribedForgetSet.
func (f RandomGroups) About(n int) string {
	return fmt.Sprintf("the %d records of %s", n, f.share())
}

// share says which share of which groups is drawn.
func (f RandomGroups) share() string {
	f = f.withDefaults()
	least := ""
	if f.Least > 1 {
		least = fmt.Sprintf(", at least %d", f.Least)
	}
	return fmt.Sprintf("a random %g %% of the %s%s", 100*f.Fraction, f.groups(2), least)
}

// groups is what n groups are called.
func (f RandomGroups) groups(n int) string {
	one, many := "group by "+f.Column, "groups by "+f.Column
	if f.Column == texts.ColumnDocument || f.Column == texts.ColumnText {
		one, many = "text", "texts"
	}
	if n == 1 {
		return one
	}
	return many
}

// Scattered forgets random records like the program of "Fishing for Privacy": the first of
// a permutation by RandomState(Seed) of the train part in the order in which it was drawn
// (cells.Split.Scattered).
type Scattered struct {
	Count int
	Seed  uint32 // 0: CellsSeed
}

// Name implements ForgetSet.
func (f Scattered) Name() string {
	return fmt.Sprintf("scattered-%d-%d", f.Count, cmp.Or(f.Seed, CellsSeed))
}

// Rows implements ForgetSet.
func (f Scattered) Rows(p *datasets.Prepared) ([]int, error) {
	out, err := drawnSplit(p).Scattered(cmp.Or(f.Seed, CellsSeed), f.Count)
	return slices.Sorted(slices.Values(out.Forget)), err
}

// Reseed implements SeededForgetSet.
func (f Scattered) Reseed(shift int) ForgetSet {
	f.Seed = cmp.Or(f.Seed, CellsSeed) + uint32(shift)
	return f
}

// Series forgets the last of a series of sets of these sizes, like the program of "Fishing
// for Privacy": the rarest classes as a whole, filled up with random records of the next
// one (cells.Split.Series). Unlabelled records belong to no class of a series.
type Series []int

// Name implements ForgetSet.
func (f Series) Name() string {
	return "series" + strings.ReplaceAll(strings.Trim(fmt.Sprint("-", []int(f)), "[]"), " ", "-")
}

// Rows implements ForgetSet.
func (f Series) Rows(p *datasets.Prepared) ([]int, error) {
	if len(f) == 0 {
		return nil, fmt.Errorf("a series of no sizes")
	}
	classes := slices.DeleteFunc(libcells.Smallest(slices.Concat(p.Train.Y, p.Test.Y)), func(c int) bool {
		return p.About.Classes[c] == cells.Unlabelled || !slices.Contains(p.Train.Y, c)
	})
	series, err := drawnSplit(p).Series(p.Train.Y, classes, f)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(slices.Values(series[len(series)-1].Forget)), nil
}

// drawnSplit returns the rows of the train part in the order in which they were drawn.
func drawnSplit(p *datasets.Prepared) libcells.Split {
	if p.DrawOrder == nil {
		return libcells.Split{Train: allRows(p)}
	}
	return libcells.Split{Train: p.DrawOrder}
}
