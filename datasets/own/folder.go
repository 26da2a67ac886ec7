// A folder of images: one folder per class, PNG and JPEG.

package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/progress"
)

// maxImages bounds the number of images.
const maxImages = 1 << 22

// Size cuts the middle square of every image and scales it to the given side in pixels. Without it
// all images must have the same size.
func Size(side int) Side { return Side{side} }

// Side is the option that Size returns.
type Side struct{ pixels int }

func (o Side) setImage(s *recordSettings) error {
	if o.pixels < 1 || o.pixels*o.pixels > maxImagePixels {
		return fmt.Errorf("Size(%d): a side is 1 to %d pixels", o.pixels, 1<<13)
	}
	s.Size = o.pixels
	return nil
}

// Images are the images of a folder of the user's own, read and checked.
type Images struct {
	pictures *pictures
	info     datasets.Info
	notes    []string
}

// ReadImages reads a folder that has a folder per class, with PNG and JPEG files. If it has the
// folders train and test, in small letters or capitals, which then have the folders of the classes,
// these are the parts. Classes are sorted by name.
//
// Images are grey if all of them are, else in colour; Grey and Colour force it. They are turned as
// their EXIF orientation says. Transparency is ignored: the colours below it are used. If a file has
// 16 bits per channel, all are read with 16. All images have the same size, unless Size scales them.
//
// A file that cannot be read, or that has another size than most, is an error that names up to ten
// of them. Hidden files are left out.
func ReadImages(dir string, options ...ImageOption) (*Images, error) {
	defer progress.Begin("reading "+filepath.Base(dir), 0).Done()
	s := recordSettings{}
	for _, o := range options {
		if err := o.setImage(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	f, err := listFolder(dir)
	if err != nil {
		return nil, err
	}
	if err := checkParts(f.y, f.test, f.classes, "images"); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	d, err := f.read(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return f.dataSet(s, d), nil
}

// imageFolder are the files of a folder of images: those of the train part, then those of the test
// part, by class and name.
type imageFolder struct {
	dir     string
	names   []string // of the files, relative to dir, with slashes
	y       []int
	test    int // files at the end that are the test part
	classes []string
	notes   []string
}

func listFolder(dir string) (*imageFolder, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, files.WrongKind(dir, "a folder with a folder per class", info.Mode())
	}
	f := &imageFolder{dir: dir}
	folders, others, err := entries(dir)
	if err != nil {
		return nil, err
	}
	if err := f.checkTop(others); err != nil {
		return nil, err
	}
	train, test := trainAndTest(folders)
	switch parts := partsAmong(folders); {
	case len(folders) == 0:
		return nil, fmt.Errorf("%s: there are no folders in it, expected one per class", dir)
	case train != "" && test != "" && len(folders) == 2:
		if err := f.addClasses(train); err != nil {
			return nil, err
		}
		n := len(f.names)
		err = f.addClasses(test)
		f.test = len(f.names) - n
	case train != "" && len(parts) == len(folders):
		return nil, fmt.Errorf("%s: the folders %s: expected train and test, or one folder per class", dir, strings.Join(folders, ", "))
	default:
		err = f.addClasses("")
	}
	return f, err
}

// trainAndTest returns the names of the folders of both parts, empty where there is none. Any letter
// can be a capital.
func trainAndTest(folders []string) (train, test string) {
	for _, name := range folders {
		switch strings.ToLower(name) {
		case "train":
			train = name
		case "test":
			test = name
		}
	}
	return train, test
}

// partsAmong returns the names that parts of data have.
func partsAmong(folders []string) (parts []string) {
	for _, name := range folders {
		if slices.Contains([]string{"train", "test", "val", "valid", "validation"}, strings.ToLower(name)) {
			parts = append(parts, name)
		}
	}
	return parts
}

// entries returns the folders and the other entries of a folder, sorted, without hidden ones.
// Symbolic links are followed.
func entries(dir string) (folders, others []string, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range list {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == "Thumbs.db" || name == "desktop.ini" {
			continue
		}
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(dir, name))
			isDir = err == nil && info.IsDir()
		}
		if isDir {
			folders = append(folders, name)
		} else {
			others = append(others, name)
		}
	}
	return folders, others, nil
}

// checkTop refuses images beside the folders of classes, and notes other files.
func (f *imageFolder) checkTop(names []string) error {
	for _, name := range names {
		switch strings.ToLower(filepath.Ext(name)) {
		case ".png", ".jpg", ".jpeg":
			return fmt.Errorf("%s: an image beside the folders; images are in a folder that is named after their class", filepath.Join(f.dir, name))
		}
		f.notes = append(f.notes, name+" is not in the folder of a class: left out.")
	}
	return nil
}

// addClasses adds the images of all classes in a folder of f.dir.
func (f *imageFolder) addClasses(part string) error {
	classes, others, err := entries(filepath.Join(f.dir, part))
	if err != nil {
		return err
	}
	if part != "" {
		if err := (&imageFolder{dir: filepath.Join(f.dir, part)}).checkTop(others); err != nil {
			return err
		}
	}
	if len(classes) == 0 {
		return fmt.Errorf("%s: there are no folders in it, expected one per class", filepath.Join(f.dir, part))
	}
	if f.classes == nil {
		f.classes = classes
	}
	for _, class := range classes {
		folder := filepath.Join(f.dir, part, class)
		code := slices.Index(f.classes, class)
		if code < 0 {
			return fmt.Errorf("%s: the class is not in the train part; its classes are %s", folder, firstOf(f.classes))
		}
		deeper, names, err := entries(folder)
		switch {
		case err != nil:
			return err
		case len(deeper) > 0:
			return fmt.Errorf("%s: a folder in the folder of a class, expected images", filepath.Join(folder, deeper[0]))
		case len(names) == 0:
			return fmt.Errorf("%s: there are no images in it", folder)
		case len(f.names)+len(names) > maxImages:
			return fmt.Errorf("%s: more than %d images", f.dir, maxImages)
		}
		for _, name := range names {
			f.names = append(f.names, filepath.ToSlash(filepath.Join(part, class, name)))
			f.y = append(f.y, code)
		}
	}
	return nil
}

// badFile is an image that cannot be used.
type badFile struct{ name, why string }

// imageData are the images of a folder, read.
type imageData struct {
	pixel                     func(image int, pixels []float32)
	shape                     [3]int
	hashes                    []string
	deep, turned, transparent int // images with 16 bits per channel, turned ones, those with transparent pixels
}

// read checks the sizes of all images, then decodes them. If one has 16 bits per channel, all get 16,
// so that none loses any.
func (f *imageFolder) read(s recordSettings) (*imageData, error) {
	headers := make([]header, len(f.names))
	var bad []badFile
	var err error
	for i, name := range f.names {
		if headers[i], err = readHeader(f.path(name)); err != nil {
			bad = append(bad, badFile{name, err.Error()})
		}
	}
	d := &imageData{hashes: make([]string, len(f.names))}
	d.count(headers)
	var wrong []badFile
	d.shape, wrong = f.shape(headers, s)
	bad = append(bad, wrong...)
	if d.shape[0]*d.shape[1]*d.shape[2]*len(f.names) > maxValues {
		return nil, fmt.Errorf("%d images of %s have more than %d values; Size(32) makes them smaller", len(f.names), shapeText(d.shape), maxValues)
	}
	if d.deep > 0 {
		d.pixel, bad = readPixels[uint16](f, d, headers, bad)
	} else {
		d.pixel, bad = readPixels[byte](f, d, headers, bad)
	}
	return d, f.badFiles(bad)
}

// count counts what the headers of the files say.
func (d *imageData) count(headers []header) {
	for _, h := range headers {
		if h.deep {
			d.deep++
		}
		if h.orientation > upright {
			d.turned++
		}
	}
}

// readPixels decodes the images that are not known to be bad into one slice. It returns a
// pictures.pixel, and the files that are bad with those that turned out to be.
func readPixels[T sample](f *imageFolder, d *imageData, headers []header, bad []badFile) (func(image int, pixels []float32), []badFile) {
	size := d.shape[0] * d.shape[1] * d.shape[2]
	pixels := make([]T, size*len(f.names))
	known := map[string]bool{}
	for _, b := range bad {
		known[b.name] = true
	}
	for i, name := range f.names {
		if known[name] {
			continue
		}
		hash, opaque, err := readImage(f.path(name), headers[i], pixels[i*size:(i+1)*size], d.shape)
		if err != nil {
			bad = append(bad, badFile{name, err.Error()})
		}
		d.hashes[i] = hash
		if !opaque {
			d.transparent++
		}
	}
	return samplePixels(pixels), bad
}

func (f *imageFolder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// badFiles returns an error that names up to ten files.
func (f *imageFolder) badFiles(bad []badFile) error {
	if len(bad) == 0 {
		return nil
	}
	const most = 10
	slices.SortFunc(bad, func(a, b badFile) int { return cmp.Compare(a.name, b.name) })
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d files cannot be used:", len(bad), len(f.names))
	for _, b := range bad[:min(most, len(bad))] {
		fmt.Fprintf(&text, "\n  %s: %s", b.name, b.why)
	}
	if len(bad) > most {
		fmt.Fprintf(&text, "\n  and %d more", len(bad)-most)
	}
	return errors.New(text.String())
}

// shape returns the shape of the images, and the images of another size than most.
func (f *imageFolder) shape(headers []header, s recordSettings) (shape [3]int, wrong []badFile) {
	channels, sizes := 1, map[[2]int]int{}
	for _, h := range headers {
		if h.width == 0 {
			continue // it could not be read
		}
		sizes[[2]int{h.height, h.width}]++
		if !h.grey {
			channels = 3
		}
	}
	switch s.Colours {
	case "grey":
		channels = 1
	case "colour":
		channels = 3
	}
	if s.Size > 0 {
		return [3]int{channels, s.Size, s.Size}, nil
	}
	var most [2]int
	for size, n := range sizes {
		if n > sizes[most] || n == sizes[most] && slices.Compare(size[:], most[:]) < 0 {
			most = size
		}
	}
	for i, h := range headers {
		if h.width > 0 && ([2]int{h.height, h.width}) != most {
			wrong = append(wrong, badFile{f.names[i], fmt.Sprintf("%d x %d pixels, most images have %d x %d; Size(%d) cuts and scales them",
				h.width, h.height, most[1], most[0], min(most[0], most[1]))})
		}
	}
	return [3]int{channels, most[0], most[1]}, wrong
}

// imageReading is part of a key: the options, and what is found in the files and changes how they are
// read. The key of images of 8 bits that all lie upright depends on the options alone.
type imageReading struct {
	recordSettings
	Bits   int  `json:",omitempty"` // per channel, if they are not 8
	Turned bool `json:",omitempty"` // by EXIF
}

func (d *imageData) reading(s recordSettings) imageReading {
	r := imageReading{recordSettings: s, Turned: d.turned > 0}
	if d.deep > 0 {
		r.Bits = 16
	}
	return r
}

// notes says what one may not expect of the images.
func (d *imageData) notes() (notes []string) {
	switch all := len(d.hashes); {
	case d.deep == all:
		notes = append(notes, "16 bits per channel.")
	case d.deep > 0:
		notes = append(notes, fmt.Sprintf("16 bits per channel in %s; the others have 8, and are read with 16.", count(d.deep, "image")))
	}
	switch {
	case d.turned == 1:
		notes = append(notes, "1 image was turned as its EXIF orientation says.")
	case d.turned > 1:
		notes = append(notes, fmt.Sprintf("%d images were turned as their EXIF orientation says.", d.turned))
	}
	const ignored = "Transparency is ignored: the colours below it are used. If it holds the shape of things, put the images on a background first."
	switch {
	case d.transparent == 1:
		notes = append(notes, "1 image has transparent pixels. "+ignored)
	case d.transparent > 1:
		notes = append(notes, fmt.Sprintf("%d images have transparent pixels. %s", d.transparent, ignored))
	}
	return notes
}

func (f *imageFolder) dataSet(s recordSettings, d *imageData) *Images {
	folder := key("folder", f.names, d.hashes...)
	title := baseName(f.dir)
	p := &pictures{y: f.y, test: f.test, pixel: d.pixel}
	p.about = datasets.About{Name: dataName(f.dir), Title: title, Shape: d.shape, Classes: f.classes,
		Hash: key("images", d.reading(s), folder), Sources: []datasets.SourceFile{{Name: title, SHA256: folder}},
		Columns: []datasets.Column{f.fileColumn(), classColumn(f.y, f.classes)}}
	return &Images{pictures: p, info: p.info("the folder of an image"), notes: append(f.notes, d.notes()...)}
}

// fileColumn returns the names of the files, so that single images can be named.
func (f *imageFolder) fileColumn() datasets.Column {
	ids := make([]int32, len(f.names))
	for i := range ids {
		ids[i] = int32(i)
	}
	return datasets.NewTextColumn("file", datasets.Text, ids, f.names)
}

// Name returns the name of the folder: letters, digits, _ and - only.
func (m *Images) Name() string { return m.info.Name }

// Key identifies the files and how they are read.
func (m *Images) Key() string { return m.pictures.about.Hash }

// Info describes the images.
func (m *Images) Info() (datasets.Info, error) { return m.info, nil }

// String prints what was found.
func (m *Images) String() string { return m.pictures.report(m.notes...) }

// Prepare splits the images by class, unless the folder has a test part, and normalises every
// channel with the statistics of the train part. IDs are positions among all files, sorted by part,
// class and name; the column file names them.
func (m *Images) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	return m.PrepareKeeping(ctx, shift, nil)
}

// PrepareKeeping is Prepare with the given images in the train part, unless the parts are given.
func (m *Images) PrepareKeeping(ctx context.Context, shift int, images []int) (*datasets.Prepared, error) {
	return m.pictures.prepare(ctx, shift, images)
}
