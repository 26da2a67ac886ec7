// Sets of faces divided by people: whom nobody trains on, and what is told apart.

package images

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats/nprand"
)

// IdentityColumn is the column of datasets.About.Columns that names who is on an image.
const IdentityColumn = "identity"

// Defaults of Identities: the seed of who is held out, RULER's, and that of arbitrary groups.
const (
	HeldOutSeed = 999
	GroupSeed   = 41
)

// Identities divides a set of faces by people. The train part has all images of some of them, the
// test part all images of the others: people whom no model is trained on.
//
// The labels are the set's own, such as gender. Where the set has no labels but the people
// themselves (Olivetti), half of the people, drawn by a seed, are one class and the other half the
// other: two arbitrary groups, which say nothing about a face.
type Identities struct {
	Set string // its name, such as "lfw"

	// HeldOut is the share of the people who are the test part, at least one of them.
	// 0: a tenth.
	HeldOut float64
	// Seed draws them: the first of RandomState(Seed).permutation of the people, sorted by name
	// or in the order of the set's classes. 0: HeldOutSeed.
	Seed uint32
	// Groups is the seed of arbitrary groups: RandomState(Groups).shuffle of the labels 0 and 1 in
	// turn. 0: GroupSeed. Sets with labels of their own do not use it.
	Groups uint32
	// Side scales the images to this many pixels a side (ScaleChannel). 0: as they are.
	Side int
}

// WithDefaults replaces every zero by its default, except Side.
func (d Identities) WithDefaults() Identities {
	d.HeldOut = cmp.Or(d.HeldOut, 0.1)
	d.Seed, d.Groups = cmp.Or(d.Seed, HeldOutSeed), cmp.Or(d.Groups, GroupSeed)
	return d
}

// Arbitrary reports whether the labels are arbitrary groups, because the set has none.
func (d Identities) Arbitrary() bool {
	return slices.ContainsFunc(sets(), func(s set) bool { return s.info.Name == d.Set && s.people })
}

// Info describes the divided set without reading a file: its task, classes and shape. How many of
// the images are held out is known only for sets with equally many of every person, so that
// TestRows is 0.
func (d Identities) Info() (datasets.Info, error) {
	d = d.WithDefaults()
	info, err := Lookup(d.Set)
	if err != nil {
		return info, err
	}
	if err := d.check(info); err != nil {
		return info, fmt.Errorf("datasets: %s: %w", d.Set, err)
	}
	if d.Arbitrary() {
		info.Task, info.Classes = fmt.Sprintf("arbitrary group, drawn by seed %d; not gender", d.Groups), groupNames()
	}
	if d.Side > 0 {
		info.Shape[1], info.Shape[2] = d.Side, d.Side
		info.Features = info.Shape[0] * d.Side * d.Side
	}
	return info, nil
}

func groupNames() []string { return []string{"group A", "group B"} }

// check returns an error for a division that cannot be.
func (d Identities) check(info datasets.Info) error {
	switch {
	case info.TestRows > 0:
		return fmt.Errorf("the set has a test part of its own and names nobody; sets of faces are divided by people")
	case !(d.HeldOut > 0 && d.HeldOut < 1):
		return fmt.Errorf("a share of %v of the people is held out; it is between 0 and 1", d.HeldOut)
	case d.Side < 0 || d.Side > info.Shape[1]:
		return fmt.Errorf("images of %d pixels a side; they have %d and are not made larger", d.Side, info.Shape[1])
	}
	return nil
}

// Prepare reads the set, divides it and normalises every channel with the statistics of the train
// part. IDs are the rows of the set; images are in their order. About.Columns has the column
// IdentityColumn.
//
// It refuses a set that names nobody, fewer than three people, and what Load refuses.
func (d Identities) Prepare(ctx context.Context) (*datasets.Prepared, error) {
	d = d.WithDefaults()
	if _, err := d.Info(); err != nil {
		return nil, err
	}
	m, err := Load(ctx, d.Set)
	if err != nil {
		return nil, err
	}
	who, err := d.identities(m)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", d.Set, err)
	}
	if d.Arbitrary() {
		d.assignGroups(m, who)
	}
	if d.Side > 0 && d.Side != m.Shape[1] {
		m.Train.X, m.Shape = scaleImages(m.Train.X, m.Shape, d.Side)
	}
	m.Columns = []datasets.Column{who}
	held := d.heldOut(len(who.Values))
	var train, test []int
	for row, code := range who.Codes {
		if held[code] {
			test = append(test, row)
		} else {
			train = append(train, row)
		}
	}
	m.Train, m.Test = m.Train.Gather(train), m.Train.Gather(test)
	out, err := prepare(m)
	if err != nil {
		return nil, err
	}
	out.Hash = out.Sum()
	return out, nil
}

// identities returns who is on the images: the set's column, or its classes.
func (d Identities) identities(m *Images) (datasets.Column, error) {
	who := datasets.Column{Name: IdentityColumn, Kind: datasets.Category, Values: m.Classes}
	if d.Arbitrary() {
		for _, y := range m.Train.Y {
			who.Codes = append(who.Codes, int32(y))
		}
	} else if at := slices.IndexFunc(m.Columns, func(c datasets.Column) bool { return c.Name == IdentityColumn }); at >= 0 {
		who = m.Columns[at]
	} else {
		return who, fmt.Errorf("the set does not say who is on an image")
	}
	if len(who.Values) < 3 {
		return who, fmt.Errorf("%d people; at least one is held out, one forgotten and one retained", len(who.Values))
	}
	return who, nil
}

// assignGroups replaces the labels by arbitrary groups of people.
func (d Identities) assignGroups(m *Images, who datasets.Column) {
	group := make([]int, len(who.Values))
	for p := range group {
		group[p] = p % 2
	}
	nprand.New(d.Groups).Shuffle(group)
	for row, code := range who.Codes {
		m.Train.Y[row] = group[code]
	}
	m.Classes = groupNames()
}

// heldOut returns, for every person, whether nobody trains on them.
func (d Identities) heldOut(people int) []bool {
	out, n := make([]bool, people), max(1, int(d.HeldOut*float64(people)+0.5))
	for _, p := range nprand.New(d.Seed).Permutation(people)[:min(n, people-2)] {
		out[p] = true
	}
	return out
}

// scaleImages returns square images with another side, and their shape.
func scaleImages(x array.Matrix[float32], shape [3]int, side int) (array.Matrix[float32], [3]int) {
	scaled := [3]int{shape[0], side, side}
	out := array.New[float32](x.Rows, shape[0]*side*side)
	plane := shape[1] * shape[2]
	for i := range x.Rows {
		row := out.Row(i)[:0]
		for ch := range shape[0] {
			for _, v := range ScaleChannel(x.Row(i)[ch*plane:(ch+1)*plane], shape[1], side) {
				row = append(row, float32(v))
			}
		}
	}
	return out, scaled
}
