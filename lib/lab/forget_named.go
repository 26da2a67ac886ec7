// Forget sets that name their records: by number, by mask, by a condition on a column.

package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
)

// NamedForgetSet is a forget set that names its records without regard to the split.
type NamedForgetSet interface {
	ForgetSet
	// IDs returns the numbers of the records in their source, ascending, whatever part they
	// are in.
	IDs(p *datasets.Prepared) ([]int, error)
}

// Records are the numbers of records in their source, from 0: rows of a table (as it is
// reduced by Table.MaxRows), images of a published part. Records of a file that were left out count
// (datasets.Numbering). Data that can be split so have them in the train part (KeepingData).
type Records []int

// Name implements ForgetSet.
func (f Records) Name() string { return fmt.Sprintf("records-%d-%s", len(f), shortHash([]int(f))) }

// IDs implements NamedForgetSet.
func (f Records) IDs(p *datasets.Prepared) ([]int, error) {
	if len(f) == 0 {
		return nil, errors.New("no record is named")
	}
	ids, err := p.About.Numbering.IDs(f)
	if err != nil {
		return nil, err
	}
	known := map[int]bool{}
	for _, ids := range [][]int{p.Train.IDs, p.Test.IDs} {
		for _, id := range ids {
			known[id] = true
		}
	}
	out := slices.Sorted(slices.Values(ids))
	for i, id := range out {
		if i > 0 && id == out[i-1] {
			return nil, fmt.Errorf("record %d is named twice", p.About.Numbering.Number(id))
		}
		if n := p.About.Numbering; !known[id] && n != nil && id >= 0 && id < n.Total {
			return nil, fmt.Errorf("record %d was left out when the data were read; records are numbered as in the file, from 0", id)
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
		return nil, fmt.Errorf("%s: none is in the train part, and no model is trained on the others", describe(f, len(ids)))
	}
	return out, nil
}

// describe returns what a message calls the n records of a forget set.
func describe(f ForgetSet, n int) string {
	if d, is := f.(DescribedForgetSet); is {
		return d.About(n)
	}
	return fmt.Sprintf("%q", f.Name())
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
		return nil, fmt.Errorf("%s: %d are in the test part, which no model is trained on; the first is record %d",
			describe(f, len(ids)), len(ids)-len(out), p.About.Numbering.Number(ids[first]))
	}
	return out, err
}

// Where forgets the records of a table that a condition on one column selects, such as
// those of one person, one hospital or a range of dates. Data that can be split so have
// them in the train part (KeepingData). Of data with a test part of their own those in the train
// part are forgotten, and a title says how many are in the other (DescribeForgetSet).
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
	ids, err := datasets.Condition(f).Rows(p.About.Columns)
	if err == nil && len(ids) == 0 {
		err = fmt.Errorf("no record has %s", datasets.Condition(f).String())
	}
	return ids, err
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

// aboutIn is About with the records of the condition that a given test part holds: nobody can have them in training.
func (f Where) aboutIn(p *datasets.Prepared, n int) string {
	held := HeldOutNamed(f, p)
	if held == 0 {
		return f.About(n)
	}
	are := "are"
	if held == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of the %d records with %s (%d %s in the test part)", n, n+held, datasets.Condition(f).String(), held, are)
}

// HeldOutNamed returns the number of records of the test part that a forget set names, and that are therefore not forgotten.
// There are some where the data have a test part of their own; it is 0 for a forget set that names no records.
func HeldOutNamed(f ForgetSet, p *datasets.Prepared) (n int) {
	named, is := f.(NamedForgetSet)
	if !is {
		return 0
	}
	ids, err := named.IDs(p)
	if err != nil {
		return 0 // Rows said so
	}
	for _, id := range p.Test.IDs {
		if _, found := slices.BinarySearch(ids, id); found {
			n++
		}
	}
	return n
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
	q := *p
	if n := p.About.Numbering; n != nil { // the number of entries says what they count
		q.About.Numbering = &datasets.Numbering{Kept: n.Kept, Total: n.Total}
	}
	return f.records().IDs(&q)
}

// Rows implements ForgetSet. A record outside of the train part is an error.
func (f Mask) Rows(p *datasets.Prepared) ([]int, error) { return allNamedRows(f, p) }

// About implements DescribedForgetSet.
func (f Mask) About(n int) string { return Records(nil).About(n) }

// sourceRecords returns the number of records in the source.
func sourceRecords(p *datasets.Prepared) int {
	if n := p.About.Numbering; n != nil {
		return n.Total
	}
	if len(p.About.Columns) > 0 {
		return p.About.Columns[0].Rows()
	}
	return 1 + max(slices.Max(p.Train.IDs), slices.Max(p.Test.IDs))
}
