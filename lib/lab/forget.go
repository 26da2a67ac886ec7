// Forget sets: which records of the train part a model has to forget.

package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
)

// ForgetSet says which records of the train part a model has to forget: [Random],
// [RandomGroups], [Records], [Class], [Planted], [Scattered], [Series], [Backdoor] or [User]. A value of
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
func (f Class) About(n int) string {
	return fmt.Sprintf("the %d records of class %s in the train part", n, string(f))
}

// aboutIn is About with the records of the class that are held out.
func (f Class) aboutIn(p *datasets.Prepared, n int) string {
	class, total := slices.Index(p.About.Classes, string(f)), 0
	for _, part := range [][]int{p.Train.Y, p.Test.Y} {
		for _, y := range part {
			if y == class {
				total++
			}
		}
	}
	if total <= n {
		return fmt.Sprintf("all %d records of class %s", n, string(f))
	}
	return fmt.Sprintf("%d of the %d records of class %s (the others are held out)", n, total, string(f))
}

// ForgetSetWords says in words which records are forgotten, before any are known: "a random 5 % of the records in the train part,
// at least 10, drawn anew for every seed". Forget sets of other kinds say their name.
func (s Setting) ForgetSetWords() string {
	const drawn = ", drawn anew for every seed"
	switch f := forgetWithDefaults(s.Forget).(type) {
	case Random:
		return fmt.Sprintf("a random %g %% of the records in the train part, at least %d%s", 100*f.Fraction, datasets.MinForget, drawn)
	case RandomGroups:
		return f.share() + drawn
	case Where:
		return "the records with " + datasets.Condition(f).String()
	case Class:
		return "the records of class " + string(f) + " in the train part"
	case Records:
		return f.About(len(f))
	case Mask:
		return f.About(len(f.records()))
	default:
		return f.Name()
	}
}

// DescribeForgetSet returns what a title calls the n records of prepared data that are forgotten, "" if
// the forget set is no DescribedForgetSet.
func DescribeForgetSet(f ForgetSet, p *datasets.Prepared, n int) string {
	if a, is := f.(interface {
		aboutIn(p *datasets.Prepared, n int) string
	}); is {
		return a.aboutIn(p, n)
	}
	if d, is := f.(DescribedForgetSet); is {
		return d.About(n)
	}
	return ""
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
		err = fmt.Errorf("no row of %s is in the train part", describe(s.Forget, 0))
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
	case RandomGroups:
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
	case RandomGroups:
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
