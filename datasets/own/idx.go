// A pair of files in idx, the format of MNIST: images and labels.

package own

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/idx"
	"github.com/lethe-ml/lethe/lib/progress"
)

// IDX are images and labels in idx files of the user's own, read and checked.
type IDX struct {
	pictures *pictures
	info     datasets.Info
}

// ReadIDX reads a file of images and a file of their labels in idx, the format of MNIST, plain or as
// .gz. Images have the shape (n, height, width), or four dimensions with ChannelsFirst or
// ChannelsLast. Test names the pair of the test part. Classes are the labels that occur, ascending.
//
// Errors name the file and the byte.
func ReadIDX(images, labels string, options ...IDXOption) (*IDX, error) {
	defer progress.Begin("reading "+filepath.Base(images), 0).Done()
	s := recordSettings{}
	for _, o := range options {
		if err := o.setIDX(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", images, err)
		}
	}
	x, err := readIDXPair(images, labels)
	if err != nil {
		return nil, err
	}
	shape, err := s.idxShape(x.images.Dims)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", images, err)
	}
	all, test := x, 0
	if s.Test != ([2]string{}) {
		t, err := readIDXPair(s.Test[0], s.Test[1])
		if err != nil {
			return nil, err
		}
		if !slices.Equal(t.images.Dims[1:], x.images.Dims[1:]) {
			return nil, fmt.Errorf("%s: images of %v, those of %s have %v", s.Test[0], t.images.Dims[1:], images, x.images.Dims[1:])
		}
		all, test = x.with(t), t.images.Dims[0]
	}
	return all.dataSet(images, labels, test, shape, s)
}

// idxShape returns the shape of images of the given dimensions, of which the first is their number.
func (s recordSettings) idxShape(dims []int) (shape [3]int, err error) {
	switch {
	case len(dims) == 3 && s.Channels == "":
		return [3]int{1, dims[1], dims[2]}, nil
	case len(dims) == 4:
		shape, err = s.imageShape(dims)
	default:
		err = errors.New("expected three dimensions: images, height and width")
	}
	if err != nil {
		err = fmt.Errorf("dimensions %v: %w", dims, err)
	}
	return shape, err
}

// idxPair is a file of images and a file of their labels.
type idxPair struct {
	images idx.Array
	labels []byte
	source []datasets.SourceFile
}

func readIDXPair(images, labels string) (*idxPair, error) {
	p := &idxPair{}
	var err error
	if p.images, err = p.read(images); err != nil {
		return nil, err
	}
	y, err := p.read(labels)
	if err != nil {
		return nil, err
	}
	if len(y.Dims) != 1 || y.Dims[0] != p.images.Dims[0] {
		return nil, fmt.Errorf("%s: dimensions %v, expected the labels of the %d images in %s", labels, y.Dims, p.images.Dims[0], images)
	}
	p.labels = y.Data
	return p, nil
}

func (p *idxPair) read(path string) (idx.Array, error) {
	b, hash, err := readWhole(path, maxValues)
	if err != nil {
		return idx.Array{}, err
	}
	a, err := idx.Parse(b)
	if err != nil {
		return a, fmt.Errorf("%s: %w", path, err)
	}
	p.source = append(p.source, datasets.SourceFile{Name: filepath.Base(path), SHA256: hash})
	return a, nil
}

// with returns the records of both pairs.
func (p *idxPair) with(more *idxPair) *idxPair {
	dims := slices.Clone(p.images.Dims)
	dims[0] += more.images.Dims[0]
	return &idxPair{images: idx.Array{Dims: dims, Data: slices.Concat(p.images.Data, more.images.Data)},
		labels: slices.Concat(p.labels, more.labels), source: slices.Concat(p.source, more.source)}
}

// dataSet returns the pair as images.
func (p *idxPair) dataSet(images, labels string, test int, shape [3]int, s recordSettings) (*IDX, error) {
	distinct := slices.Compact(slices.Sorted(slices.Values(p.labels)))
	var hashes, names []string
	for _, f := range p.source {
		hashes = append(hashes, f.SHA256)
	}
	for _, label := range distinct {
		names = append(names, strconv.Itoa(int(label)))
	}
	out := &pictures{test: test, y: make([]int, len(p.labels)), pixel: samplePixels(p.images.Data)}
	for i, label := range p.labels {
		out.y[i], _ = slices.BinarySearch(distinct, label)
	}
	if s.Channels == "last" {
		out.pixel = interleavedPixels(p.images.Data, shape)
	}
	out.about = datasets.About{Name: dataName(images), Title: filepath.Base(images), Shape: shape, Classes: names, Sources: p.source,
		Hash: key("idx", s, hashes...), Columns: []datasets.Column{classColumn(out.y, names)}}
	if err := out.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", labels, err)
	}
	return &IDX{pictures: out, info: out.info("the label in " + filepath.Base(labels))}, nil
}

// interleavedPixels is samplePixels for images with the channels of a pixel side by side.
func interleavedPixels(data []byte, shape [3]int) func(image int, pixels []float32) {
	c, plane := shape[0], shape[1]*shape[2]
	return func(image int, pixels []float32) {
		for k, v := range data[image*len(pixels) : (image+1)*len(pixels)] {
			pixels[k%c*plane+k/c] = float32(v) / 255
		}
	}
}

// Name returns the name of the file of images without its extension.
func (d *IDX) Name() string { return d.info.Name }

// Key identifies the files and how they are read.
func (d *IDX) Key() string { return d.pictures.about.Hash }

// Info describes the images.
func (d *IDX) Info() (datasets.Info, error) { return d.info, nil }

// String prints what was found.
func (d *IDX) String() string { return d.pictures.report() }

// Prepare splits the images by class, unless Test gave a test part, and normalises every channel
// with the statistics of the train part.
func (d *IDX) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	return d.PrepareKeeping(ctx, shift, nil)
}

// PrepareKeeping is Prepare with the given records in the train part, unless the parts are given.
func (d *IDX) PrepareKeeping(ctx context.Context, shift int, records []int) (*datasets.Prepared, error) {
	return d.pictures.prepare(ctx, shift, records)
}
