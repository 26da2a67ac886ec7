// Package mtx reads counts from MatrixMarket's formats (Boisvert, Pozo and Remington, "The Matrix
// Market Exchange Formats", NISTIR 5935, 1996), as Cell Ranger, SciPy and R write them: coordinate
// or array, integer, SciPy's unsigned-integer, real or pattern, general or symmetric. It refuses
// complex, skew-symmetric and Hermitian matrices, which hold no counts.
//
// A file is read once, as a stream. The header is not trusted: memory grows with the entries that
// are read.
package mtx

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/files"
)

// Limits on a file; one beyond them is refused.
const (
	MaxSide = 1 << 27 // rows or columns
	MaxLine = 1 << 12 // bytes
)

// MaxCount is the greatest count: up to it a float32 holds every whole number exactly.
const MaxCount = 1 << 24

// Reader is a file whose header was read.
type Reader struct {
	header
	lines reader
}

// NewReader reads a file's header. Errors name the line.
func NewReader(ctx context.Context, from io.Reader) (*Reader, error) {
	text, err := files.NewTextReaderSize(from, MaxLine)
	if err != nil {
		return nil, err
	}
	r := &Reader{lines: reader{ctx: ctx, lines: text}}
	if r.header, err = r.lines.header(); err != nil {
		return nil, fmt.Errorf("line %d: %w", r.lines.line, err)
	}
	return r, nil
}

// Shape returns the shape in the header.
func (r *Reader) Shape() (rows, cols int) { return r.rows, r.cols }

// Transposed reads a matrix of counts, rows x cols in the file, and returns its transpose: genes x
// cells becomes cells x genes. Entries may be in any order; explicit zeros are dropped.
//
// It refuses, with the line: another shape than the given one, an entry outside it, a count that
// is negative, not whole, infinite or greater than MaxCount, and more or fewer entries than
// announced. A duplicate entry is refused with its row and column.
func (r *Reader) Transposed(rows, cols int) (s array.Sparse[float32], err error) {
	if r.rows != rows || r.cols != cols {
		err = fmt.Errorf("a matrix of %d x %d, expected %d x %d", r.rows, r.cols, rows, cols)
	}
	var t *triplets
	if err == nil {
		t, err = r.lines.entries(r.header)
	}
	if err != nil {
		return s, fmt.Errorf("line %d: %w", r.lines.line, err)
	}
	return t.byColumn(r.header)
}

// ReadTransposed is NewReader and then Transposed.
func ReadTransposed(ctx context.Context, from io.Reader, rows, cols int) (array.Sparse[float32], error) {
	r, err := NewReader(ctx, from)
	if err != nil {
		return array.Sparse[float32]{}, err
	}
	return r.Transposed(rows, cols)
}

// header is the content of a file before its entries.
type header struct {
	pattern    bool // entries have no value
	array      bool // all elements are listed, column by column
	symmetric  bool // the elements above the diagonal are not listed
	rows, cols int
	want       int // entries
}

// nextPlace returns the position of the entry after (i, j) in an array. The first entry follows
// (-1, 0).
func (h header) nextPlace(i, j int) (int, int) {
	if i++; i < h.rows {
		return i, j
	}
	if j++; h.symmetric {
		return j, j
	}
	return 0, j
}

// reader returns the lines of a file.
type reader struct {
	ctx   context.Context
	lines *bufio.Reader
	line  int
}

// next returns the next line without its end; it is valid until the next call.
func (r *reader) next() ([]byte, error) {
	if r.line%4096 == 0 && r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	b, err := r.lines.ReadSlice('\n')
	if len(b) == 0 && err != nil {
		return nil, err
	}
	r.line++
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("longer than %d bytes", MaxLine)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return bytes.TrimSpace(b), nil
}

// header reads up to the line with the shape.
func (r *reader) header() (header, error) {
	b, err := r.next()
	if err != nil {
		return header{}, endOfFileError(err, "header")
	}
	h, err := banner(b)
	for err == nil && (r.line == 1 || len(b) == 0 || b[0] == '%') {
		b, err = r.next()
		err = endOfFileError(err, "shape")
	}
	if err != nil {
		return header{}, err
	}
	err = h.shape(b)
	return h, err
}

// shape parses the line with the numbers of rows, columns and entries; an array's line has no
// number of entries.
func (h *header) shape(line []byte) error {
	into, expected := []*int{&h.rows, &h.cols, &h.want}, "rows, columns and entries"
	if h.array {
		into, expected = into[:2], "rows and columns"
	}
	f, n := fields(line)
	if n != len(into) {
		return fmt.Errorf("%q: expected %s", clip(line), expected)
	}
	limits := [3]int{MaxSide, MaxSide, math.MaxInt32}
	for k, into := range into {
		v, ok := parseDigits(f[k])
		if !ok || v > limits[k] {
			return fmt.Errorf("%q: %q is not a number from 0 to %d", clip(line), clip(f[k]), limits[k])
		}
		*into = v
	}
	most := h.rows * h.cols // below 2^54
	if h.symmetric {
		if h.rows != h.cols {
			return fmt.Errorf("%d x %d: a symmetric matrix is square", h.rows, h.cols)
		}
		most = h.rows * (h.rows + 1) / 2
	}
	if h.array {
		h.want = most
	}
	if h.want > most {
		return fmt.Errorf("%d entries do not fit into %d x %d", h.want, h.rows, h.cols)
	}
	return nil
}

// banner parses the first line.
func banner(b []byte) (header, error) {
	words := bytes.Fields(bytes.ToLower(b))
	if len(words) != 5 || string(words[0]) != "%%matrixmarket" || string(words[1]) != "matrix" {
		return header{}, fmt.Errorf("%q: not the header of a MatrixMarket matrix", clip(b))
	}
	h := header{}
	switch string(words[2]) {
	case "coordinate":
	case "array":
		h.array = true
	default:
		return h, fmt.Errorf("%q: only coordinate and array matrices are read", clip(b))
	}
	switch string(words[3]) {
	case "integer", "unsigned-integer", "real", "double":
	case "pattern":
		h.pattern = true
	default:
		return h, fmt.Errorf("%q: only integer, real and pattern matrices are read", clip(b))
	}
	switch string(words[4]) {
	case "general":
	case "symmetric":
		h.symmetric = true
	default:
		return h, fmt.Errorf("%q: only general and symmetric matrices are read: others hold no counts", clip(b))
	}
	if h.pattern && h.array {
		return h, fmt.Errorf("%q: an array has values", clip(b))
	}
	return h, nil
}

// triplets holds the entries in file order, counted from 0.
type triplets struct {
	row, col []int32
	value    []float32
}

// entries reads all entries and compares their number with the announced one.
func (r *reader) entries(h header) (*triplets, error) {
	t, n, i, j := &triplets{}, 0, -1, 0
	for {
		b, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(b) == 0 {
			continue
		}
		if n == h.want {
			return nil, fmt.Errorf("%q: more than the %d entries announced", clip(b), h.want)
		}
		if h.array {
			i, j = h.nextPlace(i, j)
			err = t.element(b, h, i, j)
		} else {
			err = t.entry(b, h)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", clip(b), err)
		}
		n++
	}
	if n < h.want {
		return nil, fmt.Errorf("the file ends after %d of the %d entries announced", n, h.want)
	}
	return t, nil
}

// entry parses a line of the coordinate format.
func (t *triplets) entry(line []byte, h header) error {
	f, n := fields(line)
	if want := 3; n != want && !(h.pattern && n == 2) || h.pattern && n == want {
		return errors.New("the number of fields is not that of an entry")
	}
	i, ok := parseDigits(f[0])
	if !ok || i < 1 || i > h.rows {
		return fmt.Errorf("row %s: there are rows 1 to %d", clip(f[0]), h.rows)
	}
	j, ok := parseDigits(f[1])
	if !ok || j < 1 || j > h.cols {
		return fmt.Errorf("column %s: there are columns 1 to %d", clip(f[1]), h.cols)
	}
	if h.symmetric && i < j {
		return errors.New("an entry above the diagonal of a symmetric matrix")
	}
	if h.pattern {
		t.add(h, i-1, j-1, 1)
		return nil
	}
	v, err := parseCount(f[2])
	t.add(h, i-1, j-1, v)
	return err
}

// element parses a line of the array format.
func (t *triplets) element(line []byte, h header, i, j int) error {
	f, n := fields(line)
	if n != 1 {
		return errors.New("an element of an array is one number")
	}
	v, err := parseCount(f[0])
	t.add(h, i, j, v)
	return err
}

// add appends an element that is not zero, and its mirror image if the matrix is symmetric.
func (t *triplets) add(h header, i, j int, v float32) {
	if v == 0 {
		return
	}
	t.row, t.col, t.value = append(t.row, int32(i)), append(t.col, int32(j)), append(t.value, v)
	if h.symmetric && i != j {
		t.row, t.col, t.value = append(t.row, int32(j)), append(t.col, int32(i)), append(t.value, v)
	}
}

// byColumn returns the transpose, the elements of each row sorted.
func (t *triplets) byColumn(h header) (array.Sparse[float32], error) {
	s := array.Sparse[float32]{Rows: h.cols, Cols: h.rows, Starts: make([]int, h.cols+1),
		Columns: make([]int32, len(t.row)), Values: make([]float32, len(t.row))}
	for _, j := range t.col {
		s.Starts[j+1]++
	}
	for j := range h.cols {
		s.Starts[j+1] += s.Starts[j]
	}
	next := append([]int(nil), s.Starts...)
	for k, j := range t.col {
		s.Columns[next[j]], s.Values[next[j]] = t.row[k], t.value[k]
		next[j]++
	}
	*t = triplets{} // no longer needed, and as large as what comes
	for j := range s.Rows {
		rows, values := s.Row(j)
		sortRow(rows, values)
		for k := 1; k < len(rows); k++ {
			if rows[k] == rows[k-1] {
				return s, fmt.Errorf("row %d, column %d occurs twice", rows[k]+1, j+1)
			}
		}
	}
	return s, nil
}

func endOfFileError(err error, what string) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the file ends before its %s", what)
	}
	return err
}

// fields returns the first three words of a line and the number of words.
func fields(b []byte) (f [3][]byte, n int) {
	for {
		for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
			b = b[1:]
		}
		if len(b) == 0 {
			return f, n
		}
		end := 0
		for end < len(b) && b[end] != ' ' && b[end] != '\t' {
			end++
		}
		if n < len(f) {
			f[n] = b[:end]
		}
		n, b = n+1, b[end:]
	}
}

// parseDigits parses a number that consists of digits only.
func parseDigits(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 10 {
		return 0, false
	}
	v := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int(c-'0')
	}
	return v, true
}

// parseCount parses a number of molecules: whole, not negative, exact in a float32.
func parseCount(b []byte) (float32, error) {
	v, ok := parseDigits(b)
	if !ok {
		f, err := strconv.ParseFloat(string(b), 64)
		if err != nil || bytes.ContainsAny(b, "xX_") || !(f >= 0) || f != math.Trunc(f) { // hexadecimal, or as Go groups digits
			return 0, fmt.Errorf("%s is not a count, a whole number that is not negative", clip(b))
		}
		v = int(min(f, MaxCount+1))
	}
	if v > MaxCount {
		return 0, fmt.Errorf("%s is greater than %d", clip(b), MaxCount)
	}
	return float32(v), nil
}

// clip shortens the text that an error quotes.
func clip(b []byte) string { return string(b[:min(len(b), 60)]) }
