// Images in memory, split by class or as given, and normalised by channel.

package own

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
)

// pictures are images of one shape, from any source.
type pictures struct {
	about datasets.About
	y     []int
	test  int                               // images at the end that are the given test part; 0: split by class
	pixel func(image int, pixels []float32) // writes an image channel by channel
}

// check returns an error unless the images can be split and their number of values be kept.
func (p *pictures) check() error { return checkParts(p.y, p.test, p.about.Classes, "images") }

// checkParts is checkLabels for records of which the last ones can be a given test part.
func checkParts(y []int, test int, classes []string, what string) error {
	if test == 0 {
		return checkLabels(y, classes, what)
	}
	train := y[:len(y)-test]
	if err := checkClasses(len(train), classes, "training "+what); err != nil {
		return err
	}
	for code, n := range counts(train, len(classes)) {
		if n == 0 {
			return fmt.Errorf("the class %q is in the test part only", classes[code])
		}
	}
	return nil
}

// splitRecords returns the parts: the given ones, or 20 % of every class for testing and the
// records to keep in the train part. groups has a number per record, those of one number are in one
// part; nil: every record is on its own.
func splitRecords(y, groups []int, test, shift int, keep []int) (datasets.Split, error) {
	switch seed := uint32(splitSeed + shift); {
	case test == 0 && groups != nil:
		s, err := datasets.GroupedSplit(y, groups, testFraction, seed)
		if s = s.KeepInTrain(datasets.WithGroups(keep, groups)); err == nil && len(s.Test) == 0 {
			err = fmt.Errorf("the %s to keep in the train part, with all that is kept together with them, leave none for testing", count(len(keep), "row"))
		}
		return s, err
	case test == 0:
		s, err := datasets.StratifiedSplit(y, testFraction, seed)
		return s.KeepInTrain(keep), err
	}
	var s datasets.Split
	for i := range y {
		if i < len(y)-test {
			s.Train = append(s.Train, i)
		} else {
			s.Test = append(s.Test, i)
		}
	}
	return s, nil
}

// splitKey is the key of prepared data: the shift of the seed does not change given parts.
func splitKey(hash string, test, shift int, keep []int) string {
	if test > 0 {
		shift, keep = 0, nil
	}
	if len(keep) > 0 {
		hash = key("kept", keep, hash)
	}
	return preparedKey(hash, shift)
}

func (p *pictures) info(task string) datasets.Info {
	s := p.about.Shape
	return datasets.Info{
		Name: p.about.Name, Title: p.about.Title, Task: task,
		Rows: len(p.y), TestRows: p.test, Features: s[0] * s[1] * s[2], Shape: s, Classes: p.about.Classes,
		Description: fmt.Sprintf("Images of the user's own: %d of %s.", len(p.y), shapeText(s)),
	}
}

// shapeText prints a shape as width x height and colours.
func shapeText(s [3]int) string {
	colours := fmt.Sprintf("%d channels", s[0])
	switch s[0] {
	case 1:
		colours = "grey"
	case 3:
		colours = "colour"
	}
	return fmt.Sprintf("%d x %d pixels, %s", s[2], s[1], colours)
}

// String prints what was found.
func (p *pictures) report(notes ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d images of %s", p.about.Title, len(p.y), shapeText(p.about.Shape))
	if p.test > 0 {
		fmt.Fprintf(&b, "; the last %d are the test part", p.test)
	}
	fmt.Fprintf(&b, "\n%s: %s\n", count(len(p.about.Classes), "class"), classList(classCounts(p.y, p.about.Classes)))
	for _, note := range slices.Concat(notes, classesAlike(p.about.Classes)) {
		b.WriteString(note + "\n")
	}
	return b.String()
}

// classesAlike returns a note if the names of two classes differ in spelling alone: they are often one
// class, written in two ways.
func classesAlike(classes []string) (notes []string) {
	if one, other, found := datasets.SpeltAlike(classes); found {
		notes = append(notes, fmt.Sprintf("%q and %q are two classes, which differ in capitals or spaces alone.", one, other))
	}
	return notes
}

// prepare splits the images and normalises every channel with the statistics of the train part. A
// constant channel is only centred.
func (p *pictures) prepare(ctx context.Context, shift int, keep []int) (*datasets.Prepared, error) {
	split, err := splitRecords(p.y, nil, p.test, shift, keep)
	if err != nil {
		return nil, err
	}
	out := &datasets.Prepared{About: p.about, Hash: splitKey(p.about.Hash, p.test, shift, keep)}
	if out.Train, err = p.part(ctx, split.Train); err != nil {
		return nil, err
	}
	if out.Test, err = p.part(ctx, split.Test); err != nil {
		return nil, err
	}
	if out.Norm, err = images.MeasureChannels(out.Train.X, p.about.Shape); err != nil {
		return nil, err
	}
	for ch, sd := range out.Norm.SD {
		if sd == 0 {
			out.Norm.SD[ch] = 1
		}
	}
	for _, part := range []datasets.Part{out.Train, out.Test} {
		for i := range part.X.Rows {
			if err := images.Normalise(out.Norm, part.X.Row(i), part.X.Row(i), p.about.Shape); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (p *pictures) part(ctx context.Context, rows []int) (datasets.Part, error) {
	s := p.about.Shape
	out := datasets.Part{X: array.New[float32](len(rows), s[0]*s[1]*s[2]), Y: make([]int, len(rows)), IDs: rows}
	for k, i := range rows {
		if k%1024 == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
		p.pixel(i, out.X.Row(k))
		out.Y[k] = p.y[i]
	}
	return out, nil
}

// samplePixels returns a pictures.pixel of images that are samples, channel by channel: 0 is black, 1
// is white.
func samplePixels[T sample](data []T) func(image int, pixels []float32) {
	white := float32(^T(0))
	return func(image int, pixels []float32) {
		for k, v := range data[image*len(pixels) : (image+1)*len(pixels)] {
			pixels[k] = float32(v) / white
		}
	}
}

// classColumn returns the classes of records as a column.
func classColumn(y []int, classes []string) datasets.Column {
	c := datasets.Column{Name: "class", Kind: datasets.Category, Codes: make([]int32, len(y)), Values: classes}
	for i, code := range y {
		c.Codes[i] = int32(code)
	}
	return c
}
