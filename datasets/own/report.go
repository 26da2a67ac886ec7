// The report on a table: what was found, in numbers and in print.

package own

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/lethe-ml/lethe/datasets"
)

// Report says what was found in the file of a table.
type Report struct {
	File         string // its name without the folder
	Rows         int
	Separator    rune
	DecimalComma bool
	Target       string
	Texts        string // the column of the texts, "" for a table of features
	Classes      []ClassCount
	Columns      []FoundColumn // in the order of the file
	Notes        []string      // sentences on what one may not expect

	bare map[string]string // notes that show cells of identifiers, groups or texts, and what they are without these
}

// ClassCount is a class and its number of records.
type ClassCount struct {
	Name    string
	Records int
}

// FoundColumn says what was found of a column.
type FoundColumn struct {
	Name string
	Kind datasets.ColumnKind
	Role Role

	// Forced says that an option determined the kind or the role.
	Forced bool

	// Distinct counts the different cells without the missing ones, of numbers up to
	// MaxDistinct. Missing counts the missing cells. Both are 0 for an ignored column.
	Distinct, Missing int

	// Examples are the first different cells, as written.
	Examples []string

	why string // a sentence on the role, if it is not what one may expect
}

// Report returns what was found.
func (t *Table) Report() Report { return t.report }

// String prints what was found: a line on the file, one on the target, a row per column, notes.
func (t *Table) String() string { return t.report.String() }

// String prints the report.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, separated by %s\n", r.File, count(r.Rows, "row"), count(len(r.Columns), "column"), r.format())
	fmt.Fprintf(&b, "target %s: %s; %s\n\n", r.Target, classList(r.Classes), r.learnedFrom())
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(ColumnTitles(), "\t"))
	for _, c := range r.Columns {
		fmt.Fprintln(w, strings.Join(c.Cells(), "\t"))
	}
	w.Flush() // into memory
	if len(r.Notes) > 0 {
		b.WriteString("\n" + strings.Join(r.Notes, "\n") + "\n")
	}
	return trimLines(b.String())
}

// trimLines removes the blanks that fill up the last column.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for k := range lines {
		lines[k] = strings.TrimRight(lines[k], " ")
	}
	return strings.Join(lines, "\n")
}

// learnedFrom says what a model learns from.
func (r Report) learnedFrom() string {
	if r.Texts != "" {
		return "the texts are in " + r.Texts
	}
	features := 0
	for _, c := range r.Columns {
		if c.Role == RoleFeature {
			features++
		}
	}
	return count(features, "feature")
}

func (r Report) format() string {
	name := map[rune]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "|", ' ': "blanks"}[r.Separator]
	if name == "" {
		name = strconv.QuoteRune(r.Separator)
	}
	if r.DecimalComma {
		name += ", with decimal commas"
	}
	return name
}

// ColumnTitles are the titles of what Cells returns.
func ColumnTitles() []string {
	return []string{"column", "kind", "role", "distinct", "missing", "examples"}
}

// Cells returns what was found of a column in print, as the titles say; long names and examples are clipped.
func (c FoundColumn) Cells() []string {
	if c.Role == RoleIgnored {
		return []string{oneLine(c.Name), "", string(c.Role), "", "", ""}
	}
	kind, role := c.Kind.String(), string(c.Role)
	switch {
	case c.Forced && c.Role == RoleIdentifier:
		role += " (forced)"
	case c.Forced:
		kind += " (forced)"
	}
	number := strconv.Itoa(c.Distinct)
	if c.Kind.Numeric() && c.Distinct >= MaxDistinct {
		number = strconv.Itoa(MaxDistinct) + " or more"
	}
	examples := make([]string, len(c.Examples))
	for k, e := range c.Examples {
		examples[k] = oneLine(e)
	}
	return []string{oneLine(c.Name), kind, role, number, strconv.Itoa(c.Missing), strings.Join(examples, ", ")}
}

// oneLine clips a text and prints line breaks and tabs as \n and \t.
func oneLine(text string) string {
	const most = 24
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "..."
	}
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
}

func classList(classes []ClassCount) string {
	list := make([]string, len(classes))
	for k, c := range classes {
		list[k] = fmt.Sprintf("%s (%d)", c.Name, c.Records)
	}
	return firstOf(list)
}

func count(n int, what string) string {
	switch {
	case n != 1 && strings.HasSuffix(what, "s"):
		what += "es"
	case n != 1:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// addNotes adds what one may not expect of a table.
func (b *build) addNotes(r *Report) {
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	if b.dropped > 0 {
		note("%s without a target: left out.", count(b.dropped, "row"))
	}
	if b.empty > 0 {
		note("%s without any value: left out.", count(b.empty, "line"))
	}
	if b.total > b.rows {
		note("The numbers of records count all %d records of the file, from 0, those that are left out among them.", b.total)
	}
	nameless := len(b.names) - len(namedOnly(b.names))
	if nameless > 0 {
		note("%s without a name and without a value: left out.", count(nameless, "column"))
	}
	if b.textless > 0 {
		note("%s without a text: left out.", count(b.textless, "row"))
	}
	if b.numerals > 1 {
		note("The first line was taken for the names of the columns, though %d of its %d cells are numbers. If it is a record, "+
			"Header(\"a\", \"b\", ...) gives the names.", b.numerals, len(b.names))
	}
	if b.rowNames {
		note("The first column has no name: it is called %s, and is no feature.", b.names[0])
	}
	if text := b.absentClassNote(); text != "" {
		note("%s", text)
	}
	for _, text := range b.unseen {
		note("Missing(%q): no cell is written so.", text)
	}
}

// addColumnNotes adds what one may not expect of the columns of a table.
func (b *build) addColumnNotes(r *Report) {
	roles := map[string]FoundColumn{}
	for _, c := range r.Columns {
		roles[c.Name] = c
	}
	bare := b.hideCells(func(j int) bool { return roles[b.names[j]].Role.isPrivate() })
	r.bare = map[string]string{}
	for j := range b.columns {
		c := roles[b.names[j]]
		if b.skips(j) || c.Role == RoleTarget {
			continue
		}
		notes, without := b.notes(j), bare.notes(j)
		for k, note := range notes {
			if note != without[k] {
				r.bare[note] = without[k]
			}
		}
		r.Notes = append(r.Notes, notes...)
		if c.why != "" {
			r.Notes = append(r.Notes, c.Name+": "+c.why)
		}
	}
}

// addTellTales adds a note for every feature that alone says the class: often the target in other
// words.
func (t *Table) addTellTales() {
	for _, j := range t.feature {
		if c := t.about.Columns[j]; saysClass(c, t.y, len(t.about.Classes)) {
			note := fmt.Sprintf("%s: it alone says the class wherever it has a value. If it is the target in other words, Ignore(%q) leaves it out.",
				c.Name, c.Name)
			t.report.Notes = append(t.report.Notes, note)
		}
	}
}

// addNamesAlike adds a note for every column in which names differ in spelling alone: they are often one name, written in two
// ways. Identifiers are not shown, because the note is part of a report that is passed on.
func (r *Report) addNamesAlike(columns []datasets.Column) {
	for _, c := range columns {
		one, other, found := datasets.SpeltAlike(c.Values)
		if !found {
			continue
		}
		switch k := slices.IndexFunc(r.Columns, func(f FoundColumn) bool { return f.Name == c.Name }); r.Columns[k].Role {
		case RoleIdentifier, RoleGroup:
			r.Notes = append(r.Notes, fmt.Sprintf("%s: the values of records %d and %d, from 0, differ in capitals or spaces alone; a condition that names "+
				"one of them does not name the other.", c.Name, firstRow(c, one), firstRow(c, other)))
		case RoleFeature, RoleTarget:
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %q and %q are two categories, which differ in capitals or spaces alone.", c.Name, one, other))
		}
	}
}

// firstRow is the first row with a name.
func firstRow(c datasets.Column, name string) int {
	return slices.Index(c.Codes, int32(slices.Index(c.Values, name)))
}

// fewRows are too few rows to say so: chance can do it.
const fewRows = 20

// saysClass reports whether the known cells of a column separate the classes: each value has one
// class, and five rows or more on average; or of two classes one has the greater numbers.
func saysClass(c datasets.Column, y []int, classes int) bool {
	classOf := map[float64]int{}
	low, high := map[int]float64{}, map[int]float64{}
	known := 0
	for i, class := range y {
		value, ok := cellValue(c, i)
		if !ok {
			continue
		}
		known++
		if other, seen := classOf[value]; seen && other != class {
			return false
		}
		classOf[value] = class
		if old, seen := low[class]; !seen || value < old {
			low[class] = value
		}
		if old, seen := high[class]; !seen || value > old {
			high[class] = value
		}
	}
	pure := 5*len(classOf) <= known
	if known < fewRows || len(low) < 2 {
		return false
	}
	apart := c.Kind.Numeric() && classes == 2 && (high[0] < low[1] || high[1] < low[0])
	return pure || apart
}

// cellValue returns the number or the code of a cell; ok is false for a missing one.
func cellValue(c datasets.Column, i int) (value float64, ok bool) {
	if c.Kind.Numeric() {
		return c.Numbers[i], !math.IsNaN(c.Numbers[i])
	}
	return float64(c.Codes[i]), c.Codes[i] >= 0
}
