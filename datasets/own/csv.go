// Records of a CSV or TSV file: separator, header, quotes, and errors with their places.

package own

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// separators are looked for in a file.
const separators = ",;\t|"

// maxColumns bounds the columns of a table.
const maxColumns = 100_000

// records reads the records of one file.
type records struct {
	*text
	path      string
	csv       *csv.Reader
	separator rune
	names     []string // of the columns; "" has no name
	numerals  int      // names that are numbers, of a header in the file
	rowNames  bool     // the first column holds row names or an index, see indexName
	skipped   int      // lines before the first record that encoding/csv does not see
	empty     int      // records without any value, which are left out
	count     int      // records so far, those without any value among them
	end       int      // the last line of the last record
	blank     int      // the first line of nothing between two records; 0: there is none
	first     []string // the first record, if it was read with the header
	firstLine int
	line      int // of the last record
}

// openRecords opens a file, finds its separator if none is given, and reads its header.
func openRecords(path string, s *tableSettings) (*records, error) {
	t, err := openText(path)
	if err != nil {
		return nil, err
	}
	r := &records{text: t, path: path}
	if err := r.start(s); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *records) start(s *tableSettings) error {
	sample, err := r.Peek(sampleSize)
	whole := errors.Is(err, io.EOF)
	if err != nil && !whole {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	if len(bytes.TrimSpace(sample)) == 0 {
		return fmt.Errorf("%s: the file is empty", r.path)
	}
	if bytes.IndexByte(sample, '\n') < 0 && bytes.IndexByte(sample, '\r') >= 0 {
		return fmt.Errorf("%s: lines end with a carriage return only; save the file with line feeds (\"CSV UTF-8\", Unix or Windows)", r.path)
	}
	r.separator = s.Separator
	if sample, err = r.skipSeparatorLine(sample); err != nil {
		return err
	}
	if r.separator == 0 {
		if r.separator, err = findSeparator(sample, whole); err != nil {
			return fmt.Errorf("%s:%d: %w", r.path, 1+r.skipped, err)
		}
	}
	r.csv = csv.NewReader(r.Reader)
	r.csv.Comma, r.csv.FieldsPerRecord, r.csv.ReuseRecord = r.separator, -1, true
	r.csv.TrimLeadingSpace = r.separator != '\t' && r.separator != ' '
	return r.readHeader(s)
}

// skipSeparatorLine reads the line sep=; which Excel takes as an instruction.
func (r *records) skipSeparatorLine(sample []byte) ([]byte, error) {
	line, rest, _ := bytes.Cut(sample, []byte("\n"))
	text, is := strings.CutPrefix(strings.TrimRight(string(line), "\r"), "sep=")
	if !is || utf8.RuneCountInString(text) != 1 {
		return sample, nil
	}
	if r.separator == 0 {
		r.separator, _ = utf8.DecodeRuneInString(text)
	}
	r.skipped = 1
	_, err := r.Discard(len(sample) - len(rest))
	return rest, err
}

// findSeparator returns the separator that divides the header and all records of a sample into the
// same number of cells.
func findSeparator(sample []byte, whole bool) (rune, error) {
	var fit, any []rune
	most := 1
	for _, separator := range separators {
		header, fits := countCells(sample, whole, separator)
		if header < 2 {
			continue
		}
		if fits {
			fit = append(fit, separator)
		}
		if header > most {
			any, most = append(any[:0], separator), header
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return 0, fmt.Errorf("the cells can be separated by %q or by %q; say which with Separator", fit[0], fit[1])
	case len(any) == 1:
		return any[0], nil // a record of another length will be named
	}
	return 0, errors.New("the header has one column only: a table needs a target and a feature, separated by a comma, a semicolon, a tab or |")
}

// countCells returns the number of cells of the header, and whether all records have as many, or
// one more: a file of R with row names and no name for them is refused later, by a clear error.
func countCells(sample []byte, whole bool, separator rune) (header int, fits bool) {
	r := csv.NewReader(bytes.NewReader(sample))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = separator, -1, true
	r.TrimLeadingSpace = separator != '\t'
	var counts []int
	for len(counts) < 200 {
		record, err := r.Read()
		if err != nil {
			break
		}
		counts = append(counts, len(record))
	}
	if !whole && len(counts) > 2 {
		counts = counts[:len(counts)-1] // the sample ends within a record
	}
	if len(counts) == 0 {
		return 0, false
	}
	header, rest := counts[0], slices.Compact(slices.Sorted(slices.Values(counts[1:])))
	return header, len(rest) == 0 || len(rest) == 1 && (rest[0] == header || rest[0] == header+1)
}

// readHeader reads the names of the columns and looks at the first record.
func (r *records) readHeader(s *tableSettings) error {
	r.names = slices.Clone(s.Header)
	if r.names == nil {
		header, err := r.read()
		if err != nil {
			return err
		}
		if numbersOnly(header) {
			return r.errorf(r.line, "the first line has numbers only, expected the names of the columns; "+
				"Header(\"a\", \"b\", ...) gives names to a file without them")
		}
		r.names = slices.Clone(header)
	}
	for j := range r.names {
		r.names[j] = strings.Clone(strings.TrimSpace(r.names[j]))
	}
	first, err := r.read()
	if errors.Is(err, io.EOF) {
		return r.errorf(r.line, "there is no record after the header")
	}
	if err != nil {
		return err
	}
	r.first, r.firstLine = slices.Clone(first), r.line
	if s.Header == nil {
		r.numerals = numbersIn(r.names)
	}
	return r.checkNames()
}

// numbersIn counts the names of a header that are numbers. pandas names columns by their positions, or
// by those from 0 beside an index or a target.
func numbersIn(names []string) (n int) {
	for j, name := range names {
		f := formOf(name)
		if (f == integer || f == point) && name != strconv.Itoa(j) && name != strconv.Itoa(j-1) {
			n++
		}
	}
	return n
}

// asRecord says that the header looks like a record, "" if at most one of its cells is a number.
func (r *records) asRecord() string {
	if r.numerals < 2 {
		return ""
	}
	return fmt.Sprintf("; the first line looks like a record: %d of its %d cells are numbers; Header(\"a\", \"b\", ...) gives names to a file without them",
		r.numerals, len(r.names))
}

// numbersOnly reports whether a header is a record of numbers. pandas writes 0, 1, 2, ... for a
// table without names.
func numbersOnly(header []string) bool {
	counted := true
	for j, name := range header {
		if f := formOf(name); f != integer && f != point {
			return false
		}
		counted = counted && name == strconv.Itoa(j)
	}
	return !counted
}

// indexName is the name that the first column gets if it has none: row names of R, or the index of
// pandas.
const indexName = "index"

// checkNames gives a name to the index, and refuses names that occur twice.
func (r *records) checkNames() error {
	if len(r.names) > maxColumns {
		return r.errorf(1+r.skipped, "%d columns, at most %d are read", len(r.names), maxColumns)
	}
	if first := r.names[0]; first == "" || first == "Unnamed: 0" {
		r.rowNames = true
		r.names[0] = indexName
		if slices.Contains(r.names[1:], indexName) {
			r.names[0] = "row_" + indexName
		}
	}
	at := map[string]int{}
	for j, name := range r.names {
		if k, twice := at[name]; twice && name != "" {
			return r.errorf(1+r.skipped, "columns %d and %d are both called %q; give them different names%s", k+1, j+1, name, r.asRecord())
		}
		at[name] = j
	}
	return nil
}

// next returns the next record that has a value, without blanks around its cells, or io.EOF. The
// slice is valid until the next call.
func (r *records) next() ([]string, error) {
	for {
		record, err := r.first, error(nil)
		if record != nil {
			r.first, r.line = nil, r.firstLine
		} else if record, err = r.read(); err != nil {
			return nil, err
		}
		if len(record) != len(r.names) {
			return nil, r.wrongLength(record)
		}
		r.count++
		if slices.ContainsFunc(record, func(cell string) bool { return cell != "" }) {
			return record, nil
		}
		r.empty++
	}
}

// wrongLength returns the error for a record that has not as many cells as the header.
func (r *records) wrongLength(record []string) error {
	why := "are cells missing, or is a line broken in two?"
	switch {
	case len(record) > len(r.names) && record[len(record)-1] == "":
		why = "the line ends with a separator that the header does not have"
	case len(record) > len(r.names):
		why = fmt.Sprintf("a cell that holds %q must stand in quotes, and row names need a name (R: write.csv, or write.table with col.names=NA)", r.separator)
	}
	return r.errorf(r.line, "%d cells, the header has %d: %s", len(record), len(r.names), why)
}

// read returns the next record of the file, whatever its length. Its text must be UTF-8.
func (r *records) read() ([]string, error) {
	record, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, r.parseError(err)
	}
	r.limit.reset()
	line, _ := r.csv.FieldPos(0)
	r.line = line + r.skipped
	if r.end > 0 && r.line > r.end+1 && r.blank == 0 {
		r.blank = r.end + 1 // encoding/csv leaves it out
	}
	r.end = r.cellLine(len(record)-1) + strings.Count(record[len(record)-1], "\n")
	for j, cell := range record {
		if !utf8.ValidString(cell) || strings.IndexByte(cell, 0) >= 0 {
			return nil, r.badText(cell, j)
		}
		record[j] = strings.TrimSpace(cell)
	}
	return record, nil
}

// badText returns the error for a cell that is not UTF-8.
func (r *records) badText(cell string, j int) error {
	if strings.IndexByte(cell, 0) >= 0 {
		return r.cellError(j, "a zero byte: the file is no text")
	}
	k := 0
	for k = range cell {
		if c, size := utf8.DecodeRuneInString(cell[k:]); c == utf8.RuneError && size == 1 {
			break
		}
	}
	return r.cellError(j, "the byte %#02x is not UTF-8 text; perhaps the file is in Latin-1 (Windows-1252): save it as UTF-8, "+
		"or convert it by `iconv -f WINDOWS-1252 -t UTF-8`", cell[k])
}

// parseError says where quotes are wrong, and what would be right.
func (r *records) parseError(err error) error {
	var at *csv.ParseError
	switch {
	case errors.Is(err, errRecordTooLong):
		return r.errorf(r.line+1, "%w", err)
	case !errors.As(err, &at):
		return fmt.Errorf("%s: %w", r.path, err)
	case errors.Is(err, csv.ErrBareQuote):
		err = errors.New(`a quote inside a cell that does not begin with one; write "5"" pipe" for 5" pipe`)
	case at.StartLine != at.Line:
		err = fmt.Errorf("the quote that opens in line %d is not closed; a quote inside a quoted cell is written twice", at.StartLine+r.skipped)
	default:
		err = errors.New("a quoted cell is not closed, or goes on after its quote; a quote inside it is written twice")
	}
	return fmt.Errorf("%s:%d:%d: %w", r.path, at.Line+r.skipped, at.Column, err)
}

// errorf returns an error about a line.
func (r *records) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", r.path, line, fmt.Errorf(format, args...))
}

// cellError returns an error about a cell of the last record.
func (r *records) cellError(j int, format string, args ...any) error {
	name := ""
	if j < len(r.names) && r.names[j] != "" {
		name = " (" + r.names[j] + ")"
	}
	return r.errorf(r.cellLine(j), "column %d%s: %w", j+1, name, fmt.Errorf(format, args...))
}

// cellLine returns the line of a cell of the last record, which can go over several lines.
func (r *records) cellLine(j int) int {
	line, _ := r.csv.FieldPos(j)
	return line + r.skipped
}
