// The generated data sets: half moons, blobs, a mixed table with outliers.

package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
)

// The generated sets never change: they are drawn from PCG of math/rand/v2, whose
// stream is part of Go's compatibility promise, seeded with generatedSeed and a
// number per set. Values are rounded to multiples of 1/grid, so that rounding in
// sin and cos gives the same data set on every processor. Rows are in random order,
// so that a row number does not reveal its group.
const (
	generatedSeed = 0x6c65746865 // "lethe"
	grid          = 1 << 20
)

// generator builds a generated set.
type generator struct {
	rng    *rand.Rand
	rows   [][]float64
	y      []int
	groups map[string][]int // planted group -> its rows
}

func newGenerator(set uint64) *generator {
	return &generator{rng: rand.New(rand.NewPCG(generatedSeed, set)), groups: map[string][]int{}}
}

func (s *generator) add(y int, values ...float64) int {
	s.rows = append(s.rows, values)
	s.y = append(s.y, y)
	return len(s.rows) - 1
}

func (s *generator) addToGroup(group string, row int) { s.groups[group] = append(s.groups[group], row) }

// gaussian returns the centre plus independent Gaussian noise.
func (s *generator) gaussian(centre []float64, sd float64) []float64 {
	out := make([]float64, len(centre))
	for j, c := range centre {
		out[j] = float64(c + float64(sd*s.rng.NormFloat64()))
	}
	return out
}

// table shuffles the rows and returns them with the planted groups.
func (s *generator) table(features []Feature, classes []string) *Table {
	order := s.rng.Perm(len(s.rows)) // old row -> new row
	t := &Table{X: array.New[float64](len(s.rows), len(features)), Y: make([]int, len(s.rows)),
		About: About{Features: features, Classes: classes}}
	for old, to := range order {
		for j, v := range s.rows[old] {
			t.X.Row(to)[j] = float64(math.Round(float64(v*grid)) / grid)
		}
		t.Y[to] = s.y[old]
	}
	if len(s.groups) > 0 {
		t.Planted = map[string][]int{}
	}
	for name, rows := range s.groups {
		for _, old := range rows {
			t.Planted[name] = append(t.Planted[name], order[old])
		}
		slices.Sort(t.Planted[name])
	}
	t.Columns = generatedColumns(t)
	return t
}

// generatedColumns returns the columns of a table without missing values.
func generatedColumns(t *Table) []Column {
	var out []Column
	for j, f := range t.Features {
		c := Column{Name: f.Name, Numbers: make([]float64, t.X.Rows)}
		for i := range c.Numbers {
			c.Numbers[i] = t.X.Row(i)[j]
		}
		if f.Categorical {
			c = codedColumn(f, c.Numbers)
		}
		out = append(out, c)
	}
	return append(out, classColumn(out, t.Y, t.Classes))
}

func codedColumn(f Feature, codes []float64) Column {
	c := Column{Name: f.Name, Kind: Category, Codes: make([]int32, len(codes)), Values: f.Categories}
	for i, v := range codes {
		c.Codes[i] = int32(v)
	}
	return c
}

// plainFeatures returns n numeric features x1, x2, ...
func plainFeatures(n int) []Feature {
	out := make([]Feature, n)
	for j := range out {
		out[j].Name = fmt.Sprintf("x%d", j+1)
	}
	return out
}

// twoMoons returns two interleaved half circles of radius 1 with Gaussian noise of standard
// deviation 0.15, 500 rows each, the second shifted by (1, 0.5).
func twoMoons() set {
	return set{
		info: Info{
			Name: "two_moons", Title: "Two moons", Task: "which of two interleaved half circles a point is on",
			Rows: 1000, Features: 2, Classes: []string{"upper", "lower"}, Synthetic: true,
			Licence: "Apache-2.0", Description: "Two half circles with noise: a problem in two dimensions that can be drawn.",
		},
		load: func(r *loader) (*Table, error) {
			s := newGenerator(1)
			for i := range r.info.Rows {
				angle := float64(math.Pi * s.rng.Float64())
				centre := []float64{math.Cos(angle), math.Sin(angle)}
				if i%2 == 1 {
					centre = []float64{1 - centre[0], 0.5 - centre[1]}
				}
				s.add(i%2, s.gaussian(centre, 0.15)...)
			}
			return s.table(plainFeatures(2), r.info.Classes), nil
		},
	}
}

// moonsIsland returns two moons with two planted groups. "island" is 30 points of the lower moon's
// class above the upper moon, where there are no other points: a model that did not train on them
// predicts the upper class there, so a figure shows whether a model remembers them. "tip" is the
// left end of the upper moon, which the rest of the moon explains.
func moonsIsland() set {
	return set{
		info: Info{
			Name: "moons_island", Title: "Two moons with an island", Task: "which of two interleaved half circles a point is on",
			Rows: 630, Features: 2, Classes: []string{"upper", "lower"}, Synthetic: true,
			Licence: "Apache-2.0", Description: "Two half circles, 600 points, and an island of 30 that a model can only memorise.",
		},
		load: func(r *loader) (*Table, error) {
			const moons = 600
			s := newGenerator(4)
			for i := range moons {
				angle := float64(math.Pi * s.rng.Float64())
				centre := []float64{math.Cos(angle), math.Sin(angle)}
				if i%2 == 1 {
					centre = []float64{1 - centre[0], 0.5 - centre[1]}
				}
				row := s.add(i%2, s.gaussian(centre, 0.12)...)
				if i%2 == 0 && angle > 0.85*math.Pi {
					s.addToGroup("tip", row)
				}
			}
			for range r.info.Rows - moons {
				s.addToGroup("island", s.add(1, s.gaussian([]float64{-0.6, 1.7}, 0.1)...))
			}
			return s.table(plainFeatures(2), r.info.Classes), nil
		},
	}
}

// blobsDuplicates returns four Gaussian blobs in ten dimensions, two per class, with planted
// near-duplicates: 60 rows ("originals") have one copy each ("copies") at a distance of about
// 0.03; no other two rows are that close. It tests that forgetting an original while its copy is
// retained does not count as a failure.
func blobsDuplicates() set {
	return set{
		info: Info{
			Name: "blobs_duplicates", Title: "Gaussian blobs with near-duplicates", Task: "which pair of blobs a point is from",
			Rows: 1060, Features: 10, Classes: []string{"a", "b"}, Synthetic: true,
			Licence: "Apache-2.0", Description: "Four Gaussian blobs, 1,000 rows, and near-copies of 60 of them.",
		},
		load: func(r *loader) (*Table, error) {
			const blobs, rows, copies = 4, 1000, 60
			s := newGenerator(2)
			var centres [blobs][]float64
			for b := range centres {
				centres[b] = s.gaussian(make([]float64, r.info.Features), 1.5)
			}
			for i := range rows {
				s.add(i%2, s.gaussian(centres[i%blobs], 1)...)
			}
			for i := range copies {
				s.addToGroup("originals", i)
				s.addToGroup("copies", s.add(s.y[i], s.gaussian(s.rows[i], 0.01)...))
			}
			return s.table(plainFeatures(r.info.Features), r.info.Classes), nil
		},
	}
}

// tabularOutliers returns a mixed table of eight numbers and two categories whose class follows a
// noisy linear rule. The planted group "outliers" has 40 rows far from all others (shifted by 4 in
// every number, third value of the first category) with the opposite of the rule's class, which a
// model can only memorise.
func tabularOutliers() set {
	return set{
		info: Info{
			Name: "tabular_outliers", Title: "Mixed table with an outlier group", Task: "a noisy linear rule",
			Rows: 2000, Features: 10, Classes: []string{"no", "yes"}, Synthetic: true,
			Licence: "Apache-2.0", Description: "1,960 rows that follow a rule and 40 outliers that contradict it.",
		},
		load: func(r *loader) (*Table, error) {
			s := newGenerator(3)
			for i := range r.info.Rows {
				s.addMixed(i < 40)
			}
			features := append(plainFeatures(8),
				Feature{Name: "shop", Categorical: true, Categories: []string{"east", "north", "west"}},
				Feature{Name: "card", Categorical: true, Categories: []string{"no", "yes"}})
			return s.table(features, r.info.Classes), nil
		},
	}
}

// addMixed adds one row of tabularOutliers.
func (s *generator) addMixed(outlier bool) {
	weights := [8]float64{1.2, -0.8, 0.6, -0.4, 0.3, 0, 0, 0}
	row := s.gaussian(make([]float64, 8), 1)
	shop, card := float64(s.rng.IntN(2)), float64(s.rng.IntN(2))
	if outlier {
		shop = 2
		for j := range row {
			row[j] += 4
		}
	}
	score := float64(0.8*card) + float64(0.5*s.rng.NormFloat64()) - 0.4
	for j, w := range weights {
		score += float64(w * row[j])
	}
	y := 0
	if score > 0 {
		y = 1
	}
	if outlier {
		y = 1 - y
	}
	at := s.add(y, append(row, shop, card)...)
	if outlier {
		s.addToGroup("outliers", at)
	}
}
