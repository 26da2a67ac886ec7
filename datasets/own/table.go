// Tables of the user's own: reading, and preparation for training.

package own

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Table is a table of the user's own, read and checked.
type Table struct {
	report  Report
	about   datasets.About // Columns in the order of the file, with identifiers and the target
	feature []int          // the positions of the features in Columns
	group   int            // the position of the column whose rows the split keeps together, -1: none
	y       []int

	copiesTogether bool // the split keeps equal rows together
	info           datasets.Info
}

// ReadTable reads a table in CSV or TSV, plain or as .gz, whose target is named by Target or
// Above.
//
// The separator (comma, semicolon, tab or |) is found from the file, and the first line holds the
// names of the columns. Cells can be quoted as in RFC 4180. Text is UTF-8. Empty cells, NA, N/A,
// #N/A, <NA>, nan, NaN, NaT, NULL, null and ? are missing; among numbers or dates None, n/a and the
// rarer texts of pandas are too. With semicolons, numbers have a decimal point or a decimal comma,
// the same in a whole column. Where such a mark could stand between thousands the table is refused;
// Thousands and Number settle it.
//
// A column whose cells are all numbers is one of numbers, and one of ISO 8601 dates is one of
// dates. Digits with a leading zero and whole numbers of more than 53 bits are codes, not numbers.
// Others are categories. Identifiers are no features: a first column without a name (pandas, R),
// texts that are all different or mostly different, whole numbers that are all different and count
// the rows, whole numbers and names in a column called id, person_id or the like, and more than 20
// of them in a column called patient, patient_no, user_name or the like. A column such as
// admission_type_id, at most 50 different values with at least 50 records each on average, holds
// codes: it is a feature, unless its name says that it identifies persons. Constant columns are no
// features. Options force what is found; String prints it, and warns of a feature that alone says
// the class.
//
// Features are encoded as those of the built-in tables: sorted categories, -1 for a missing one,
// the median of the column over all records for a missing number; a date is a number of days.
//
// Memory: about 30 bytes per cell, with Prepare. Errors name the file, the line and the column.
func ReadTable(path string, options ...TableOption) (*Table, error) {
	defer progress.Begin("reading "+filepath.Base(path), 0).Done()
	s := &tableSettings{}
	for _, o := range options {
		if err := o(s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if s.Texts != nil {
		return nil, fmt.Errorf("%s: the records of a table are no texts: Column, Tokens, MaxDocuments and DropEmpty are options of ReadTexts", path)
	}
	b, err := readFile(context.Background(), path, s)
	if err != nil {
		return nil, err
	}
	t, err := b.table()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// readFile reads the cells of a file.
func readFile(ctx context.Context, path string, s *tableSettings) (*build, error) {
	v, err := surveyFile(ctx, path, s)
	if err != nil {
		return nil, err
	}
	b, err := newBuild(v)
	if err != nil {
		return nil, err
	}
	return b, b.fill(ctx)
}

// build is the second reading of a file, which keeps the cells.
type build struct {
	*survey
	kinds   []datasets.ColumnKind
	numbers [][]float64
	ids     [][]int32 // of texts, in the order of their first occurrence
	seen    []map[string]int32
	texts   [][]string
	stored  int   // distinct texts of all columns
	bytes   int   // of these
	lines   []int // of the rows, if they are texts
	kept    []int // the numbers of the rows in the file, if some were left out
}

// maxTexts bounds the distinct texts that are kept, maxTextBytes their size.
const (
	maxTexts     = 1 << 25
	maxTextBytes = 4 << 30
)

func newBuild(v *survey) (*build, error) {
	n := len(v.columns)
	b := &build{survey: v, kinds: make([]datasets.ColumnKind, n), numbers: make([][]float64, n), ids: make([][]int32, n),
		seen: make([]map[string]int32, n), texts: make([][]string, n)}
	for j := range v.columns {
		kind, err := v.kindOf(j)
		if err != nil {
			return nil, err
		}
		b.kinds[j] = kind
	}
	return b, nil
}

// skips reports whether a column is not kept: it is ignored, or empty and without a name.
func (v *survey) skips(j int) bool { return v.force[j].What == forcedIgnored || v.names[j] == "" }

// numbering returns how the rows are numbered in the file; nil: from 0, as they are.
func (b *build) numbering() *datasets.Numbering {
	n := &datasets.Numbering{Kept: b.kept, Total: b.total}
	if b.blank > 0 {
		n.Unclear = fmt.Sprintf("%s has lines without anything between its records, the first is line %d; remove these lines, or use a condition on a column",
			filepath.Base(b.path), b.blank)
	}
	if n.Kept == nil && n.Unclear == "" {
		return nil
	}
	return n
}

// allocate makes room for all rows.
func (b *build) allocate() {
	for j, kind := range b.kinds {
		switch {
		case b.skips(j):
		case kind.Numeric():
			b.numbers[j] = make([]float64, 0, b.rows)
		default:
			b.ids[j], b.seen[j] = make([]int32, 0, b.rows), map[string]int32{}
		}
	}
}

// fill reads the file again.
func (b *build) fill(ctx context.Context) (err error) {
	known := *b.settings
	known.Separator = b.separator
	r, err := openRecords(b.path, &known)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	changed := fmt.Errorf("%s: the file changed while it was read", b.path)
	if len(r.names) != len(b.names) {
		return changed
	}
	b.allocate()
	rows := 0
	err = eachRecord(ctx, r, func(record []string) error {
		if b.unlabelled(record) || b.withoutText(record) {
			return nil
		}
		if rows++; rows > b.rows {
			return changed
		}
		if b.total > b.rows {
			b.kept = append(b.kept, r.count-1)
		}
		return b.add(r, record)
	})
	if err == nil && r.hash() != b.hash {
		err = changed
	}
	return err
}

func (b *build) add(r *records, record []string) error {
	if b.text >= 0 {
		b.lines = append(b.lines, r.cellLine(b.text))
	}
	for j, cell := range record {
		if b.skips(j) {
			continue
		}
		missing := b.isMissing(j, cell)
		switch {
		case b.kinds[j].Numeric() && missing:
			b.numbers[j] = append(b.numbers[j], math.NaN())
		case b.kinds[j].Numeric():
			value, err := b.cellNumber(j, b.kinds[j], cell)
			if err != nil {
				return r.cellError(j, "%w", err)
			}
			b.numbers[j] = append(b.numbers[j], value)
		case missing:
			b.ids[j] = append(b.ids[j], -1)
		default:
			if err := b.addText(r, j, cell); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *build) addText(r *records, j int, cell string) error {
	id, is := b.seen[j][cell]
	if !is {
		if b.stored++; b.stored > maxTexts {
			return r.cellError(j, "the table has more than %d distinct texts; leave columns out with Ignore(column)", maxTexts)
		}
		if b.bytes += len(cell); b.bytes > maxTextBytes {
			return r.cellError(j, "the distinct texts of the table have more than %d bytes; leave columns out with Ignore(column), or read a part of it",
				maxTextBytes)
		}
		id = int32(len(b.texts[j]))
		cell = strings.Clone(cell) // so that the whole record can be freed
		b.seen[j][cell] = id
		b.texts[j] = append(b.texts[j], cell)
	}
	b.ids[j] = append(b.ids[j], id)
	return nil
}

// table decides what every column is used for, and checks that a model can be trained.
func (b *build) table() (*Table, error) {
	t := &Table{group: -1, copiesTogether: b.settings.CopiesTogether}
	if err := b.describeColumns(t); err != nil {
		return nil, err
	}
	if t.group >= 0 {
		t.report.Notes = append(t.report.Notes, groupNote(t.about.Columns[t.group], "row"))
	}
	b.addNotes(&t.report)
	b.addColumnNotes(&t.report)
	b.addStandIns(&t.report, t.about.Columns)
	t.addTellTales()
	t.report.addNamesAlike(t.about.Columns)
	if len(t.feature) == 0 {
		return nil, noFeature(t.report.Columns)
	}
	t.describe(b)
	return t, nil
}

// describeColumns fills in the columns, their report and the classes.
func (b *build) describeColumns(t *Table) error {
	t.report = Report{File: filepath.Base(b.path), Rows: b.rows, Separator: b.separator, Target: b.settings.Target}
	for j, name := range b.names {
		if b.skips(j) {
			if name != "" {
				t.report.Columns = append(t.report.Columns, FoundColumn{Name: name, Role: RoleIgnored})
			}
			continue
		}
		c, found := b.column(j)
		if err := b.checkRead(j, c, found); err != nil {
			return err
		}
		t.report.DecimalComma = t.report.DecimalComma || c.Kind == datasets.Number && b.hasCommas(j)
		if j == b.target {
			found.Role = RoleTarget
			classes, y, err := b.settings.classes(&c)
			if err != nil {
				return fmt.Errorf("the target %s: %w", name, err)
			}
			t.about.Classes, t.y = classes, y
			if note := b.settings.numbersNote(&c, classes); note != "" {
				t.report.Notes = append(t.report.Notes, note)
			}
		}
		switch found.Role {
		case RoleGroup:
			t.group, t.about.GroupColumn = len(t.about.Columns), c.Name
		case RoleFeature:
			t.feature = append(t.feature, len(t.about.Columns))
		}
		t.about.Columns = append(t.about.Columns, c)
		t.report.Columns = append(t.report.Columns, found)
	}
	return nil
}

// checkRead refuses a column that was read as something that it hardly is.
func (b *build) checkRead(j int, c datasets.Column, found FoundColumn) error {
	o := &b.columns[j]
	switch {
	case j == b.target && o.forms[absent] > 0 && b.force[j].What == "" && o.only(integer, point, comma, infinite, absent):
		odd := o.first[absent]
		return fmt.Errorf("the target %s: line %d has %q among numbers: say Missing(%q) with DropUnlabelled if it is a missing value, "+
			"or Category(%q) if it is a class", c.Name, odd.line, odd.text, odd.text, c.Name)
	case j != b.target && b.text < 0 && !c.Kind.Numeric():
		return b.checkAlmost(j, found)
	}
	return nil
}

// column returns a column, and what was found of it.
func (b *build) column(j int) (datasets.Column, FoundColumn) {
	c := datasets.Column{Name: b.names[j], Kind: b.kinds[j], Numbers: b.numbers[j]}
	if !c.Kind.Numeric() {
		c = datasets.NewTextColumn(c.Name, datasets.Category, b.ids[j], b.texts[j])
		b.seen[j], b.texts[j] = nil, nil
	}
	found := FoundColumn{Name: c.Name, Missing: b.columns[j].missing, Examples: b.columns[j].examples, Forced: b.settings.Forced[c.Name].What != ""}
	found.Distinct = distinct(c)
	found.Role, found.why = b.role(j, c, found)
	if (found.Role == RoleIdentifier || found.Role == RoleText || found.Role == RoleGroup) && c.Kind == datasets.Category {
		c.Kind = datasets.Text
	}
	found.Kind = c.Kind
	return c, found
}

// The number of categories above which a column is text, if it is not forced. Up to few, half of
// the cells can be different.
const (
	maxCategories = 1000
	fewCategories = 20
)

// A column with the name of an identifier holds codes of things, such as of types of admission, if it has
// few different values and many records of each.
const (
	maxCodes    = 50
	codeRecords = 50
)

// role returns what a column that is not the target is used for, and a sentence where one may not
// expect it.
func (b *build) role(j int, c datasets.Column, found FoundColumn) (role Role, why string) {
	switch {
	case b.text >= 0:
		return b.textRole(j), ""
	case c.Name == b.settings.Group:
		return RoleGroup, ""
	case b.force[j].What == forcedIdentifier || j == 0 && b.rowNames && !found.Forced:
		return RoleIdentifier, ""
	case found.Distinct == 0, found.Distinct == 1 && (c.Kind.Numeric() || found.Missing == 0):
		return RoleConstant, ""
	case found.Forced || c.Kind == datasets.Date || c.Kind == datasets.Number && !b.columns[j].isWhole():
		return RoleFeature, ""
	}
	option := "Category"
	if c.Kind == datasets.Number {
		option = "Number"
	}
	known := b.columns[j].knownCells()
	if because := identifies(c, found.Distinct, known); because != "" {
		return RoleIdentifier, fmt.Sprintf("no feature, because %s; %s(%q) makes it one.", because, option, c.Name)
	}
	if !namesSomebody(c.Name) {
		if digits := codeDigits(c, known); digits > 0 {
			why = fmt.Sprintf("a feature, though its numbers of %d digits may be codes, as those of telephones. Identifier(%q) makes it an identifier; "+
				"Category(%q) reads it as names.", digits, c.Name, c.Name)
		}
		return RoleFeature, why
	}
	why = fmt.Sprintf("a feature, though it has the name of an identifier: %d different values in %d cells are codes. Identifier(%q) makes it an identifier",
		found.Distinct, known, c.Name)
	if c.Kind == datasets.Number {
		why += fmt.Sprintf("; it is read as numbers, and Category(%q) reads it as names", c.Name)
	}
	return RoleFeature, why + "."
}

// identifies says why a column of names or of whole numbers is one of identifiers, "" if it is none.
func identifies(c datasets.Column, different, known int) string {
	const byName = "it has the name of an identifier"
	coded := namesThing(c.Name) && different <= maxCodes && codeRecords*different <= known
	switch {
	case c.Kind == datasets.Category && different == known:
		return "all its values are different"
	case c.Kind == datasets.Category && different > maxCategories:
		return fmt.Sprintf("it has %d different values", different)
	case c.Kind == datasets.Category && different > fewCategories && 2*different > known:
		return "most of its values are different"
	case namesSomebody(c.Name) && !coded, namesPerson(c.Name) && different > fewCategories:
		return byName
	case c.Kind == datasets.Number && countsRows(c, known):
		return "its numbers are all different and follow each other, as those of rows do"
	case c.Kind == datasets.Number && looksLikeIdentifier(c.Name) && allDifferent(c, known):
		return byName + ", and its numbers are all different"
	}
	return ""
}

// codeDigits is the number of digits of numbers that may be codes: they have as many, seven or more, and most are different. 0: they
// are none.
func codeDigits(c datasets.Column, known int) int {
	const fewestDigits, rowsToJudge = 7, 10
	if c.Kind != datasets.Number || known < rowsToJudge {
		return 0
	}
	sorted := sortedNumbers(c)
	digits := len(strconv.FormatFloat(sorted[0], 'f', 0, 64))
	if sorted[0] <= 0 || digits < fewestDigits || sorted[len(sorted)-1] >= math.Pow10(digits) || 2*len(sorted) <= known {
		return 0
	}
	return digits
}

// allDifferent reports whether no number occurs twice. Numbers without the name of an identifier can be
// measured all the same: incomes, for instance.
func allDifferent(c datasets.Column, known int) bool { return len(sortedNumbers(c)) == known }

// countsRows reports whether whole numbers are all different and count the rows.
func countsRows(c datasets.Column, known int) bool {
	const rowsToCount = 10 // fewer can follow each other by chance
	sorted := sortedNumbers(c)
	return known >= rowsToCount && len(sorted) == known && sorted[known-1]-sorted[0] == float64(known-1)
}

// sortedNumbers returns the different numbers of a column, ascending.
func sortedNumbers(c datasets.Column) []float64 {
	sorted := slices.DeleteFunc(slices.Clone(c.Numbers), math.IsNaN)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// MaxDistinct bounds the count of distinct numbers in a Report.
const MaxDistinct = 100_000

// distinct returns the number of distinct cells that are not missing, of numbers up to MaxDistinct.
func distinct(c datasets.Column) int {
	if !c.Kind.Numeric() {
		return len(c.Values)
	}
	seen := map[float64]struct{}{}
	for _, v := range c.Numbers {
		if !math.IsNaN(v) && len(seen) < MaxDistinct {
			seen[v] = struct{}{}
		}
	}
	return len(seen)
}

// noFeature says why no column is left to learn from.
func noFeature(columns []FoundColumn) error {
	var why []string
	for _, c := range columns {
		if c.Role != RoleTarget {
			why = append(why, fmt.Sprintf("%s (%s)", c.Name, c.Role))
		}
	}
	if len(why) == 0 {
		return errors.New("there is no column beside the target")
	}
	return fmt.Errorf("no column is left to learn from: %s; Number(column) or Category(column) makes one a feature", firstOf(why))
}

// describe fills in what is known of the data.
func (t *Table) describe(b *build) {
	t.about.Name, t.about.Title = dataName(b.path), filepath.Base(b.path)
	t.about.Sources = []datasets.SourceFile{{Name: filepath.Base(b.path), SHA256: b.hash}}
	t.about.Numbering = b.numbering()
	t.about.Hash = key("table", struct {
		Settings *tableSettings
		Columns  []keyColumn
		Rows     int
		Numbered bool `json:",omitempty"` // as in the file: numbers of records once meant others
		Written  bool `json:",omitempty"` // times with an offset, which were once in UTC
	}{b.settings, keyColumns(t.report), b.rows, t.about.Numbering != nil, b.offsets()}, b.hash)
	t.report.Classes = classCounts(t.y, t.about.Classes)
	t.info = datasets.Info{
		Name: t.about.Name, Title: t.about.Title, Task: "what is in the column " + b.settings.Target,
		Rows: b.rows, Features: len(t.feature), Classes: t.about.Classes,
		Description: fmt.Sprintf("A table of the user's own: %d rows, %d features.", b.rows, len(t.feature)), Reading: t.report.Notes,
	}
}

// offsets reports whether a time of the file has an offset from UTC.
func (v *survey) offsets() bool {
	return slices.ContainsFunc(v.columns, func(o observed) bool { return len(o.offsets) > 0 })
}

// keyColumn is what was decided of a column: a rule that changes gives another key.
type keyColumn struct {
	Name string
	Kind datasets.ColumnKind
	Role Role
}

func keyColumns(r Report) (out []keyColumn) {
	for _, c := range r.Columns {
		out = append(out, keyColumn{c.Name, c.Kind, c.Role})
	}
	return out
}

// Name returns the name of the file without its extension: letters, digits, _ and - only.
func (t *Table) Name() string { return t.about.Name }

// Key identifies the file and how it is read.
func (t *Table) Key() string { return t.about.Hash }

// Info describes the table.
func (t *Table) Info() (datasets.Info, error) { return t.info, nil }

// Prepare encodes the features, splits the rows by class and standardises them, as the built-in
// tables: 20 % are the test part, drawn with the seed 999 + shift, and less where rows are kept
// together (see datasets.GroupedSplit). The IDs are the rows that were
// kept, from 0; About.Numbering has their numbers in the file.
func (t *Table) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	return t.PrepareKeeping(ctx, shift, nil)
}

// PrepareKeeping is Prepare with the given rows in the train part, and with them all that is kept
// together with them: whoever asks to be forgotten was trained on.
func (t *Table) PrepareKeeping(ctx context.Context, shift int, rows []int) (*datasets.Prepared, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	features := make([]datasets.Column, len(t.feature))
	for k, j := range t.feature {
		features[k] = t.about.Columns[j]
	}
	x, described, err := datasets.Encode(features)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.report.File, err)
	}
	table := &datasets.Table{About: t.about, X: x, Y: t.y}
	table.Features = described
	return prepareTable(table, t.groups(x), 0, shift, rows)
}

// prepareTable splits a table by class, unless its last rows are a given test part, and
// standardises it. Rows to keep are in the train part, unless the parts are given; groups as in
// splitRecords.
func prepareTable(table *datasets.Table, groups []int, test, shift int, keep []int) (*datasets.Prepared, error) {
	split, err := splitRecords(table.Y, groups, test, shift, keep)
	if err != nil {
		return nil, err
	}
	p, err := datasets.Prepare(table, split)
	if err != nil {
		return nil, err
	}
	p.Hash = splitKey(table.Hash, test, shift, keep)
	if groups != nil {
		for _, i := range p.Test.IDs {
			p.TestGroups = append(p.TestGroups, groups[i])
		}
	}
	return p, nil
}
