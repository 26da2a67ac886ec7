// anndata's files: matrices, tables of annotations, and cells made of both.

package cells

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/datasets/hdf5"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cells"
)

// H5AD is an open file in anndata's format, as versions 0.6 to 0.12 write it.
type H5AD struct{ f *hdf5.File }

// NewH5AD reads from an open file. The caller closes the file.
func NewH5AD(f *hdf5.File) *H5AD { return &H5AD{f} }

// Matrix reads a matrix of the given shape by its path, "X", "layers/counts" or "raw/X": dense, by
// rows (CSR) or by columns (CSC). Duplicate elements are added up, as in SciPy; stored zeros are
// dropped; 64-bit values are rounded. A matrix of another shape is refused before its data are
// read.
func (h *H5AD) Matrix(path string, rows, cols int) (s array.Sparse[float32], err error) {
	group, err := h.f.IsGroup(path)
	if err != nil {
		return s, err
	}
	if !group {
		return h.dense(path, rows, cols)
	}
	format, err := h.text(path, "encoding-type", "h5sparse_format")
	if err != nil {
		return s, err
	}
	if err := h.checkShape(path, rows, cols); err != nil {
		return s, err
	}
	switch format {
	case "csr_matrix", "csr":
		return compressed(h.f, path, rows, cols)
	case "csc_matrix", "csc":
		if s, err = compressed(h.f, path, cols, rows); err != nil {
			return s, err
		}
		return s.Transpose(), nil
	}
	return s, fmt.Errorf("%s: a matrix encoded as %q; csr_matrix, csc_matrix and arrays are read", path, format)
}

// text reads the first of the named attributes that exists.
func (h *H5AD) text(path string, names ...string) (string, error) {
	d, err := h.attribute(path, names...)
	if err != nil {
		return "", err
	}
	return d.Text()
}

func (h *H5AD) attribute(path string, names ...string) (d *hdf5.Data, err error) {
	for _, name := range names {
		if d, err = h.f.Attribute(path, name); !errors.Is(err, hdf5.ErrNotFound) {
			return d, err
		}
	}
	return nil, err
}

// checkShape compares the shape attribute of a sparse matrix.
func (h *H5AD) checkShape(path string, rows, cols int) error {
	d, err := h.attribute(path, "shape", "h5sparse_shape")
	if err != nil {
		return err
	}
	v, err := hdf5.Numbers[int](d)
	if err != nil {
		return err
	}
	return checkDims(path, v, rows, cols)
}

func checkDims(path string, dims []int, rows, cols int) error {
	if !slices.Equal(dims, []int{rows, cols}) {
		return fmt.Errorf("%s: a matrix of shape %v for %d x %d names", path, dims, rows, cols)
	}
	return nil
}

// dense reads a matrix that is stored with its zeros, by bands of rows.
func (h *H5AD) dense(path string, rows, cols int) (s array.Sparse[float32], err error) {
	dims, err := h.f.Shape(path)
	if err == nil {
		err = checkDims(path, dims, rows, cols)
	}
	if err != nil {
		return s, err
	}
	m := &sparseRows{path, array.Sparse[float32]{Rows: rows, Cols: cols, Starts: make([]int, 1, rows+1)}}
	err = h.f.EachBand(path, func(_ int, d *hdf5.Data) error {
		values, err := hdf5.Numbers[float32](d)
		if err == nil && len(values) != d.Dims[0]*cols { // elements may be arrays
			err = fmt.Errorf("%s: %d values for %d rows of %d", path, len(values), d.Dims[0], cols)
		}
		if err != nil {
			return err
		}
		return m.add(values)
	})
	if err != nil {
		return array.Sparse[float32]{}, err
	}
	for len(m.s.Starts) <= rows { // a matrix without columns has no bands
		m.s.Starts = append(m.s.Starts, 0)
	}
	return m.s, m.s.Check(path)
}

// compressed reads a group of data, indices and indptr; indptr runs along the rows of the result.
// The lengths are checked before the data are read.
func compressed(f *hdf5.File, path string, rows, cols int) (s array.Sparse[float32], err error) {
	var lengths [3]int
	for k, name := range []string{"/data", "/indices", "/indptr"} {
		dims, err := f.Shape(path + name)
		if err != nil {
			return s, err
		}
		if len(dims) != 1 {
			return s, fmt.Errorf("%s: %d dimensions, expected 1", path+name, len(dims))
		}
		lengths[k] = dims[0]
	}
	if lengths[0] != lengths[1] || lengths[2] != rows+1 {
		return s, fmt.Errorf("%s: data, indices and indptr of %d, %d and %d are not a matrix of %d x %d",
			path, lengths[0], lengths[1], lengths[2], rows, cols)
	}
	if err := checkFits(path, rows, cols, lengths[0]); err != nil {
		return s, err
	}
	if s.Values, err = read[float32](f, path+"/data"); err != nil {
		return s, err
	}
	if s.Columns, err = read[int32](f, path+"/indices"); err != nil {
		return s, err
	}
	if s.Starts, err = read[int](f, path+"/indptr"); err != nil {
		return s, err
	}
	s.Rows, s.Cols = rows, cols
	if err := checkIndices(s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if !columnsSorted(s) {
		s = s.Transpose().Transpose()
	}
	s = mergeDuplicates(s)
	return s, s.Check(path)
}

func read[T hdf5.Number](f *hdf5.File, path string) ([]T, error) {
	d, err := f.Read(path)
	if err != nil {
		return nil, err
	}
	return hdf5.Numbers[T](d)
}

// checkIndices checks that starts and columns are valid indices.
func checkIndices(s array.Sparse[float32]) error {
	if len(s.Starts) != s.Rows+1 || len(s.Columns) != len(s.Values) || s.Starts[0] != 0 || s.Starts[s.Rows] != len(s.Values) {
		return fmt.Errorf("data, indices and indptr of %d, %d and %d are not a matrix of %d x %d",
			len(s.Values), len(s.Columns), len(s.Starts), s.Rows, s.Cols)
	}
	if !slices.IsSorted(s.Starts) {
		return errors.New("indptr does not ascend")
	}
	for k, j := range s.Columns {
		if j < 0 || int(j) >= s.Cols {
			return fmt.Errorf("indices: element %d is %d of %d", k, j, s.Cols)
		}
	}
	return nil
}

// mergeDuplicates adds up duplicate elements and drops zeros, in place. The columns of a row must
// be sorted.
func mergeDuplicates(s array.Sparse[float32]) array.Sparse[float32] {
	to := 0
	for i := range s.Rows {
		from, end := s.Starts[i], s.Starts[i+1]
		s.Starts[i] = to
		for k := from; k < end; {
			j, sum := s.Columns[k], float32(0)
			for ; k < end && s.Columns[k] == j; k++ {
				sum += s.Values[k]
			}
			if sum != 0 {
				s.Columns[to], s.Values[to] = j, sum
				to++
			}
		}
	}
	s.Starts[s.Rows] = to
	s.Columns, s.Values = s.Columns[:to:to], s.Values[:to:to]
	return s
}

func columnsSorted(s array.Sparse[float32]) bool {
	for i := range s.Rows {
		if columns, _ := s.Row(i); !slices.IsSorted(columns) {
			return false
		}
	}
	return true
}

// Layers returns the names of the matrices in "layers", sorted.
func (h *H5AD) Layers() ([]string, error) {
	if there, err := h.f.Has("layers"); err != nil || !there {
		return nil, err
	}
	return h.f.Names("layers")
}

// Frame is a table of annotations: of the cells (obs) or the genes (var).
type Frame struct {
	Index   []string
	Columns map[string][]string // "" where there is no value
	Skipped []string            // a sentence per column that was not read

	reasons map[string]string // why a column was not read
}

// Frame reads a table by its path, "obs", "var" or "raw/var": a group of columns, or a compound as
// before anndata 0.7. Numbers become text. A column that cannot be read is listed in Skipped,
// unless it is the index.
func (h *H5AD) Frame(path string) (*Frame, error) {
	group, err := h.f.IsGroup(path)
	if err != nil {
		return nil, err
	}
	f := &Frame{Columns: map[string][]string{}, reasons: map[string]string{}}
	if group {
		err = h.columns(path, f)
	} else {
		err = h.readCompoundTable(path, f)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(f.Skipped)
	return f, nil
}

// add stores a column, or the reason why it is skipped.
func (f *Frame) add(path, name string, values []string, err error) {
	if err == nil && len(values) != len(f.Index) {
		err = fmt.Errorf("%d values for %d rows", len(values), len(f.Index))
	}
	if err != nil {
		f.reasons[name] = err.Error()
		f.Skipped = append(f.Skipped, fmt.Sprintf("The column %q of %s was skipped: %v.", name, path, err))
		return
	}
	f.Columns[name] = values
}

// columns reads a table that is a group.
func (h *H5AD) columns(path string, f *Frame) error {
	index, err := h.text(path, "_index")
	if err != nil {
		return err
	}
	if f.Index, err = h.column(path, index, -1); err != nil {
		return err
	}
	names, err := h.columnNames(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == index || name == "__categories" {
			continue
		}
		if values := uint64(len(f.Index)) * uint64(len(f.Columns)); values > h.maxValues() {
			f.add(path, name, nil, fmt.Errorf("the other columns have %d values, the limit for a file of %d bytes", values, h.f.Size()))
			continue
		}
		values, err := h.column(path, name, len(f.Index))
		f.add(path, name, values, err)
	}
	return nil
}

// maxValues bounds the values that are kept of a table, because compression can expand a file a
// thousand times.
func (h *H5AD) maxValues() uint64 { return 1<<24 + h.f.Size() }

// columnNames returns the names of the columns of a table. A name with a slash is stored as a
// group in a group; only the attribute column-order shows that it is a column's name.
func (h *H5AD) columnNames(path string) ([]string, error) {
	names, err := h.f.Names(path)
	if err != nil {
		return nil, err
	}
	d, err := h.attribute(path, "column-order")
	if err != nil {
		return names, nil // optional; older versions have none
	}
	order, err := d.Strings()
	if err != nil {
		return names, nil // a table without columns has an empty list of numbers
	}
	for _, name := range order {
		if first, _, deep := strings.Cut(name, "/"); deep {
			names = append(slices.DeleteFunc(names, func(n string) bool { return n == first }), name)
		}
	}
	return names, nil
}

// column reads one column of n values, or of any number if n is -1: plain values, categories, or
// values with a mask.
func (h *H5AD) column(frame, name string, n int) ([]string, error) {
	path := frame + "/" + name
	group, err := h.f.IsGroup(path)
	if err != nil {
		return nil, err
	}
	if group {
		return h.readEncoded(path, n)
	}
	d, err := h.list(path, n)
	if err != nil {
		return nil, err
	}
	categories := frame + "/__categories/" + name // anndata 0.7
	if there, err := h.f.Has(categories); err != nil || !there {
		return toStrings(d, err)
	}
	return h.decodeCategories(d, categories)
}

// list reads n values, or any number if n is -1.
func (h *H5AD) list(path string, n int) (*hdf5.Data, error) {
	dims, err := h.f.Shape(path)
	if err != nil {
		return nil, err
	}
	if len(dims) != 1 || n >= 0 && dims[0] != n {
		return nil, fmt.Errorf("%s: shape %v, expected one value for each row", path, dims)
	}
	return h.f.Read(path)
}

// readEncoded reads a column that is a group: codes and categories, or values and a mask.
func (h *H5AD) readEncoded(path string, n int) ([]string, error) {
	kind, err := h.text(path, "encoding-type")
	if err != nil {
		return nil, err
	}
	if kind == "categorical" {
		d, err := h.list(path+"/codes", n)
		if err != nil {
			return nil, err
		}
		return h.decodeCategories(d, path+"/categories")
	}
	return h.nullable(path, kind, n)
}

// nullable reads values and a mask of the missing ones.
func (h *H5AD) nullable(path, kind string, n int) ([]string, error) {
	switch kind {
	case "nullable-integer", "nullable-boolean", "nullable-string-array":
	default:
		return nil, fmt.Errorf("%s: a column encoded as %q, which is not read", path, kind)
	}
	values, err := toStrings(h.list(path+"/values", n))
	if err != nil {
		return nil, err
	}
	mask, err := h.list(path+"/mask", len(values))
	if err != nil {
		return nil, err
	}
	missing, err := hdf5.Numbers[int](mask)
	if err == nil && len(missing) != len(values) { // elements may be arrays
		err = fmt.Errorf("%s: %d values and a mask of %d", path, len(values), len(missing))
	}
	if err != nil {
		return nil, err
	}
	for i, m := range missing {
		if m != 0 {
			values[i] = ""
		}
	}
	return values, nil
}

// categories reads a list of categories: plain values, or values with a mask.
func (h *H5AD) categories(path string) ([]string, error) {
	group, err := h.f.IsGroup(path)
	if err != nil {
		return nil, err
	}
	if !group {
		return toStrings(h.list(path, -1))
	}
	kind, err := h.text(path, "encoding-type")
	if err != nil {
		return nil, err
	}
	return h.nullable(path, kind, -1)
}

// decodeCategories replaces codes by categories; -1 is a missing value.
func (h *H5AD) decodeCategories(d *hdf5.Data, path string) ([]string, error) {
	codes, err := hdf5.Numbers[int](d)
	if err != nil {
		return nil, err
	}
	categories, err := h.categories(path)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(codes))
	for i, c := range codes {
		if c < -1 || c >= len(categories) {
			return nil, fmt.Errorf("%s: %d categories, row %d has number %d", path, len(categories), i, c)
		}
		if c >= 0 {
			out[i] = categories[c]
		}
	}
	return out, nil
}

// readCompoundTable reads a table that is a compound: the index and then the columns, whose
// categories are under uns.
func (h *H5AD) readCompoundTable(path string, f *Frame) error {
	d, err := h.f.Read(path)
	if err != nil {
		return err
	}
	for k, name := range d.Members() {
		m, err := d.Member(name)
		if err != nil {
			return err
		}
		values, err := h.readMember(m, name)
		if k > 0 {
			f.add(path, name, values, err)
			continue
		}
		if f.Index = values; err != nil {
			return err
		}
	}
	if f.Index == nil {
		return fmt.Errorf("%s: no table", path)
	}
	return nil
}

func (h *H5AD) readMember(d *hdf5.Data, name string) ([]string, error) {
	categories := "uns/" + name + "_categories"
	there, err := h.f.Has(categories)
	if err != nil || !there || d.Class() != hdf5.Integer {
		return toStrings(d, err)
	}
	return h.decodeCategories(d, categories)
}

// toStrings returns strings unchanged and formats numbers.
func toStrings(d *hdf5.Data, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	switch d.Class() {
	case hdf5.Integer, hdf5.Enum:
		return formatNumbers(d, func(v int64) string { return strconv.FormatInt(v, 10) })
	case hdf5.Float:
		return formatNumbers(d, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
	}
	return d.Strings()
}

func formatNumbers[T hdf5.Number](d *hdf5.Data, write func(T) string) ([]string, error) {
	values, err := hdf5.Numbers[T](d)
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = write(v)
	}
	return out, err
}

// firstNotes returns the first notes of a list and a note with the number of others.
func firstNotes(notes []string) []string {
	const most = 20
	if len(notes) <= most {
		return notes
	}
	return append(notes[:most:most], fmt.Sprintf("So were %d more.", len(notes)-most))
}

// Cells returns the cells of one matrix, whose rows are the cells, with obs and var (raw/var for
// raw/X). The matrix must hold counts. The genes' identifiers are var's column gene_ids if it has
// one. Duplicate cell names get suffixes.
func (h *H5AD) Cells(path string) (*Cells, error) {
	obs, err := h.Frame("obs")
	if err != nil {
		return nil, err
	}
	if path == "raw" || path == "layers" {
		return nil, fmt.Errorf("%s is no matrix; %s", path, h.otherMatrices(path))
	}
	frame := "var"
	if strings.HasPrefix(path, "raw/") || strings.HasPrefix(path, "raw.") { // raw/X, before anndata 0.7 raw.X
		frame = strings.TrimSuffix(path, "X") + "var"
	}
	genes, err := h.Frame(frame)
	if errors.Is(err, hdf5.ErrNotFound) {
		return nil, fmt.Errorf("%w; %s", err, h.otherMatrices(path))
	}
	if err != nil {
		return nil, err
	}
	counts, err := h.Matrix(path, len(obs.Index), len(genes.Index))
	if errors.Is(err, hdf5.ErrNotFound) {
		return nil, fmt.Errorf("%w; %s", err, h.otherMatrices(path))
	}
	if err != nil {
		return nil, err
	}
	if err := checkCounts(counts, obs.Index, genes.Index); err != nil {
		return nil, fmt.Errorf("matrix %s: %w; %s", path, err, h.otherMatrices(path))
	}
	c := &Cells{Counts: counts, Barcodes: obs.Index, GeneIDs: genes.Index, Genes: Unique(genes.Index),
		Y: noLabels(len(obs.Index)), Obs: obs.Columns, skipped: obs.reasons, notes: slices.Concat(firstNotes(obs.Skipped), firstNotes(genes.Skipped))}
	if err := checkDistinct("barcode", c.Barcodes); err != nil {
		c.Barcodes = Unique(c.Barcodes)
		c.notes = append(c.notes, fmt.Sprintf("In obs %v: such cells got suffixes, as in anndata's obs_names_make_unique.", err))
	}
	if ids, ok := genes.Columns["gene_ids"]; ok {
		c.GeneIDs = ids
	}
	for _, name := range slices.Sorted(maps.Keys(genes.Columns)) {
		if hidden := genes.Columns[name]; isMitochondrial(hidden) && !isMitochondrial(c.Genes) {
			c.notes = append(c.notes, fmt.Sprintf("The column %q of %s has names of mitochondrial genes; genes are named by its index.", name, frame))
		}
	}
	return c, nil
}

// otherMatrices says which other matrices a file has.
func (h *H5AD) otherMatrices(path string) string {
	layers, _ := h.Layers() // the error before this one is the one that counts
	var others []string
	for _, name := range []string{"X", "raw/X", "raw.X"} { // raw.X before anndata 0.7
		if there, err := h.f.Has(name); err == nil && there {
			others = append(others, name)
		}
	}
	for _, l := range layers {
		others = append(others, "layers/"+l)
	}
	others = slices.DeleteFunc(others, func(o string) bool { return o == path })
	if len(others) == 0 {
		return "the file has no other matrix"
	}
	return "other matrices of the file: " + strings.Join(others, ", ")
}

// isMitochondrial reports whether one of the genes is mitochondrial by its name.
func isMitochondrial(genes []string) bool { return slices.ContainsFunc(genes, cells.Mitochondrial) }
