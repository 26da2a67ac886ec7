// Forget sets: which records of the train part a model has to forget.

package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	libcells "github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/engine"
)

// ForgetSet says which records of the train part a model has to forget: [Random],
// [Records], [Class], [Planted], [Scattered], [Series], [Backdoor] or [User]. A value of
// another module is stored under the rows that it returns, and its fields, as JSON, are part
// of the names of jobs.
type ForgetSet interface {
	// Name is what jobs call the forget set: letters, digits, "_", "-" and ".".
	Name() string
	// Rows returns the rows of the train part to forget, ascending.
	Rows(p *datasets.Prepared) ([]int, error)
}

// SeededForgetSet is a forget set that is drawn at random.
type SeededForgetSet interface {
	ForgetSet
	// Reseed returns the forget set with shift added to its seed; see Lab.Shift.
	Reseed(shift int) ForgetSet
}

// DescribedForgetSet is a forget set that a title can describe.
type DescribedForgetSet interface {
	ForgetSet
	// About describes the n records that are forgotten, such as "the 20 planted records
	// (outliers)"; the name of the data follows.
	About(n int) string
}

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

// Reseed implements SeededForgetSet.
func (f Random) Reseed(shift int) ForgetSet {
	f = f.withDefaults()
	f.Seed += uint32(shift)
	return f
}

// Planted is the name of a group that the generator of the data planted, such as
// "outliers". Its records in the train part are forgotten.
type Planted string

// Name implements ForgetSet.
func (f Planted) Name() string { return string(f) }

// Rows implements ForgetSet.
func (f Planted) Rows(p *datasets.Prepared) ([]int, error) {
	ids, ok := p.About.Planted[string(f)]
	if !ok {
		return nil, fmt.Errorf("there is no planted group %q", string(f))
	}
	return filterRows(p, func(row int) bool { _, is := slices.BinarySearch(ids, p.Train.IDs[row]); return is }), nil
}

// About implements DescribedForgetSet.
func (f Planted) About(n int) string { return fmt.Sprintf("the %d planted records (%s)", n, string(f)) }

// Class is the name of a class. Its records in the train part are forgotten.
type Class string

// Name implements ForgetSet.
func (f Class) Name() string { return strings.ReplaceAll(string(f), "/", "-") }

// Rows implements ForgetSet.
func (f Class) Rows(p *datasets.Prepared) ([]int, error) {
	class := slices.Index(p.About.Classes, string(f))
	if class < 0 {
		return nil, fmt.Errorf("there is no class %q; its classes are %q", string(f), p.About.Classes)
	}
	return filterRows(p, func(row int) bool { return p.Train.Y[row] == class }), nil
}

// About implements DescribedForgetSet.
func (f Class) About(n int) string { return fmt.Sprintf("all %d records of class %s", n, string(f)) }

// NamedForgetSet is a forget set that names its records without regard to the split.
type NamedForgetSet interface {
	ForgetSet
	// IDs returns the numbers of the records in their source, ascending, whatever part they
	// are in.
	IDs(p *datasets.Prepared) ([]int, error)
}

// Records are the numbers of records in their source, from 0: rows of a table (as it is
// reduced by Table.MaxRows), images of a published part. Data that can be split so have them in the train part (KeepingData).
type Records []int

// Name implements ForgetSet.
func (f Records) Name() string { return fmt.Sprintf("records-%d-%s", len(f), shortHash([]int(f))) }

// IDs implements NamedForgetSet.
func (f Records) IDs(p *datasets.Prepared) ([]int, error) {
	if len(f) == 0 {
		return nil, errors.New("no record is named")
	}
	known := map[int]bool{}
	for _, ids := range [][]int{p.Train.IDs, p.Test.IDs} {
		for _, id := range ids {
			known[id] = true
		}
	}
	out := slices.Sorted(slices.Values(f))
	for i, id := range out {
		if i > 0 && id == out[i-1] {
			return nil, fmt.Errorf("record %d is named twice", id)
		}
		if !known[id] {
			return nil, fmt.Errorf("there is no record %d; records count from 0, and there are %d", id, len(known))
		}
	}
	return out, nil
}

// Rows implements ForgetSet. A record outside of the train part is an error: a model that never
// met it cannot forget it.
func (f Records) Rows(p *datasets.Prepared) ([]int, error) { return allNamedRows(f, p) }

// About implements DescribedForgetSet.
func (f Records) About(n int) string {
	if n == 1 {
		return "1 named record"
	}
	return fmt.Sprintf("%d named records", n)
}

// namedRows returns the rows of the train part that a forget set names.
func namedRows(f NamedForgetSet, p *datasets.Prepared) ([]int, error) {
	ids, err := f.IDs(p)
	if err != nil {
		return nil, err
	}
	out := filterRows(p, func(row int) bool { _, is := slices.BinarySearch(ids, p.Train.IDs[row]); return is })
	if len(out) == 0 {
		return nil, fmt.Errorf("all %d records that %q names are in the test part, which no model is trained on", len(ids), f.Name())
	}
	return out, nil
}

// allNamedRows is namedRows for records that are named one by one: each is in the train part.
func allNamedRows(f NamedForgetSet, p *datasets.Prepared) ([]int, error) {
	out, err := namedRows(f, p)
	if err != nil {
		return nil, err
	}
	ids, err := f.IDs(p)
	if err == nil && len(out) < len(ids) {
		first := slices.IndexFunc(ids, func(id int) bool { return !slices.Contains(p.Train.IDs, id) })
		return nil, fmt.Errorf("%d of the %d records that %q names are in the test part, which no model is trained on; the first is record %d",
			len(ids)-len(out), len(ids), f.Name(), ids[first])
	}
	return out, err
}

// Where forgets the records of a table that a condition on one column selects, such as
// those of one person, one hospital or a range of dates. Data that can be split so have
// them in the train part (KeepingData).
type Where datasets.Condition

// WhereText returns the forget set of a condition in words: person_id=17, age>=65,
// visit=2020-01-01..2020-03-31, hospital in A,B (datasets.ParseCondition).
func WhereText(condition string) (Where, error) {
	c, err := datasets.ParseCondition(condition)
	return Where(c), err
}

// Name implements ForgetSet.
func (f Where) Name() string {
	plain := strings.Map(func(r rune) rune {
		if validName(string(r)) || r == '.' {
			return r
		}
		return '-'
	}, datasets.Condition(f).String())
	if len(plain) > 40 {
		plain = plain[:40]
	}
	return fmt.Sprintf("where-%s-%s", plain, shortHash(f))
}

// IDs implements NamedForgetSet.
func (f Where) IDs(p *datasets.Prepared) ([]int, error) {
	return datasets.Condition(f).Rows(p.About.Columns)
}

// Rows implements ForgetSet.
func (f Where) Rows(p *datasets.Prepared) ([]int, error) { return namedRows(f, p) }

// About implements DescribedForgetSet.
func (f Where) About(n int) string {
	if n == 1 {
		return "the record with " + datasets.Condition(f).String()
	}
	return fmt.Sprintf("the %d records with %s", n, datasets.Condition(f).String())
}

// Mask says of every record of the source whether it is to be forgotten. It has an entry
// per record, in both parts.
type Mask []bool

// Name implements ForgetSet.
func (f Mask) Name() string {
	n := len(f.records())
	return fmt.Sprintf("mask-%d-%s", n, shortHash([]bool(f)))
}

// records returns the numbers of the records to forget.
func (f Mask) records() (out Records) {
	for i, is := range f {
		if is {
			out = append(out, i)
		}
	}
	return out
}

// IDs implements NamedForgetSet.
func (f Mask) IDs(p *datasets.Prepared) ([]int, error) {
	if n := sourceRecords(p); len(f) != n {
		return nil, fmt.Errorf("the mask has %d entries, there are %d records", len(f), n)
	}
	if len(f.records()) == 0 {
		return nil, errors.New("the mask names no record")
	}
	return f.records().IDs(p)
}

// Rows implements ForgetSet. A record outside of the train part is an error.
func (f Mask) Rows(p *datasets.Prepared) ([]int, error) { return allNamedRows(f, p) }

// About implements DescribedForgetSet.
func (f Mask) About(n int) string { return Records(nil).About(n) }

// sourceRecords returns the number of records in the source.
func sourceRecords(p *datasets.Prepared) int {
	if len(p.About.Columns) > 0 {
		return p.About.Columns[0].Rows()
	}
	return 1 + max(slices.Max(p.Train.IDs), slices.Max(p.Test.IDs))
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

// filterRows returns the rows of the train part for which member is true, ascending.
func filterRows(p *datasets.Prepared, member func(row int) bool) (out []int) {
	for i := range p.Train.X.Rows {
		if member(i) {
			out = append(out, i)
		}
	}
	return out
}

// planter is a forget set that changes the records of the train part: they do not exist
// before.
type planter interface {
	ForgetSet
	plant(p *datasets.Prepared) error
}

// Divide returns the rows of the train part to forget and the other rows, ascending.
func (s Setting) Divide(p *datasets.Prepared) (forget, retain []int, err error) {
	s = s.withDefaults()
	forget, err = s.Forget.Rows(p)
	if err == nil {
		err = checkForgetRows(forget, p.Train.X.Rows)
	}
	if err == nil && len(forget) == 0 {
		err = fmt.Errorf("no row of %q is in the train part", s.Forget.Name())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("data set %s: %w", s.DataSet(), err)
	}
	return forget, complementRows(p, forget), nil
}

// checkForgetRows returns an error for rows of a forget set that are not ascending rows of
// the train part or are all of it.
func checkForgetRows(rows []int, n int) error {
	for i, r := range rows {
		if r < 0 || r >= n || i > 0 && r <= rows[i-1] {
			return fmt.Errorf("the rows to forget must be ascending and below %d; entry %d is %d", n, i, r)
		}
	}
	if len(rows) == n {
		return fmt.Errorf("all %d records of the train part are to be forgotten; nothing is retained", n)
	}
	return nil
}

// forgetWithDefaults returns a forget set with its defaults; nil: Random.
func forgetWithDefaults(f ForgetSet) ForgetSet {
	switch f := f.(type) {
	case nil:
		return Random{}.withDefaults()
	case Random:
		return f.withDefaults()
	case Scattered:
		f.Seed = cmp.Or(f.Seed, CellsSeed)
		return f
	case Backdoor:
		return f.withDefaults()
	case User:
		return f.withDefaults()
	}
	return f
}

// The two functions below go by type and not by method: a type of another module that embeds
// one of these would inherit the method.

// forgetCoordinates returns what identifies a forget set in a job's coordinates. The form
// of the built-in sets is recorded and must not change: a name, a fraction and a seed.
func forgetCoordinates(f ForgetSet) any {
	switch f := f.(type) {
	case Random:
		return []any{"", f.Fraction, f.Seed}
	case Planted:
		return []any{string(f), 0, 0}
	case Class:
		return []any{string(f), 0, 0}
	case Scattered:
		return []any{"", 0, f.Seed, f.Count, nil}
	case Series:
		return []any{"", 0, 0, 0, []int(f)}
	case Backdoor:
		return []any{"", 0, f.Seed}
	case User:
		return []any{"", 0, f.Seed}
	}
	return namedConfig{Name: f.Name(), Setting: f}
}

// forgetCount estimates the number of records to forget of n.
func forgetCount(f ForgetSet, n int) int {
	share := 0.05
	switch f := f.(type) {
	case Random:
		share = f.Fraction
	case Backdoor:
		share = f.Fraction
	case User:
		share = cmp.Or(f.Share, 1) / float64(max(1, f.Users.Count))
	case Records:
		return max(1, len(f))
	case Mask:
		return max(1, len(f.records()))
	case Where:
		share = 0
	case Planted, Class, Scattered, Series:
		share = 0
	}
	return max(1, int(share*float64(n)))
}

// shortHash returns eight hex digits of the hash of a value without pointers.
func shortHash(v any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", v))
	return hex.EncodeToString(sum[:4])
}

// seedRoot is the seed of a forget set as a root of random streams.
func seedRoot(seed uint32) engine.Root { return engine.Root(cmp.Or(seed, ForgetSeed)) }
