// The data of an experiment: tables, images, single cells and texts by name, and any other source.

package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/store"
)

// Data is the data of an experiment: records and labels that can be split and prepared for
// a network. [Table], [Images], [Faces], [Cells] and [Texts] are the data sets that Lethe knows by name,
// package own reads a user's files. A value of another module is stored under the content
// of what it prepares.
type Data interface {
	// Name is what tables and jobs call the data: letters, digits, "_", "-" and ".".
	Name() string
	// Info describes the prepared data without reading files: the number of records in
	// both parts and, where they have one of their own, in the test part; features,
	// classes, and the shape of images. Where the test part has no size of its own
	// (TestRows is 0), it is a fifth of the records. What Prepare returns must be what it says,
	// unless it says that the numbers of records are estimates (Estimated).
	Info() (datasets.Info, error)
	// Prepare reads the data, splits them into a train and a test part and normalises
	// them. shift is added to the seed of the split. The same value prepares the same
	// records.
	Prepare(ctx context.Context, shift int) (*datasets.Prepared, error)
}

// KeyedData is data whose content a short text identifies without reading them again, such
// as the hash of a file together with how it is read. Jobs are named by it. Only the data of
// this module are trusted with it; others are stored under their content.
type KeyedData interface {
	Data
	Key() string
}

// KeepingData is data that can be split with given records in the train part. Records that
// a forget set names by their numbers or a condition (Records, Where) are then trained on,
// wherever the split puts them: whoever asks to be forgotten was in the training data.
type KeepingData interface {
	Data
	// PrepareKeeping is Prepare with the records of these IDs in the train part. The other
	// records are in the part in which Prepare puts them.
	PrepareKeeping(ctx context.Context, shift int, records []int) (*datasets.Prepared, error)
}

// DocumentData is KeepingData of which a random part of the documents is used. Documents that a
// condition names are used and trained on, whether they were drawn or not.
type DocumentData interface {
	KeepingData
	// PrepareDocuments is Prepare with the documents of these numbers, those of the column
	// texts.ColumnDocument, in the train part.
	PrepareDocuments(ctx context.Context, shift int, documents []int) (*datasets.Prepared, error)
}

// DataSet returns the data set of that name, a table, images, cells or texts, with its
// defaults. The error for another name suggests similar ones of all kinds.
func DataSet(name string) (Data, error) {
	if _, err := images.Lookup(name); err == nil {
		return Images{Set: name}, nil
	}
	if _, err := cells.Lookup(name); err == nil {
		return Cells{Set: name}, nil
	}
	if _, err := texts.Lookup(name); err == nil {
		return Texts{Set: name}, nil
	}
	if _, err := datasets.LookupIn(slices.Concat(datasets.All(), images.All(), cells.All(), texts.All()), name); err != nil {
		return nil, err
	}
	return Table{Set: name}, nil
}

// Table is a table that package datasets knows. A fifth of its rows, drawn by class, is the
// test part.
type Table struct {
	Set     string // its name, "": breast_cancer
	MaxRows int    // greatest number of rows, a random subset of all; 0: all
}

// Name implements Data.
func (d Table) Name() string { return d.withDefaults().Set }

func (d Table) withDefaults() Table {
	if d.Set == "" {
		d.Set = "breast_cancer"
	}
	if info, err := datasets.Lookup(d.Set); err == nil && info.Rows <= d.MaxRows {
		d.MaxRows = 0
	}
	return d
}

// Info implements Data.
func (d Table) Info() (datasets.Info, error) {
	d = d.withDefaults()
	info, err := datasets.Lookup(d.Set)
	if err != nil {
		return info, otherKind(d.Set, err)
	}
	if d.MaxRows > 0 {
		info.Rows = d.MaxRows
	}
	return info, nil
}

// Prepare implements Data.
func (d Table) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	d = d.withDefaults()
	if _, err := datasets.Lookup(d.Set); err != nil {
		return nil, otherKind(d.Set, err)
	}
	return Prepare(ctx, d.Set, d.MaxRows, TestFraction, uint32(SplitSeed+shift))
}

// PrepareKeeping implements KeepingData.
func (d Table) PrepareKeeping(ctx context.Context, shift int, records []int) (*datasets.Prepared, error) {
	d = d.withDefaults()
	return prepareKeeping(ctx, d.Set, d.MaxRows, TestFraction, uint32(SplitSeed+shift), records)
}

// Images is a set of images that package images knows, with the published test part. The
// images that are kept are drawn at random, the same for every model.
type Images struct {
	Set      string // its name
	MaxTrain int    // greatest number of training images, 0: all
	MaxTest  int    // greatest number of test images, 0: all
	// Pixels leaves the pixels between 0, black, and 1: they are not normalised.
	Pixels bool
}

// Name implements Data.
func (d Images) Name() string { return d.Set }

// Info implements Data.
func (d Images) Info() (datasets.Info, error) {
	info, err := images.Lookup(d.Set)
	if err != nil {
		return info, otherKind(d.Set, err)
	}
	inTrain, inTest, err := images.Sizes(info, d.MaxTrain, d.MaxTest)
	info.Rows, info.TestRows = inTrain+inTest, inTest
	return info, err
}

// Prepare implements Data.
func (d Images) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	if _, err := images.Lookup(d.Set); err != nil {
		return nil, otherKind(d.Set, err)
	}
	// The rows are the same for every seed of a model.
	rng := engine.Root(SplitSeed+shift).Stream(engine.StreamSplit, uint64(d.MaxTrain), uint64(d.MaxTest))
	if d.Pixels {
		return images.Pixels(ctx, d.Set, d.MaxTrain, d.MaxTest, rng)
	}
	return images.Prepare(ctx, d.Set, d.MaxTrain, d.MaxTest, rng)
}

// Cells is a set of single cells that package cells knows. It is prepared as a whole: a
// part of it would lose rare types.
type Cells struct {
	Set string // its name
	cells.Preparation
}

// Name implements Data.
func (d Cells) Name() string { return d.Set }

func (d Cells) withDefaults() Cells {
	d.Preparation = defaults.Fill(d.Preparation)
	return d
}

// Info implements Data. Its classes are the published types and the cells without one.
func (d Cells) Info() (datasets.Info, error) {
	d = d.withDefaults()
	info, err := cells.Lookup(d.Set)
	if err != nil {
		return info, otherKind(d.Set, err)
	}
	info.Classes, info.NumClasses = nil, info.ClassCount()+1
	info.TestRows, info.Estimated = info.Rows-int(d.TrainFraction*float64(info.Rows)), true
	info.Features = d.Variable.Top
	if d.Types {
		info.Features += info.NumClasses
	}
	return info, nil
}

// Prepare implements Data.
func (d Cells) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	if _, err := cells.Lookup(d.Set); err != nil {
		return nil, otherKind(d.Set, err)
	}
	c, err := cells.Load(ctx, d.Set)
	if err != nil {
		return nil, err
	}
	return c.Prepared(d.Preparation, uint32(CellsSeed+shift))
}

// otherKind returns the error for a name that is not in a list of data sets, naming the
// kind that the set has instead.
func otherKind(name string, notFound error) error {
	data, err := DataSet(name)
	if err != nil {
		return notFound
	}
	return fmt.Errorf("it is not of this kind: use %T{Set: %q}", data, name)
}

// dataWithDefaults returns data with their defaults; nil: RULER's Breast Cancer.
func dataWithDefaults(d Data) Data {
	switch d := d.(type) {
	case nil:
		return Table{}.withDefaults()
	case Table:
		return d.withDefaults()
	case Cells:
		return d.withDefaults()
	case Texts:
		return d.withDefaults()
	case Faces:
		return d.withDefaults()
	}
	return d
}

// byName reports whether Lethe knows the data by name: their hash says what they are.
func byName(d Data) bool {
	switch d.(type) {
	case Table, Images, Faces, Cells, Texts:
		return true
	}
	return false
}

// dataKey returns the name of the data in the cache of a lab and in coordinates.
func dataKey(d Data) (string, error) {
	if k, is := d.(KeyedData); is && isOfThisModule(d) {
		return d.Name() + "/" + k.Key(), nil
	}
	if byName(d) {
		return fmt.Sprintf("%T%+v", d, d), nil
	}
	code, err := store.CodeOf(d)
	if err != nil {
		return "", err
	}
	return store.ContentHash([]any{fmt.Sprintf("%T", d), d, code}), nil
}

// checkData returns an error for data that cannot be used, before anything is read.
func checkData(d Data) error {
	if !validName(d.Name()) {
		return fmt.Errorf("the data are called %q: a name has letters, digits, \"_\", \"-\" and \".\"", d.Name())
	}
	info, err := d.Info()
	switch {
	case err != nil:
		return err
	case info.ClassCount() < 1 || info.Features < 1 || info.Rows < 1:
		return fmt.Errorf("%d records of %d features and %d classes", info.Rows, info.Features, info.ClassCount())
	case info.TestRows < 0 || info.TestRows >= info.Rows:
		return fmt.Errorf("%d of %d records are the test part", info.TestRows, info.Rows)
	}
	return nil
}

func validName(s string) bool {
	for _, r := range s {
		if r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return s != "" && s != "." && s != ".."
}

// checkPrepared returns an error for prepared data that a network cannot be trained on, so
// that data of another module cannot make the program fail later.
func checkPrepared(p *datasets.Prepared, info datasets.Info) error {
	if p == nil {
		return errors.New("Prepare returned nothing")
	}
	seen := map[int]bool{}
	for _, part := range []struct {
		name string
		datasets.Part
	}{{"train", p.Train}, {"test", p.Test}} {
		x := part.X
		switch {
		case x.Rows < 1 || x.Cols != info.Features || len(x.Data) != x.Rows*x.Cols:
			return fmt.Errorf("the %s part has %d records of %d features, want some of %d", part.name, x.Rows, x.Cols, info.Features)
		case len(part.Y) != x.Rows || len(part.IDs) != x.Rows:
			return fmt.Errorf("the %s part has %d records, %d labels and %d IDs", part.name, x.Rows, len(part.Y), len(part.IDs))
		}
		for i, y := range part.Y {
			if y < 0 || y >= len(p.About.Classes) {
				return fmt.Errorf("record %d of the %s part has class %d of %d", i, part.name, y, len(p.About.Classes))
			}
		}
		for i, id := range part.IDs {
			if id < 0 || seen[id] {
				return fmt.Errorf("record %d of the %s part has the ID %d, which is negative or another record's", i, part.name, id)
			}
			seen[id] = true
		}
		for k, v := range x.Data {
			if v-v != 0 { // infinite, or no number
				return fmt.Errorf("record %d, in the %s part: %s is %v after it was scaled; every value must be finite, and within some 1e38 standard "+
					"deviations of the others", part.IDs[k/x.Cols], part.name, featureName(p, k%x.Cols), v)
			}
		}
	}
	for _, check := range []func() error{
		func() error { return checkDescribed(p, info) },
		func() error { return checkNormalisation(p) },
		func() error { return checkBeside(p, seen) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	// A condition on a column selects records by their IDs.
	greatest := max(slices.Max(p.Train.IDs), slices.Max(p.Test.IDs))
	for _, c := range p.About.Columns {
		if c.Rows() <= greatest {
			return fmt.Errorf("the column %q has %d cells, the greatest ID is %d: it needs a cell for every record of the source", c.Name, c.Rows(), greatest)
		}
	}
	return nil
}

// checkNormalisation returns an error for a normalisation that does not fit the records. Triggers, augmentation and
// attacks that make records of their own need that of images.
func checkNormalisation(p *datasets.Prepared) error {
	mean, sd, want, of := p.Norm.Mean, p.Norm.SD, p.Train.X.Cols, "features"
	if p.About.Shape[0] > 0 {
		want, of = p.About.Shape[0], "channels"
	}
	if of == "features" && mean == nil && sd == nil {
		return nil // the records are as they were read
	}
	if len(mean) != want || len(sd) != want {
		return fmt.Errorf("the field Norm has %d means (Mean) and %d standard deviations (SD) for %d %s; where nothing is normalised they are 0 and 1",
			len(mean), len(sd), want, of)
	}
	for i := range mean {
		if mean[i]-mean[i] != 0 || !(sd[i] > 0) || sd[i]-sd[i] != 0 {
			return fmt.Errorf("Norm.Mean[%d] is %v and Norm.SD[%d] is %v; a mean is finite and a standard deviation above 0, 1 for a constant",
				i, mean[i], i, sd[i])
		}
	}
	return nil
}

// checkBeside returns an error for what stands beside the records and does not fit them. known has their IDs.
func checkBeside(p *datasets.Prepared, known map[int]bool) error {
	for _, part := range []struct {
		name string
		datasets.Part
	}{{"train", p.Train}, {"test", p.Test}} {
		for _, name := range slices.Sorted(maps.Keys(part.Extra)) {
			if n := len(part.Extra[name]); n != part.X.Rows {
				return fmt.Errorf("the column %q of Extra has %d numbers for %d records of the %s part", name, n, part.X.Rows, part.name)
			}
		}
	}
	if n := len(p.About.Features); n > 0 && n != p.Train.X.Cols {
		return fmt.Errorf("About.Features describes %d features, the records have %d", n, p.Train.X.Cols)
	}
	if n := len(p.TestGroups); p.TestGroups != nil && n != p.Test.X.Rows {
		return fmt.Errorf("TestGroups has %d numbers for %d records of the test part", n, p.Test.X.Rows)
	}
	if err := checkDrawOrder(p.DrawOrder, p.Train.X.Rows); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.About.Planted)) {
		for _, id := range p.About.Planted[name] {
			if !known[id] {
				return fmt.Errorf("the planted group %q names the ID %d, which no record has", name, id)
			}
		}
	}
	return nil
}

// checkDrawOrder returns an error for an order that does not name every row of the train part once.
func checkDrawOrder(order []int, rows int) error {
	if order == nil {
		return nil
	}
	if len(order) != rows {
		return fmt.Errorf("DrawOrder has %d numbers for %d records of the train part", len(order), rows)
	}
	drawn := make([]bool, rows)
	for i, row := range order {
		if row < 0 || row >= rows || drawn[row] {
			return fmt.Errorf("DrawOrder[%d] is %d: the order names every row of the train part once, 0 to %d", i, row, rows-1)
		}
		drawn[row] = true
	}
	return nil
}

// checkDescribed returns an error for prepared data of which Info says something else: networks, forget
// sets and jobs take their sizes and classes from it.
func checkDescribed(p *datasets.Prepared, info datasets.Info) error {
	rows, test, classes := p.Train.X.Rows+p.Test.X.Rows, p.Test.X.Rows, p.About.Classes
	switch {
	case !info.Estimated && rows != info.Rows:
		return fmt.Errorf("Info says that there are %d records, in both parts together; Prepare returns %d, %d to train on and %d to test on",
			info.Rows, rows, p.Train.X.Rows, test)
	case !info.Estimated && info.TestRows > 0 && test != info.TestRows:
		return fmt.Errorf("Info says that %d records are the test part, and Prepare returns %d there", info.TestRows, test)
	case len(classes) != info.ClassCount():
		return fmt.Errorf("Info says that the number of classes is %d, and Prepare returns %d: %q", info.ClassCount(), len(classes), classes)
	case info.Classes != nil && !slices.Equal(classes, info.Classes):
		return fmt.Errorf("Info says that the classes are %q, and Prepare returns %q, in this order", info.Classes, classes)
	case p.About.Shape != info.Shape:
		return fmt.Errorf("Info says that the records have the shape %v, and Prepare returns %v: channels, height and width", info.Shape, p.About.Shape)
	}
	return nil
}

// featureName names an input of a network.
func featureName(p *datasets.Prepared, j int) string {
	if len(p.About.Features) == p.Train.X.Cols {
		return fmt.Sprintf("feature %q", p.About.Features[j].Name)
	}
	return fmt.Sprintf("feature %d", j)
}

// Limit returns a table or images with at most so many records: rows of a table, which has
// no test part of its own; training and test images. 0: all. Other data are returned as
// they are.
func Limit(d Data, records, test int) Data {
	switch d := d.(type) {
	case Table:
		d.MaxRows = records
		return d
	case Images:
		d.MaxTrain, d.MaxTest = records, test
		return d
	}
	return d
}
