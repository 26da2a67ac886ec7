// Conditions on the columns of a table, such as person_id=17: their text, and the rows that they
// match.

package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Operator says how a Condition compares a cell with its values.
type Operator string

// The operators. Between includes both ends; In is true for any of the values.
const (
	Equal    Operator = "="
	NotEqual Operator = "!="
	Less     Operator = "<"
	AtMost   Operator = "<="
	Greater  Operator = ">"
	AtLeast  Operator = ">="
	Between  Operator = ".."
	In       Operator = "in"
)

// Condition selects rows of a table by one column: person_id=17, age>=65, visit=2020-01-01..2020-03-31,
// hospital in A,B. A missing cell matches no condition, not even !=.
//
// A value for a Date is a day, a month (2020-03), a year (2020) or a moment. = is true within the
// whole of it, < before it, > after it, and <= up to its end.
type Condition struct {
	Column string
	Op     Operator
	Values []string // two for Between, one or more for In, one for others
}

// ConditionError is the error for a text that is not a condition.
type ConditionError struct{ Text, Reason string }

// Error implements error.
func (e *ConditionError) Error() string {
	return fmt.Sprintf("the condition %q: %s; conditions are column=value, != < <= > >=, column=from..to, and column in a,b,c; "+
		"a name or a value with such signs is written in double quotes", clip(e.Text), e.Reason)
}

// UnknownColumnError is the error for a column that a table does not have. Similar are the names
// that were perhaps meant.
type UnknownColumnError struct {
	Column           string
	Similar, Columns []string
}

// Error implements error.
func (e *UnknownColumnError) Error() string {
	switch {
	case len(e.Columns) == 0:
		return fmt.Sprintf("there is no column %q: the columns of this data set are not kept", e.Column)
	case len(e.Similar) > 0:
		return fmt.Sprintf("there is no column %q; did you mean %s?", e.Column, quotedList(e.Similar, " or "))
	}
	return fmt.Sprintf("there is no column %q; there are %s", e.Column, quotedList(e.Columns, ", "))
}

// UnknownValueError is the error for a value that no row has. Known says in words which values
// there are.
type UnknownValueError struct {
	Column, Value string
	Similar       []string
	Known         string
}

// Error implements error.
func (e *UnknownValueError) Error() string {
	if len(e.Similar) > 0 {
		return fmt.Sprintf("no row has %s = %q; did you mean %s?%s", e.Column, e.Value, quotedList(e.Similar, " or "), strings.TrimPrefix(e.hint(), "."))
	}
	return fmt.Sprintf("no row has %s = %q; the column has %s%s", e.Column, e.Value, e.Known, e.hint())
}

// hint says how a condition is written that the value looks like.
func (e *UnknownValueError) hint() string {
	lower := strings.ToLower(e.Value)
	switch {
	case strings.Contains(lower, " and "), strings.Contains(lower, " or "), strings.Contains(lower, "&&"), strings.Contains(lower, "||"):
		return ". A condition names one column; rows of several conditions are named by their numbers"
	case strings.Contains(e.Value, ","):
		return fmt.Sprintf(". Several values are %s in %s", quoteName(e.Column), e.Value)
	}
	return ""
}

// ComparisonError is the error for a value that cannot be compared with the cells of a column: a
// word where a number is expected, or < in a column of names.
type ComparisonError struct {
	Condition Condition
	Kind      ColumnKind
	Reason    string
}

// Error implements error.
func (e *ComparisonError) Error() string {
	return fmt.Sprintf("the condition %s: %s is a column of kind %s: %s", e.Condition, e.Condition.Column, e.Kind, e.Reason)
}

// UnknownColumn returns the error for a name that is not among the names of columns.
func UnknownColumn(name string, columns []string) error {
	e := &UnknownColumnError{Column: name, Columns: columns}
	for _, c := range columns {
		if Similar(name, c) {
			e.Similar = append(e.Similar, c)
		}
	}
	return e
}

// quotedList prints names, the first ones of a long list.
func quotedList(names []string, separator string) string {
	const most = 10
	quoted := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, strconv.Quote(clip(name)))
	}
	text := strings.Join(quoted, separator)
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// String returns the condition as ParseCondition reads it.
func (c Condition) String() string {
	values := make([]string, len(c.Values))
	for k, v := range c.Values {
		values[k] = quoteValue(v)
	}
	switch c.Op {
	case Between:
		return quoteName(c.Column) + "=" + strings.Join(values, "..")
	case In:
		return quoteName(c.Column) + " in " + strings.Join(values, ",")
	}
	return quoteName(c.Column) + string(c.Op) + strings.Join(values, ",")
}

func quoteName(name string) string {
	if name == "" || name != strings.TrimSpace(name) || strings.ContainsAny(name, "=<>!\"") || strings.Contains(name, " in ") {
		return quote(name)
	}
	return name
}

func quoteValue(value string) string {
	if value == "" || value != strings.TrimSpace(value) || strings.ContainsAny(value, "=<>!\",") || strings.Contains(value, "..") {
		return quote(value)
	}
	return value
}

// quote doubles the quotes in a text, as CSV does.
func quote(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// ParseCondition reads a condition: a column, an operator and a value. The operators are = (also
// ==), !=, <, <=, > and >=. A range is written column=from..to, a list column in a,b,c. Names and
// values that hold such signs are written in double quotes, "a ""b""".
func ParseCondition(text string) (Condition, error) {
	c, reason := parseCondition(text)
	if reason != "" {
		return Condition{}, &ConditionError{Text: text, Reason: reason}
	}
	return c, nil
}

func parseCondition(text string) (c Condition, reason string) {
	name, op, rest := cutOperator(text)
	if op == "" {
		return c, "there is no operator"
	}
	c.Op = op
	if c.Column, reason = unquote(name); reason != "" {
		return c, reason
	}
	if c.Column == "" {
		return c, "the name of the column is missing"
	}
	parts := []string{rest}
	switch {
	case op == In:
		parts = splitUnquoted(rest, ",")
	case op == Equal && len(splitUnquoted(rest, "..")) > 1:
		c.Op, parts = Between, splitUnquoted(rest, "..")
	}
	for _, part := range parts {
		value, reason := unquote(part)
		if reason == "" && strings.TrimSpace(part) == "" {
			reason = "a value is missing"
		}
		if reason != "" {
			return c, reason
		}
		c.Values = append(c.Values, value)
	}
	if c.Op == Between && len(c.Values) != 2 {
		return c, "a range has two ends, from..to"
	}
	return c, ""
}

// operators are the texts of operators; a longer one comes before its beginning.
var operators = []struct {
	text string
	op   Operator
}{{"==", Equal}, {"!=", NotEqual}, {"<=", AtMost}, {">=", AtLeast}, {"=", Equal}, {"<", Less}, {">", Greater}}

// cutOperator divides a text at its first operator outside quotes, or else at its first " in ".
func cutOperator(text string) (name string, op Operator, rest string) {
	in := -1
	for i := range unquotedBytes(text) {
		for _, o := range operators {
			if strings.HasPrefix(text[i:], o.text) {
				return text[:i], o.op, text[i+len(o.text):]
			}
		}
		if in < 0 && strings.HasPrefix(text[i:], " in ") {
			in = i
		}
	}
	if in < 0 {
		return text, "", ""
	}
	return text[:in], In, text[in+len(" in "):]
}

// unquotedBytes calls yield for the positions outside double quotes.
func unquotedBytes(text string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		quoted := false
		for i := range len(text) {
			if text[i] == '"' {
				quoted = !quoted
			} else if !quoted && !yield(i) {
				return
			}
		}
	}
}

// splitUnquoted divides a text at a separator outside quotes.
func splitUnquoted(text, separator string) (parts []string) {
	start := 0
	for i := range unquotedBytes(text) {
		if i >= start && strings.HasPrefix(text[i:], separator) {
			parts = append(parts, text[start:i])
			start = i + len(separator)
		}
	}
	return append(parts, text[start:])
}

// unquote returns a name or a value without blanks and quotes around it.
func unquote(text string) (value, reason string) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, `"`) {
		return text, ""
	}
	inner, opened := strings.CutPrefix(text, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	plain := strings.ReplaceAll(inner, `""`, "")
	if !opened || !closed || strings.Contains(plain, `"`) {
		return "", "a quote is not closed, or is inside a word; " + quoteHint(text)
	}
	return strings.ReplaceAll(inner, `""`, `"`), ""
}

// quoteHint says how a quote in a name or a value is written. Which signs belong to a text with a comma
// or a range is not known.
func quoteHint(text string) string {
	example := `"O""Brien"`
	if !strings.HasPrefix(text, `"`) && !strings.Contains(text, ",") && !strings.Contains(text, "..") {
		example = quote(text)
	}
	return "with a quote in it the whole is written in double quotes, and the quote twice: " + example
}

// Rows returns the rows that match a condition; see Condition.Rows and ParseCondition.
func (a About) Rows(condition string) ([]int, error) {
	c, err := ParseCondition(condition)
	if err != nil {
		return nil, err
	}
	return c.Rows(a.Columns)
}

// Rows returns the rows of the table that match, ascending. No row at all is no error for a
// comparison or a range.
//
// Errors are an *UnknownColumnError, an *UnknownValueError for = and in with a value that no row
// has (also for != in a column of names), or a *ComparisonError.
func (c Condition) Rows(columns []Column) ([]int, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	var names []string
	for _, column := range columns {
		if column.Name != c.Column {
			names = append(names, column.Name)
			continue
		}
		if column.Kind.Numeric() {
			return c.numericRows(column)
		}
		return c.namedRows(column)
	}
	return nil, UnknownColumn(c.Column, names)
}

// check returns an error for a condition that was not made by ParseCondition and is none.
func (c Condition) check() error {
	want := 1
	switch c.Op {
	case Between:
		want = 2
	case In:
		want = max(1, len(c.Values))
	case Equal, NotEqual, Less, AtMost, Greater, AtLeast:
	default:
		return &ConditionError{Text: c.String(), Reason: fmt.Sprintf("there is no operator %q", c.Op)}
	}
	if len(c.Values) != want {
		return &ConditionError{Text: c.String(), Reason: fmt.Sprintf("%d values, want %d", len(c.Values), want)}
	}
	return nil
}

// namedRows compares names. Every name must occur.
func (c Condition) namedRows(column Column) ([]int, error) {
	if c.Op != Equal && c.Op != NotEqual && c.Op != In {
		return nil, &ComparisonError{c, column.Kind, "a number or a date is expected; names are compared by =, != and in"}
	}
	wanted := make([]bool, len(column.Values))
	for _, value := range c.Values {
		code := slices.Index(column.Values, value)
		if code < 0 {
			return nil, unknownName(column, value)
		}
		wanted[code] = true
	}
	var rows []int
	for row, code := range column.Codes {
		if code >= 0 && wanted[code] == (c.Op != NotEqual) {
			rows = append(rows, row)
		}
	}
	if rows == nil && c.Op != NotEqual { // the classes of a target can be without a row
		return nil, unknownName(column, c.Values[0])
	}
	return rows, nil
}

func unknownName(column Column, value string) error {
	e := &UnknownValueError{Column: column.Name, Value: value, Known: "no values"}
	for _, v := range column.Values {
		if len(e.Similar) < 3 && v != value && Similar(value, v) {
			e.Similar = append(e.Similar, v)
		}
	}
	if len(column.Values) > 0 {
		e.Known = quotedList(column.Values, ", ")
	}
	return e
}

// interval is a value of a condition: the days of a date, or one number, from == to.
type interval struct{ from, to float64 }

func (v interval) has(x float64) bool { return x == v.from || x > v.from && x < v.to }

// before and after are false for NaN.
func (v interval) before(x float64) bool { return x < v.from }
func (v interval) after(x float64) bool  { return x > v.from && x >= v.to }

// numericRows compares numbers or dates.
func (c Condition) numericRows(column Column) ([]int, error) {
	values := make([]interval, len(c.Values))
	for k, text := range c.Values {
		var err error
		if values[k], err = parseInterval(text, column.Kind); err != nil {
			return nil, &ComparisonError{c, column.Kind, err.Error() + c.commaHint(text, column.Kind) + c.rangeHint(text, column.Kind)}
		}
	}
	if c.Op == Between && values[1].from < values[0].from {
		return nil, &ComparisonError{c, column.Kind, "the range ends before it begins"}
	}
	matched := make([]bool, len(values)) // values that a row has
	var rows []int
	for row, x := range column.Numbers {
		if c.matches(x, values, matched) {
			rows = append(rows, row)
		}
	}
	if c.Op != Equal && c.Op != In {
		return rows, nil
	}
	if k := slices.Index(matched, false); k >= 0 {
		return nil, &UnknownValueError{Column: c.Column, Value: c.Values[k], Known: valueRange(column)}
	}
	return rows, nil
}

func (c Condition) matches(x float64, values []interval, matched []bool) bool {
	if math.IsNaN(x) {
		return false
	}
	v := values[0]
	switch c.Op {
	case NotEqual:
		return !v.has(x)
	case Less:
		return v.before(x)
	case AtMost:
		return !v.after(x)
	case Greater:
		return v.after(x)
	case AtLeast:
		return !v.before(x)
	case Between:
		return !v.before(x) && !values[1].after(x)
	}
	any := false
	for k, v := range values {
		if v.has(x) {
			matched[k], any = true, true
		}
	}
	return any
}

func parseInterval(text string, kind ColumnKind) (interval, error) {
	if kind == Date {
		from, to, err := parsePeriod(text)
		return interval{from, to}, err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(text, "xX_") {
		return interval{}, fmt.Errorf("a number is expected, found %q", clip(text))
	}
	return interval{v, v}, nil
}

// commaHint says how to write several numbers or dates, and a number with decimals, of a value with
// commas: "" of another.
func (c Condition) commaHint(text string, kind ColumnKind) string {
	parts := strings.Split(text, ",")
	for _, part := range parts {
		if _, err := parseInterval(strings.TrimSpace(part), kind); err != nil {
			return ""
		}
	}
	hint := ""
	if len(parts) > 1 && c.Op == Equal {
		hint = fmt.Sprintf("; several values are written %s in %s", quoteName(c.Column), text)
	}
	switch {
	case len(parts) > 1 && kind == Number && strings.Contains(text, "."):
		if inThousands(parts) {
			hint += fmt.Sprintf("; a number has no marks between thousands, %s", strings.ReplaceAll(text, ",", ""))
		}
	case len(parts) == 2 && kind == Number:
		hint += fmt.Sprintf("; a number has a decimal point, %s, whatever the mark in the file", strings.Replace(text, ",", ".", 1))
	}
	return hint
}

// rangeHint says how a range is written, of a value that looks like one: "" of another.
func (c Condition) rangeHint(text string, kind ColumnKind) string {
	for _, mark := range []string{"..", " to ", ":", "\u2013", "-"} {
		from, to, is := strings.Cut(text, mark)
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		if _, err := parseInterval(from, kind); !is || err != nil {
			continue
		}
		if _, err := parseInterval(to, kind); err == nil {
			return fmt.Sprintf("; a range is written %s=%s..%s", quoteName(c.Column), from, to)
		}
	}
	return ""
}

// inThousands reports whether the parts of a number between commas have three digits each, before a decimal point in the last.
func inThousands(parts []string) bool {
	for k, part := range parts {
		whole, _, decimals := strings.Cut(part, ".")
		if decimals && k < len(parts)-1 || k > 0 && len(whole) != 3 {
			return false
		}
	}
	return true
}

// valueRange says which values a column of numbers or dates has.
func valueRange(c Column) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range c.Numbers {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		return "no values"
	}
	return fmt.Sprintf("values from %s to %s", formatCell(low, c.Kind), formatCell(high, c.Kind))
}

func formatCell(v float64, kind ColumnKind) string {
	if kind == Date {
		return FormatDays(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
