// Arrays of NumPy with labels: records of numbers, or images.

package own

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/progress"
)

// recordSettings are the resolved options of arrays, idx files and folders of images. They are part
// of a key.
type recordSettings struct {
	Channels string    `json:",omitempty"` // "first" or "last"
	Colours  string    `json:",omitempty"` // "grey" or "colour"
	Size     int       `json:",omitempty"`
	Test     [2]string `json:"-"` // paths; their hashes are in the key
}

// ArrayOption is an option of ReadArrays: ChannelsFirst, ChannelsLast, Grey or Test.
type ArrayOption interface{ setArray(*recordSettings) error }

// IDXOption is an option of ReadIDX: ChannelsFirst, ChannelsLast or Test.
type IDXOption interface{ setIDX(*recordSettings) error }

// ImageOption is an option of ReadImages: Size, Grey or Colour.
type ImageOption interface{ setImage(*recordSettings) error }

// Channels is the option that ChannelsFirst and ChannelsLast return.
type Channels struct{ where string }

func (c Channels) set(s *recordSettings) error {
	if s.Channels != "" && s.Channels != c.where {
		return errors.New("channels cannot be first and last")
	}
	s.Channels = c.where
	return nil
}

func (c Channels) setArray(s *recordSettings) error { return c.set(s) }
func (c Channels) setIDX(s *recordSettings) error   { return c.set(s) }

// ChannelsFirst says that an array of four dimensions holds images as (n, channels, height, width).
func ChannelsFirst() Channels { return Channels{"first"} }

// ChannelsLast says that an array of four dimensions holds images as (n, height, width, channels).
func ChannelsLast() Channels { return Channels{"last"} }

// Colours is the option that Grey and Colour return.
type Colours struct{ which string }

func (c Colours) setImage(s *recordSettings) error {
	if s.Colours != "" && s.Colours != c.which {
		return errors.New("images cannot be grey and in colour")
	}
	s.Colours = c.which
	return nil
}

// GreyImages is the option that Grey returns.
type GreyImages struct{ Colours }

func (g GreyImages) setArray(s *recordSettings) error { return g.setImage(s) }

// Grey reads a folder of images in grey, and says that an array of three dimensions holds grey
// images as (n, height, width).
func Grey() GreyImages { return GreyImages{Colours{"grey"}} }

// Colour reads a folder of images in colour: a grey image gets three equal channels.
func Colour() Colours { return Colours{"colour"} }

// Pair is the option that Test returns.
type Pair struct{ x, y string }

func (p Pair) set(s *recordSettings) error { s.Test = [2]string{p.x, p.y}; return nil }

func (p Pair) setArray(s *recordSettings) error { return p.set(s) }
func (p Pair) setIDX(s *recordSettings) error   { return p.set(s) }

// Test names the files of the test part, in the form of the others: records and their labels.
// Without it 20 % of the records are the test part.
func Test(x, y string) Pair { return Pair{x, y} }

// Arrays are arrays of the user's own, read and checked.
type Arrays struct {
	table    *datasets.Table // records of numbers; nil for images
	test     int             // records at the end that are the given test part
	pictures *pictures       // images; nil for records of numbers
	info     datasets.Info
	text     string
}

// ReadArrays reads .npy files: records of shape (n, features), of any type of number, with labels
// of shape (n,), integers or texts. Images have the shape (n, channels, height, width) or (n, height,
// width, channels), said by ChannelsFirst or ChannelsLast, or (n, height, width), said by Grey.
//
// Records become a table whose features are x1, x2, ... Classes are the labels that occur,
// ascending. Errors name the file, and the row and the column of a value that is not finite.
func ReadArrays(x, y string, options ...ArrayOption) (*Arrays, error) {
	defer progress.Begin("reading "+filepath.Base(x), 0).Done()
	s := recordSettings{}
	for _, o := range options {
		if err := o.setArray(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", x, err)
		}
	}
	info, err := npy.ReadInfo(x)
	if err != nil {
		return nil, err
	}
	shape, err := s.recordShape(info)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x, err)
	}
	l, err := readLabelled(x, y, s.Test, info)
	if err != nil {
		return nil, err
	}
	about := l.about(x, key("arrays", s, l.hashes...))
	if shape == ([3]int{}) {
		return l.records(about, x, y)
	}
	about.Shape = shape
	return l.images(about, s.Channels == "last", y)
}

// maxChannels bounds the channels of an image; more of them are a mistaken side.
const maxChannels = 16

// recordShape returns the shape of images, zero for records of numbers.
func (s recordSettings) recordShape(info npy.Info) (shape [3]int, err error) {
	d := info.Shape
	values := 1
	for _, n := range d {
		if values *= max(n, 1); values > maxValues {
			return shape, fmt.Errorf("an array of shape %s has more than %d values", info, maxValues)
		}
	}
	switch {
	case len(d) == 2 && s.Channels == "" && s.Colours == "":
		return shape, nil
	case len(d) == 3 && s.Channels == "" && s.Colours == "grey":
		return [3]int{1, d[1], d[2]}, nil
	case len(d) == 3:
		return shape, fmt.Errorf("%s: say Grey() if these are grey images of shape (n, height, width)", info)
	case len(d) == 4 && s.Colours == "":
		shape, err = s.imageShape(d)
	default:
		err = errors.New("records have the shape (n, features), images (n, channels, height, width), (n, height, width, channels), " +
			"or (n, height, width) with Grey()")
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", info, err)
	}
	return shape, err
}

// imageShape returns the shape of images of four dimensions, of which the first is their number.
func (s recordSettings) imageShape(d []int) (shape [3]int, err error) {
	switch s.Channels {
	case "first":
		shape = [3]int{d[1], d[2], d[3]}
	case "last":
		shape = [3]int{d[3], d[1], d[2]}
	default:
		return shape, errors.New("say ChannelsFirst() for images of shape (n, channels, height, width), ChannelsLast() for (n, height, width, channels)")
	}
	if shape[0] > maxChannels {
		err = fmt.Errorf("images with %d channels, at most %d are read; are the channels on the other side?", shape[0], maxChannels)
	}
	return shape, err
}

// labelled are arrays in memory with their labels.
type labelled struct {
	parts  []array.Rows // the train part and the test part, if one is given
	y      []int
	test   int
	names  []string // of the classes
	paths  []string
	hashes []string
	kind   string
}

func readLabelled(x, y string, test [2]string, info npy.Info) (*labelled, error) {
	l := &labelled{kind: info.Type}
	labels, err := l.add(x, y, info.Shape)
	if err != nil {
		return nil, err
	}
	l.y, l.names = labels.Codes, labels.Names
	if test != ([2]string{}) {
		if labels, err = l.add(test[0], test[1], info.Shape); err != nil {
			return nil, err
		}
		codes, err := mergeLabels(l.names, labels)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", test[1], err)
		}
		l.y, l.test = append(l.y, codes...), len(codes)
	}
	if err := checkParts(l.y, l.test, l.names, "records"); err != nil {
		return nil, fmt.Errorf("%s: %w", y, err)
	}
	return l, nil
}

// add reads a pair of files, whose records have the given shape after the first dimension.
func (l *labelled) add(x, y string, shape []int) (labels npy.Labels, err error) {
	info, err := npy.ReadInfo(x)
	if err != nil {
		return labels, err
	}
	if len(info.Shape) != len(shape) || !slices.Equal(info.Shape[1:], shape[1:]) {
		return labels, fmt.Errorf("%s: %s, expected records of the shape %v as in the other file", x, info, shape[1:])
	}
	if labels, err = npy.ReadLabels(y); err != nil {
		return labels, err
	}
	if len(labels.Codes) != info.Shape[0] {
		return labels, fmt.Errorf("%s: %d labels for the %d records of %s", y, len(labels.Codes), info.Shape[0], x)
	}
	rows, _, err := npy.ReadRecords(x)
	if err != nil {
		return labels, err
	}
	if err := rows.Check(x); err != nil {
		return labels, fmt.Errorf("%w; every value must be finite", err)
	}
	l.parts = append(l.parts, rows)
	for _, path := range []string{x, y} {
		hash, err := hashFile(path)
		if err != nil {
			return labels, err
		}
		l.paths, l.hashes = append(l.paths, path), append(l.hashes, hash)
	}
	return labels, nil
}

// mergeLabels returns the codes of labels among the names of other ones.
func mergeLabels(names []string, labels npy.Labels) ([]int, error) {
	codes := make([]int, len(labels.Codes))
	for i, code := range labels.Codes {
		if codes[i] = slices.Index(names, labels.Names[code]); codes[i] < 0 {
			return nil, fmt.Errorf("label %d is %q, which is not in the train part; its labels are %s", i, labels.Names[code], firstOf(names))
		}
	}
	return codes, nil
}

func (l *labelled) about(x, hash string) datasets.About {
	a := datasets.About{Name: dataName(x), Title: filepath.Base(x), Classes: l.names, Hash: hash,
		Columns: []datasets.Column{classColumn(l.y, l.names)}}
	for k, path := range l.paths {
		a.Sources = append(a.Sources, datasets.SourceFile{Name: filepath.Base(path), SHA256: l.hashes[k]})
	}
	return a
}

// row returns record i of all parts.
func (l *labelled) row(buffer []float64, i int) []float64 {
	for _, part := range l.parts {
		n, _ := part.Shape()
		if i < n {
			return part.Read(buffer, i)
		}
		i -= n
	}
	return nil
}

// records returns arrays of two dimensions.
func (l *labelled) records(about datasets.About, x, y string) (*Arrays, error) {
	_, cols := l.parts[0].Shape()
	if cols == 0 {
		return nil, fmt.Errorf("%s: the records have no features", x)
	}
	if len(l.y)*cols > maxValues {
		return nil, fmt.Errorf("%s: more than %d values in both parts", x, maxValues)
	}
	t := &datasets.Table{About: about, X: array.New[float64](len(l.y), cols), Y: l.y}
	for i := range l.y {
		copy(t.X.Row(i), l.row(t.X.Row(i), i))
	}
	for j := range cols {
		t.Features = append(t.Features, datasets.Feature{Name: fmt.Sprintf("x%d", j+1)})
	}
	if constant := constantColumns(t.X); constant == cols {
		return nil, fmt.Errorf("%s: all %d features are constant: there is nothing to learn from", x, cols)
	}
	a := &Arrays{table: t, test: l.test}
	a.info = datasets.Info{Name: about.Name, Title: about.Title, Task: "the label in " + filepath.Base(y), Rows: len(l.y), TestRows: l.test,
		Features: cols, Classes: l.names, Description: fmt.Sprintf("Arrays of the user's own: %d records of %d numbers.", len(l.y), cols)}
	a.text = fmt.Sprintf("%s: %d records of %d features, %s\n%s in %s: %s\n", about.Title, len(l.y), cols, l.kind,
		count(len(l.names), "class"), filepath.Base(y), classList(classCounts(l.y, l.names)))
	if n := constantColumns(t.X); n > 0 {
		a.text += fmt.Sprintf("%s: they stay, and are 0 after scaling.\n", count(n, "constant feature"))
	}
	if l.test > 0 {
		a.text += fmt.Sprintf("The last %d records are the test part.\n", l.test)
	}
	for _, note := range classesAlike(l.names) {
		a.text += note + "\n"
	}
	return a, nil
}

func constantColumns(x array.Matrix[float64]) int {
	constant := make([]bool, x.Cols)
	for j := range constant {
		constant[j] = true
	}
	for i := 1; i < x.Rows; i++ {
		for j, v := range x.Row(i) {
			constant[j] = constant[j] && v == x.Row(0)[j]
		}
	}
	n := 0
	for _, is := range constant {
		if is {
			n++
		}
	}
	return n
}

// images returns arrays of images. Values are kept as they are: they are normalised by channel.
func (l *labelled) images(about datasets.About, last bool, y string) (*Arrays, error) {
	c, plane := about.Shape[0], about.Shape[1]*about.Shape[2]
	if c*plane == 0 {
		return nil, fmt.Errorf("%s: the images have no pixels", about.Title)
	}
	p := &pictures{about: about, y: l.y, test: l.test}
	p.pixel = func(image int, pixels []float32) {
		from := l.row(make([]float64, c*plane), image)
		for k, v := range from {
			if last {
				k = k%c*plane + k/c
			}
			pixels[k] = float32(v)
		}
	}
	return &Arrays{pictures: p, info: p.info("the label in " + filepath.Base(y)), text: p.report()}, nil
}

// Name returns the name of the file of records without its extension.
func (a *Arrays) Name() string { return a.info.Name }

// Key identifies the files and how they are read.
func (a *Arrays) Key() string {
	if a.pictures != nil {
		return a.pictures.about.Hash
	}
	return a.table.Hash
}

// Info describes the arrays.
func (a *Arrays) Info() (datasets.Info, error) { return a.info, nil }

// String prints what was found.
func (a *Arrays) String() string { return a.text }

// Prepare splits the records by class, unless Test gave a test part, and scales them: features, or
// the channels of images, to mean 0 and standard deviation 1 in the train part.
func (a *Arrays) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	return a.PrepareKeeping(ctx, shift, nil)
}

// PrepareKeeping is Prepare with the given records in the train part, unless the parts are given.
func (a *Arrays) PrepareKeeping(ctx context.Context, shift int, records []int) (*datasets.Prepared, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.pictures != nil {
		return a.pictures.prepare(ctx, shift, records)
	}
	return prepareTable(a.table, nil, a.test, shift, records)
}
