// Image sets: the type, the list of sets, and loading.

package images

import (
	"context"
	"fmt"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Images is a set of labelled images of one shape. Hash is the SHA-256 of Shape and White, then
// for each part the number of images, and for each image the label, the superclass (0 if there is
// none) and the pixels as bytes; numbers are 64-bit, little-endian.
type Images struct {
	datasets.About

	// Train and Test are the parts as published. Test is empty if a set has no
	// parts. For Tiny-ImageNet it is the validation part, because the labels of the
	// test part are not published.
	//
	// X has an image per row, Channels*Height*Width pixels in 0..1; IDs are the
	// numbers that the images have in the published part.
	Train, Test datasets.Part

	// Coarse names the codes of datasets.Superclass, CIFAR-100's twenty; nil for
	// other sets.
	Coarse []string

	// White is the published value of the pixel 1: 255 for most sets.
	White float64
}

// set is one data set: its description and how to open it.
type set struct {
	info   datasets.Info
	white  byte   // 0 means 255
	caveat string // see datasets.About
	coarse []string
	// people marks a set whose classes are the people on the images.
	people bool
	open   func(*loader) (*content, error)
}

// content is an opened set, from which single images are read.
type content struct {
	train, test part
	classes     []string          // nil: those of the Info
	planted     map[string][]int  // rows of train
	columns     []datasets.Column // of all rows of train
	close       func() error      // can be nil
}

// part reads one image at a time. read fills pixels and returns the label, and the superclass or
// 0.
type part struct {
	rows int
	read func(row int, pixels []byte) (y, coarse int, err error)
}

// sets returns the image sets. Tests replace it.
var sets = publishedSets

// publishedSets returns every image set in the order of All. It is built once because tables look
// names up thousands of times.
var publishedSets = sync.OnceValue(func() []set {
	return []set{
		mnist(), fashionMNIST(), cifar10(), cifar100(), svhn(), tinyImageNet(), olivetti(), lfw(),
		cifar10First4000(), cifar10JPEG(), olivettiIdx(),
		glyphs(), sketches(),
	}
})

// All returns every image set: the published ones, the copies of them, the generated ones.
func All() []datasets.Info {
	all := sets()
	out := make([]datasets.Info, len(all))
	for i, s := range all {
		out[i] = s.info
	}
	return out
}

// Lookup returns the named image set, or an error that suggests similar names.
func Lookup(name string) (datasets.Info, error) { return datasets.LookupIn(All(), name) }

// Load reads an image set from the folder datasets.Dir, checks the hash of every file before it
// uses it, and returns all of its images. It never downloads; see package fetch. A generated set
// needs no file.
//
// Errors name the file and the field or byte that cannot be read.
func Load(ctx context.Context, name string) (*Images, error) {
	return load(ctx, name, nil, nil)
}

// LoadRows is Load for the given rows of the published parts, in the given order. An empty slice
// leaves a part out; nil is an error.
func LoadRows(ctx context.Context, name string, train, test []int) (*Images, error) {
	if train == nil || test == nil {
		return nil, fmt.Errorf("datasets: %s: the rows of a part are nil; use an empty slice for none of them", name)
	}
	return load(ctx, name, train, test)
}

func load(ctx context.Context, name string, train, test []int) (*Images, error) {
	for _, s := range sets() {
		if s.info.Name == name {
			ctx, task := progress.Start(ctx, "loading "+name, 0)
			defer task.Done()
			return s.load(&loader{ctx: ctx, info: s.info}, train, test)
		}
	}
	_, err := Lookup(name)
	return nil, err
}

// load reads the rows; nil means all.
func (s set) load(r *loader, train, test []int) (*Images, error) {
	c, err := s.open(r)
	if err != nil {
		return nil, err
	}
	if c.close != nil {
		defer c.close()
	}
	if got, want := [2]int{c.train.rows, c.test.rows}, [2]int{r.info.Rows - r.info.TestRows, r.info.TestRows}; got != want {
		return nil, fmt.Errorf("datasets: %s: %d training and %d test images, expected %d and %d", r.info.Name, got[0], got[1], want[0], want[1])
	}
	m := &Images{
		About: datasets.About{Name: r.info.Name, Title: r.info.Title, Shape: r.info.Shape, Classes: c.classes,
			Caveat: s.caveat, Sources: r.sources, Synthetic: r.info.Synthetic},
		Coarse: s.coarse, White: 255,
	}
	if m.Classes == nil {
		m.Classes = r.info.Classes
	}
	m.Columns = c.columns
	if s.white != 0 {
		m.White = float64(s.white)
	}
	a := newAssembly(r.ctx, m)
	if m.Train, err = a.part(c.train, train); err != nil {
		return nil, fmt.Errorf("datasets: %s: training part: %w", m.Name, err)
	}
	if m.Test, err = a.part(c.test, test); err != nil {
		return nil, fmt.Errorf("datasets: %s: test part: %w", m.Name, err)
	}
	m.Planted = groupsAmong(c.planted, m.Train.IDs)
	m.Hash = a.sum()
	return m, nil
}

// groupsAmong returns the members of the groups that are among the given IDs.
func groupsAmong(groups map[string][]int, ids []int) map[string][]int {
	if groups == nil {
		return nil
	}
	out, in := map[string][]int{}, map[int]bool{}
	for _, id := range ids {
		in[id] = true
	}
	for name, group := range groups {
		for _, id := range group {
			if in[id] {
				out[name] = append(out[name], id)
			}
		}
	}
	return out
}

// loader is one call of Load: what is read, and from which files.
type loader struct {
	ctx     context.Context
	info    datasets.Info
	sources []datasets.SourceFile
}

// file returns the path and the checked bytes of one of the set's files.
func (r *loader) file(name string) (string, []byte, error) {
	path, b, source, err := datasets.ReadFile(r.ctx, r.info, name)
	if err == nil {
		r.sources = append(r.sources, source)
	}
	return path, b, err
}
