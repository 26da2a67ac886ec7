// A folder of images: one folder per class, PNG and JPEG.

package own

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // image.Decode reads both formats
	_ "image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Limits of one file of an image and of its pixels, and of the number of images.
const (
	maxImageBytes  = 256 << 20
	maxImagePixels = 1 << 26
	maxImages      = 1 << 22
)

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
// folders train and test, which then have the folders of the classes, these are the parts. Classes
// are sorted by name.
//
// Images are grey if all of them are, else in colour; Grey and Colour force it. Transparency is
// ignored. All images have the same size, unless Size scales them.
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
	pixels, shape, hashes, err := f.read(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return f.dataSet(s, pixels, shape, hashes), nil
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
	switch parts := partsAmong(folders); {
	case len(folders) == 0:
		return nil, fmt.Errorf("%s: there are no folders in it, expected one per class", dir)
	case slices.Equal(folders, []string{"test", "train"}):
		if err := f.addClasses("train"); err != nil {
			return nil, err
		}
		n := len(f.names)
		err = f.addClasses("test")
		f.test = len(f.names) - n
	case slices.Contains(folders, "train") && len(parts) == len(folders):
		return nil, fmt.Errorf("%s: the folders %s: expected train and test, or one folder per class", dir, strings.Join(folders, ", "))
	default:
		err = f.addClasses("")
	}
	return f, err
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

// read checks the sizes of all images, then decodes them into one slice of bytes.
func (f *imageFolder) read(s recordSettings) (pixels []byte, shape [3]int, hashes []string, err error) {
	configs := make([]image.Config, len(f.names))
	var bad []badFile
	for i, name := range f.names {
		if configs[i], err = readConfig(f.path(name)); err != nil {
			bad = append(bad, badFile{name, err.Error()})
		}
	}
	var wrong []badFile
	shape, wrong = f.shape(configs, s)
	bad = append(bad, wrong...)
	size := shape[0] * shape[1] * shape[2]
	if size*len(f.names) > maxValues {
		return nil, shape, nil, fmt.Errorf("%d images of %s have more than %d values; Size(32) makes them smaller", len(f.names), shapeText(shape), maxValues)
	}
	pixels, hashes = make([]byte, size*len(f.names)), make([]string, len(f.names))
	known := map[string]bool{}
	for _, b := range bad {
		known[b.name] = true
	}
	for i, name := range f.names {
		if known[name] {
			continue
		}
		if hashes[i], err = readImage(f.path(name), configs[i], pixels[i*size:(i+1)*size], shape); err != nil {
			bad = append(bad, badFile{name, err.Error()})
		}
	}
	return pixels, shape, hashes, f.badFiles(bad)
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
func (f *imageFolder) shape(configs []image.Config, s recordSettings) (shape [3]int, wrong []badFile) {
	channels, sizes := 1, map[[2]int]int{}
	for _, c := range configs {
		if c.Width == 0 {
			continue // it could not be read
		}
		sizes[[2]int{c.Height, c.Width}]++
		if !isGrey(c) {
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
	for i, c := range configs {
		if c.Width > 0 && ([2]int{c.Height, c.Width}) != most {
			wrong = append(wrong, badFile{f.names[i], fmt.Sprintf("%d x %d pixels, most images have %d x %d; Size(%d) cuts and scales them",
				c.Width, c.Height, most[1], most[0], min(most[0], most[1]))})
		}
	}
	return [3]int{channels, most[0], most[1]}, wrong
}

// readConfig reads the size and the colours of an image from the beginning of its file.
func readConfig(path string) (c image.Config, err error) {
	file, err := files.Open(path)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	c, _, err = image.DecodeConfig(file)
	if errors.Is(err, image.ErrFormat) {
		err = errors.New("not an image in PNG or JPEG")
	}
	if err == nil && (c.Width < 1 || c.Height < 1 || c.Width > maxImagePixels/c.Height) {
		err = fmt.Errorf("%d x %d pixels, at most %d pixels are read", c.Width, c.Height, maxImagePixels)
	}
	if err != nil {
		c = image.Config{}
	}
	return c, err
}

// readImage decodes a file into pixels of the given shape and returns the SHA-256 of its bytes.
func readImage(path string, c image.Config, pixels []byte, shape [3]int) (hash string, err error) {
	b, err := files.Read(path, maxImageBytes)
	if err != nil {
		return "", err
	}
	again, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err == nil && (again.Width != c.Width || again.Height != c.Height) {
		err = errors.New("the file changed while it was read")
	}
	if err != nil {
		return "", err
	}
	m, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return "", fmt.Errorf("the image is damaged: %w", err)
	}
	p := newPlanes(m, shape[0])
	if p.width != shape[2] || p.height != shape[1] {
		p = p.middle().scaled(shape[1])
	}
	copy(pixels, p.data)
	return hashOf(b), nil
}

func (f *imageFolder) dataSet(s recordSettings, pixels []byte, shape [3]int, hashes []string) *Images {
	folder := key("folder", f.names, hashes...)
	title := filepath.Base(filepath.Clean(f.dir))
	p := &pictures{y: f.y, test: f.test, pixel: bytePixels(pixels)}
	p.about = datasets.About{Name: dataName(f.dir), Title: title, Shape: shape, Classes: f.classes,
		Hash: key("images", s, folder), Sources: []datasets.SourceFile{{Name: title, SHA256: folder}},
		Columns: []datasets.Column{f.fileColumn(), classColumn(f.y, f.classes)}}
	return &Images{pictures: p, info: p.info("the folder of an image"), notes: f.notes}
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
