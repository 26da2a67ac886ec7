// Options of ReadTable, most of them of ReadTexts too.

package own

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets"
)

// TableOption is an option of ReadTable and ReadTexts.
type TableOption func(*tableSettings) error

// tableSettings are the resolved options. They are part of the table's key, so a field with another
// meaning gets another name.
type tableSettings struct {
	Target         string            `json:",omitempty"`
	Above          *float64          `json:",omitempty"` // the target is a number above this one
	Forced         map[string]forced `json:",omitempty"`
	Separator      rune              `json:",omitempty"`
	DecimalComma   bool              `json:",omitempty"`
	Missing        []string          `json:",omitempty"`
	NotMissing     []string          `json:",omitempty"`
	Header         []string          `json:",omitempty"`
	DropUnlabelled bool              `json:",omitempty"`
	Group          string            `json:",omitempty"` // of a table; that of texts is in Texts
	CopiesTogether bool              `json:",omitempty"`
	Texts          *textSettings     `json:",omitempty"` // nil: the records are no texts
}

// forced is what the user says of a column.
type forced struct {
	What   what   `json:",omitempty"`
	Layout string `json:",omitempty"` // of a date
}

type what string

const (
	forcedNumber     what = "number"
	forcedThousands  what = "number with marks between thousands"
	forcedCategory   what = "category"
	forcedDate       what = "date"
	forcedIdentifier what = "identifier"
	forcedIgnored    what = "ignored"
)

// Target names the column that is predicted. Its distinct values are the classes.
func Target(column string) TableOption {
	return func(s *tableSettings) error { return s.setTarget(column) }
}

// Above makes two classes of a column of numbers: values up to the given one, and values above it.
// It names the target, as Target does.
func Above(column string, value float64) TableOption {
	return func(s *tableSettings) error {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("Above(%q, %v): a finite number is needed", column, value)
		}
		s.Above = &value
		return s.setTarget(column)
	}
}

func (s *tableSettings) setTarget(column string) error {
	if column == "" || s.Target != "" && s.Target != column {
		return fmt.Errorf("the target is %q and %q: one column is the target", s.Target, column)
	}
	s.Target = column
	return nil
}

// Number reads columns as numbers and refuses other cells. Without it a column is one of numbers
// if all its cells are. A point or a comma stands before decimals: Number settles it for a column in
// which it could stand between thousands. Whole numbers beyond 2^53 that a float64 does not hold are
// refused.
func Number(columns ...string) TableOption { return force(forced{What: forcedNumber}, columns) }

// Thousands reads columns as numbers with marks between thousands: 27.398 and 1.234,5, or 27,398 and
// 1,234.5, or 27'398 or 27 398, the same mark in a whole column. A decimal mark is the other one.
func Thousands(columns ...string) TableOption { return force(forced{What: forcedThousands}, columns) }

// Category reads columns as names, numbers too: of postal codes, for instance.
func Category(columns ...string) TableOption { return force(forced{What: forcedCategory}, columns) }

// Date reads a column as dates in one of Go's layouts: 02/01/2006 is day, month and year. Without
// it only ISO 8601 is read as a date (2006-01-02, 2006-01-02T15:04:05).
func Date(column, layout string) TableOption {
	return func(s *tableSettings) error {
		if err := checkLayout(layout); err != nil {
			return fmt.Errorf("Date(%q, %q): %w", column, layout, err)
		}
		return force(forced{What: forcedDate, Layout: layout}, []string{column})(s)
	}
}

// checkLayout returns an error for a layout that loses the day, such as DD/MM/YYYY.
func checkLayout(layout string) error {
	day := time.Date(1987, time.November, 23, 0, 0, 0, 0, time.UTC)
	t, err := time.Parse(layout, day.Format(layout))
	if err != nil || t.Year() != 1987 && t.Year() != 2087 || t.Month() != day.Month() || t.Day() != day.Day() {
		return fmt.Errorf("the layout needs day 02, month 01 or Jan, and year 2006: 02/01/2006 reads day/month/year")
	}
	return nil
}

// Identifier keeps columns out of the features. A forget set can name them: person_id=17.
func Identifier(columns ...string) TableOption { return force(forced{What: forcedIdentifier}, columns) }

// Ignore leaves columns out altogether.
func Ignore(columns ...string) TableOption { return force(forced{What: forcedIgnored}, columns) }

func force(f forced, columns []string) TableOption {
	return func(s *tableSettings) error {
		for _, name := range columns {
			if old, twice := s.Forced[name]; twice && old != f {
				return fmt.Errorf("the column %q is said to be %s and %s", name, old.What, f.What)
			}
			if s.Forced == nil {
				s.Forced = map[string]forced{}
			}
			s.Forced[name] = f
		}
		return nil
	}
}

// Separator says what separates cells, where the file leaves it open.
func Separator(separator rune) TableOption {
	return func(s *tableSettings) error {
		if separator == 0 || separator == '"' || separator == '\r' || separator == '\n' || separator == utf8.RuneError || !utf8.ValidRune(separator) {
			return fmt.Errorf("%q cannot separate cells", separator)
		}
		s.Separator = separator
		return nil
	}
}

// DecimalComma reads 1,5 as one and a half. It is found without it in files that are separated by
// semicolons.
func DecimalComma() TableOption {
	return func(s *tableSettings) error { s.DecimalComma = true; return nil }
}

// Missing names further texts of missing values, beside an empty cell, NA, N/A, #N/A, <NA>, nan,
// NaN, NaT, NULL, null and ?, and None, n/a and the rarer texts of pandas in columns of numbers or
// dates.
func Missing(texts ...string) TableOption {
	return func(s *tableSettings) error { return s.addAbsences(&s.Missing, texts) }
}

// NotMissing names texts that are values in this file, such as NA for Namibia, though they stand for a missing value
// elsewhere (Missing). An empty cell is always missing.
func NotMissing(texts ...string) TableOption {
	return func(s *tableSettings) error { return s.addAbsences(&s.NotMissing, texts) }
}

// addAbsences adds texts to one of the lists of what is missing and what is not.
func (s *tableSettings) addAbsences(list *[]string, texts []string) error {
	for _, text := range texts {
		*list = append(*list, strings.TrimSpace(text))
	}
	slices.Sort(*list)
	*list = slices.Compact(*list)
	for _, text := range s.NotMissing {
		if text == "" {
			return errors.New("NotMissing(\"\"): an empty cell is always a missing value")
		}
		if slices.Contains(s.Missing, text) {
			return fmt.Errorf("Missing(%q) and NotMissing(%q): it is one of them", text, text)
		}
	}
	return nil
}

// Header gives the names of the columns of a file whose first line is a record.
func Header(columns ...string) TableOption {
	return func(s *tableSettings) error {
		if len(columns) == 0 {
			return fmt.Errorf("Header() needs the names of all columns")
		}
		s.Header = columns
		return nil
	}
}

// DropUnlabelled leaves out the rows without a target. Without it they are an error.
func DropUnlabelled() TableOption {
	return func(s *tableSettings) error { s.DropUnlabelled = true; return nil }
}

// Group names the column that says whom a record belongs to, such as a patient or an author: the
// split into a train and a test part keeps the records of one together, and intervals count groups. A
// record without a value is a group of its own. The column is no feature.
//
// Texts that are equal are kept together where no group is named.
func Group(column string) TableOption {
	return func(s *tableSettings) error {
		if column == "" || s.Group != "" && s.Group != column {
			return fmt.Errorf("the group is %q and %q: one column names it", s.Group, column)
		}
		s.Group = column
		return nil
	}
}

// CopiesTogether keeps the rows of a table whose features are all equal in one part. Without it
// they can be in both: then held-out records were trained on too, and less of a memory is seen than there is.
func CopiesTogether() TableOption {
	return func(s *tableSettings) error { s.CopiesTogether = true; return nil }
}

// isMissing reports whether a cell holds no value.
func (s *tableSettings) isMissing(cell string) bool {
	if slices.Contains(s.NotMissing, cell) {
		return false
	}
	switch cell {
	case "", "NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NaT", "NULL", "null", "?":
		return true
	}
	return slices.Contains(s.Missing, cell)
}

// checkNames returns an error for an option that names a column which the file does not have, or
// for a target that is said to be something that no target can be.
func (s *tableSettings) checkNames(columns []string) error {
	for _, name := range append(sortedKeys(s.Forced), s.Target) {
		if name != "" && !slices.Contains(columns, name) {
			return datasets.UnknownColumn(name, columns)
		}
	}
	if s.Target == "" {
		return fmt.Errorf("no target is named: say Target(column), with one of %s", firstOf(columns))
	}
	if err := s.checkGroup(columns); err != nil {
		return err
	}
	if s.Texts != nil {
		if err := s.checkTextColumns(columns); err != nil {
			return err
		}
	}
	f := s.Forced[s.Target]
	if f.What != "" && f.What != forcedNumber && f.What != forcedThousands && f.What != forcedCategory {
		return fmt.Errorf("the target %q cannot be said to be %s", s.Target, f.What)
	}
	if s.Above != nil && f.What == forcedCategory {
		return fmt.Errorf("the target %q cannot be a category and Above(%v)", s.Target, *s.Above)
	}
	return nil
}

// group is the column of Group, "" for none.
func (s *tableSettings) group() string {
	if s.Texts != nil {
		return s.Texts.Group
	}
	return s.Group
}

// checkGroup returns an error for a column of groups that cannot be one.
func (s *tableSettings) checkGroup(columns []string) error {
	switch g := s.group(); {
	case g == "":
		return nil
	case !slices.Contains(columns, g):
		return datasets.UnknownColumn(g, columns)
	case s.Target == g:
		return fmt.Errorf("the column %q is named as the target and as the group; name two columns", g)
	case s.Forced[g].What == forcedIgnored:
		return fmt.Errorf("the column %q cannot be the group and ignored", g)
	}
	return nil
}

func sortedKeys(m map[string]forced) (keys []string) {
	for name := range m {
		keys = append(keys, name)
	}
	slices.Sort(keys)
	return keys
}
