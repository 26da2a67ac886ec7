package cells

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/datasets/hdf5"
	"github.com/lethe-ml/lethe/lib/array"
)

// maxSide bounds the cells or genes that a file's shape claims.
const maxSide = 1 << 26

// H5AD is an open file in anndata's format, as versions 0.6 to 0.12 write it.
type H5AD struct{ f *hdf5.File }

// NewH5AD reads from an open file, which it does not close.
func NewH5AD(f *hdf5.File) *H5AD { return &H5AD{f} }

// Matrix reads a matrix by its path, "X", "layers/counts" or "raw/X": dense, by
// rows (CSR) or by columns (CSC). Zeros that are stored are left out; values of 64
// bits are rounded.
func (h *H5AD) Matrix(path string) (array.Sparse[float32], error) {
	group, err := h.f.IsGroup(path)
	if err != nil {
		return array.Sparse[float32]{}, err
	}
	if !group {
		return h.dense(path)
	}
	format, err := h.text(path, "encoding-type", "h5sparse_format")
	if err != nil {
		return array.Sparse[float32]{}, err
	}
	shape, err := h.shape(path)
	if err != nil {
		return array.Sparse[float32]{}, err
	}
	switch format {
	case "csr_matrix", "csr":
		return compressed(h.f, path, shape[0], shape[1])
	case "csc_matrix", "csc":
		s, err := compressed(h.f, path, shape[1], shape[0])
		if err != nil {
			return s, err
		}
		return s.Transpose(), nil
	}
	return array.Sparse[float32]{}, fmt.Errorf("%s: a matrix encoded as %q; csr_matrix, csc_matrix and arrays are read", path, format)
}

// text reads the first of the named attributes that is there.
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

func (h *H5AD) shape(path string) (out [2]int, err error) {
	d, err := h.attribute(path, "shape", "h5sparse_shape")
	if err != nil {
		return out, err
	}
	v, err := hdf5.Numbers[int](d)
	if err == nil && (len(v) != 2 || min(v[0], v[1]) < 0 || max(v[0], v[1]) > maxSide) {
		err = fmt.Errorf("%s: the shape %v is not that of a matrix of at most %d", path, v, maxSide)
	}
	if err != nil {
		return out, err
	}
	return [2]int{v[0], v[1]}, nil
}

func (h *H5AD) dense(path string) (s array.Sparse[float32], err error) {
	d, err := h.f.Read(path)
	if err != nil {
		return s, err
	}
	if len(d.Dims) != 2 {
		return s, fmt.Errorf("%s: %d dimensions, a matrix has two", path, len(d.Dims))
	}
	values, err := hdf5.Numbers[float32](d)
	if err != nil {
		return s, err
	}
	s = array.Sparse[float32]{Rows: d.Dims[0], Cols: d.Dims[1], Starts: make([]int, 1, d.Dims[0]+1)}
	for i := range s.Rows {
		for j, v := range values[i*s.Cols : (i+1)*s.Cols] {
			if v != 0 {
				s.Columns, s.Values = append(s.Columns, int32(j)), append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, len(s.Values))
	}
	return s, s.Check(path)
}

// compressed reads a group of data, indices and indptr: indptr goes along what
// becomes the rows.
func compressed(f *hdf5.File, path string, rows, cols int) (s array.Sparse[float32], err error) {
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
	if err := inside(s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	s = withoutZeros(s)
	if !ascending(s) {
		s = s.Transpose().Transpose()
	}
	return s, s.Check(path)
}

func read[T hdf5.Number](f *hdf5.File, path string) ([]T, error) {
	d, err := f.Read(path)
	if err != nil {
		return nil, err
	}
	return hdf5.Numbers[T](d)
}

// inside checks what has to hold before a matrix can be walked through at all.
func inside(s array.Sparse[float32]) error {
	if len(s.Starts) != s.Rows+1 || len(s.Columns) != len(s.Values) || s.Starts[0] != 0 || s.Starts[s.Rows] != len(s.Values) {
		return fmt.Errorf("data, indices and indptr of %d, %d and %d are no matrix of %d x %d",
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

// withoutZeros takes out elements that are stored and zero, in place.
func withoutZeros(s array.Sparse[float32]) array.Sparse[float32] {
	to := 0
	for i := range s.Rows {
		from, end := s.Starts[i], s.Starts[i+1]
		s.Starts[i] = to
		for k := from; k < end; k++ {
			if s.Values[k] != 0 {
				s.Columns[to], s.Values[to] = s.Columns[k], s.Values[k]
				to++
			}
		}
	}
	s.Starts[s.Rows] = to
	s.Columns, s.Values = s.Columns[:to:to], s.Values[:to:to]
	return s
}

func ascending(s array.Sparse[float32]) bool {
	for i := range s.Rows {
		if columns, _ := s.Row(i); !slices.IsSorted(columns) {
			return false
		}
	}
	return true
}

// Layers returns the names of the further matrices, sorted.
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
}

// Frame reads a table by its path, "obs", "var" or "raw/var": a group of columns,
// or a compound of them as before anndata 0.7. Numbers become text.
func (h *H5AD) Frame(path string) (*Frame, error) {
	group, err := h.f.IsGroup(path)
	if err != nil {
		return nil, err
	}
	f := &Frame{Columns: map[string][]string{}}
	if group {
		err = h.columns(path, f)
	} else {
		err = h.members(path, f)
	}
	if err != nil {
		return nil, err
	}
	for name, column := range f.Columns {
		if len(column) != len(f.Index) {
			return nil, fmt.Errorf("%s/%s: %d values for %d rows", path, name, len(column), len(f.Index))
		}
	}
	return f, nil
}

// columns reads a table that is a group.
func (h *H5AD) columns(path string, f *Frame) error {
	index, err := h.text(path, "_index")
	if err != nil {
		return err
	}
	names, err := h.f.Names(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "__categories" {
			continue
		}
		values, err := h.column(path, name)
		if err != nil {
			return err
		}
		if name == index {
			f.Index = values
			continue
		}
		f.Columns[name] = values
	}
	if f.Index == nil {
		f.Index, err = h.column(path, index)
	}
	return err
}

// column reads one column: values, categories, or values some of which are missing.
func (h *H5AD) column(frame, name string) ([]string, error) {
	path := frame + "/" + name
	group, err := h.f.IsGroup(path)
	if err != nil {
		return nil, err
	}
	if group {
		return h.encoded(path)
	}
	d, err := h.f.Read(path)
	if err != nil {
		return nil, err
	}
	categories := frame + "/__categories/" + name // anndata 0.7
	if there, err := h.f.Has(categories); err != nil || !there {
		return texts(d, err)
	}
	return h.coded(d, categories)
}

// encoded reads a column that is a group: of codes and categories, or of values
// and a mask.
func (h *H5AD) encoded(path string) ([]string, error) {
	kind, err := h.text(path, "encoding-type")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "categorical":
		d, err := h.f.Read(path + "/codes")
		if err != nil {
			return nil, err
		}
		return h.coded(d, path+"/categories")
	case "nullable-integer", "nullable-boolean", "nullable-string-array":
		values, err := texts(h.f.Read(path + "/values"))
		if err != nil {
			return nil, err
		}
		mask, err := read[int](h.f, path+"/mask")
		if err != nil {
			return nil, err
		}
		if len(mask) != len(values) {
			return nil, fmt.Errorf("%s: %d values and a mask of %d", path, len(values), len(mask))
		}
		for i, missing := range mask {
			if missing != 0 {
				values[i] = ""
			}
		}
		return values, nil
	}
	return nil, fmt.Errorf("%s: a column encoded as %q, which is not read", path, kind)
}

// coded replaces codes by the categories that they count; -1 is no value.
func (h *H5AD) coded(d *hdf5.Data, path string) ([]string, error) {
	codes, err := hdf5.Numbers[int](d)
	if err != nil {
		return nil, err
	}
	categories, err := texts(h.f.Read(path))
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

// members reads a table that is a compound: the index and then the columns, whose
// categories stand under uns.
func (h *H5AD) members(path string, f *Frame) error {
	d, err := h.f.Read(path)
	if err != nil {
		return err
	}
	for k, name := range d.Members() {
		m, err := d.Member(name)
		if err != nil {
			return err
		}
		values, err := h.member(m, name)
		if err != nil {
			return err
		}
		if k == 0 {
			f.Index = values
			continue
		}
		f.Columns[name] = values
	}
	if f.Index == nil {
		return fmt.Errorf("%s: no table", path)
	}
	return nil
}

func (h *H5AD) member(d *hdf5.Data, name string) ([]string, error) {
	categories := "uns/" + name + "_categories"
	there, err := h.f.Has(categories)
	if err != nil || !there || d.Class() != hdf5.Integer {
		return texts(d, err)
	}
	return h.coded(d, categories)
}

// texts returns strings as they are and numbers in digits.
func texts(d *hdf5.Data, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	switch d.Class() {
	case hdf5.Integer, hdf5.Enum:
		return written(d, func(v int64) string { return strconv.FormatInt(v, 10) })
	case hdf5.Float:
		return written(d, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
	}
	return d.Strings()
}

func written[T hdf5.Number](d *hdf5.Data, write func(T) string) ([]string, error) {
	values, err := hdf5.Numbers[T](d)
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = write(v)
	}
	return out, err
}

// Cells makes cells of one matrix, whose rows are the cells, and of obs and var
// (raw/var for raw/X). The matrix has to hold counts. The genes' identifiers are
// var's column gene_ids where it has one.
func (h *H5AD) Cells(path string) (*Cells, error) {
	counts, err := h.Matrix(path)
	if err != nil {
		return nil, err
	}
	if err := areCounts(counts.Values); err != nil {
		layers, _ := h.Layers() // the first error is the one that counts
		return nil, fmt.Errorf("%s: %w; see OpenLayer for another matrix, of layers/ %q", path, err, layers)
	}
	obs, err := h.Frame("obs")
	if err != nil {
		return nil, err
	}
	frame := "var"
	if strings.HasPrefix(path, "raw") { // raw/X, before anndata 0.7 raw.X
		frame = strings.TrimSuffix(path, "X") + "var"
	}
	genes, err := h.Frame(frame)
	if err != nil {
		return nil, err
	}
	c := &Cells{Counts: counts, Barcodes: obs.Index, GeneIDs: genes.Index, Genes: Unique(genes.Index),
		Y: unlabelled(len(obs.Index)), Obs: obs.Columns}
	if ids, ok := genes.Columns["gene_ids"]; ok {
		c.GeneIDs = ids
	}
	return c, nil
}
