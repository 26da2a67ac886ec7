// Loading the sets of records: what was to be forgotten, retained and held out.

package judge

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// loadSets reads the rows of the three sets and reports records that are in two of them.
func (a *loader) loadSets() {
	e := a.e
	owner := make([]audit.Set, e.Records)
	if len(a.Forget) == 0 {
		a.problems.add("", "the records to be forgotten are not named: forget.npy, row numbers or a mask")
	}
	var rest *[]int
	for _, s := range []struct {
		set   audit.Set
		files Files
		to    *[]int
	}{{Forget, a.Forget, &e.Forget}, {Retain, a.Retain, &e.Retain}, {HeldOut, a.HeldOut, &e.HeldOut}} {
		switch {
		case len(s.files) == 0:
		case s.files[0] == Rest && s.set == Forget:
			a.problems.add("audit.json", "forget is %q: what was to be forgotten must be named", Rest)
		case s.files[0] == Rest && rest != nil:
			a.problems.add("audit.json", "retain and heldout are both %q", Rest)
		case s.files[0] == Rest:
			rest = s.to
		default:
			*s.to = a.loadSet(s.set, s.files, owner)
		}
	}
	for i, o := range owner {
		if rest != nil && o == "" {
			*rest = append(*rest, i)
		}
	}
}

// loadSet reads the rows of a set and enters them into owner.
func (a *loader) loadSet(set audit.Set, files Files, owner []audit.Set) []int {
	name := strings.Join(files, " + ")
	if len(files) > 1 {
		a.problems.add(name, "the rows of a set must be in one file")
		return nil
	}
	rows, ok := a.loadRows(name)
	if !ok {
		return nil
	}
	shared := occurrences{}
	for _, i := range rows {
		if owner[i] != "" {
			shared.add(fmt.Sprintf("row %d", i))
		}
		owner[i] = set
	}
	if shared.n > 0 {
		a.problems.add(name, "%s is in another set too%s: forget, retain and heldout must share no record", shared.first, shared.moreText())
	}
	return rows
}

// loadRows reads row numbers, or a mask over all records, and returns valid rows, each once.
func (a *loader) loadRows(name string) ([]int, bool) {
	if info, err := npy.ReadLabelInfo(a.path(name)); err == nil && (info.Kind() == 'U' || info.Kind() == 'S') {
		a.problems.add(name, "%s is text, and row numbers or a mask of bools are expected", info)
		return nil, false
	}
	info, ok := a.header(name)
	if !ok {
		return nil, false
	}
	if info.Kind() != 'b' {
		rows, err := npy.ReadIndices(a.path(name))
		if err != nil {
			a.problems.add(name, "%s", a.textWithoutPath(name, err))
			return nil, false
		}
		if len(rows) == 0 {
			a.problems.add(name, "no rows")
		}
		return a.distinct(name, rows), len(rows) > 0
	}
	masks, err := npy.ReadMask(a.path(name))
	switch {
	case err != nil:
		a.problems.add(name, "%s", a.textWithoutPath(name, err))
		return nil, false
	case len(masks) != 1 || len(masks[0]) != a.e.Records:
		a.problems.add(name, "a mask of shape %s, and there are %d records", info, a.e.Records)
		return nil, false
	}
	var rows []int
	for i, in := range masks[0] {
		if in {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		a.problems.add(name, "a mask without a record")
	}
	return rows, len(rows) > 0
}

// distinct leaves out, and reports, rows that do not exist and rows named before. A mask that was
// saved as integers names rows 0 and 1 again and again.
func (a *loader) distinct(name string, rows []int) (out []int) {
	twice, outside := occurrences{}, occurrences{}
	seen := make([]bool, a.e.Records)
	for k, i := range rows {
		switch {
		case i >= len(seen):
			outside.add(fmt.Sprintf("element %d is %d", k, i))
		case seen[i]:
			twice.add(fmt.Sprintf("row %d", i))
		default:
			seen[i] = true
			out = append(out, i)
		}
	}
	if outside.n > 0 && len(seen) > 0 {
		a.problems.add(name, "%s, and there are %d records (0 to %d)%s", outside.first, len(seen), len(seen)-1, outside.moreText())
	}
	if twice.n > 0 {
		hint := ""
		if len(rows) == len(seen) {
			hint = "; if this is a mask, save it as bools"
		}
		a.problems.add(name, "%s is named twice%s%s", twice.first, twice.moreText(), hint)
	}
	return out
}

// occurrences keeps the first of many findings and their number.
type occurrences struct {
	first string
	n     int
}

func (c *occurrences) add(what string) {
	if c.n == 0 {
		c.first = what
	}
	c.n++
}

// moreText is empty for one occurrence, and otherwise " (and N more)".
func (c *occurrences) moreText() string {
	if c.n < 2 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", c.n-1)
}
