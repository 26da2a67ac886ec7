// Package lethe is the front door of the laboratory: your data, your model and your method
// in a few lines.
//
//	l, err := lethe.Open()
//	people, err := lethe.ReadCSV("people.csv", lethe.Target("income"))
//	c, err := l.Case(ctx, lethe.Setting{Data: people, Forget: lethe.Where("person_id", 17)})
//	scrub, err := c.Unlearn(ctx, unlearn.SCRUB{})
//	table, err := c.Compare(ctx, scrub) // beside the original, retrained and random models
//
// Almost everything here is another name of a type or function elsewhere, so that a program
// that outgrows this package imports the packages behind it and goes on:
//
//	lib/lab            cases, keys, jobs: which model is trained on what
//	lib/audit          lenses and verdicts
//	lib/unlearn        methods
//	lib/model/...      networks
//	lib/comparison     methods compared over several seeds, with a report
//	datasets/own       files of the user's own
//
// Nothing is trained twice: a result is stored under everything that it depends on, in the
// folder that LETHE_STORE names or in the user's cache folder.
package lethe

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/comparison"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The parts of an experiment.
type (
	// Setting says which model has to forget which records: data, forget set, network,
	// training, seed. Its zero value is RULER's main experiment on Breast Cancer.
	Setting = lab.Setting
	// Data is the data of an experiment. What ReadCSV, ReadTexts, ReadArrays, ReadImages,
	// ReadCells, ReadIDX and DataSet return is Data; so is any value with its three methods.
	Data = lab.Data
	// ForgetSet says which records of the train part are to be forgotten.
	ForgetSet = lab.ForgetSet
	// Method is an unlearning method; package unlearn has them.
	Method = unlearn.Method
	// Model is one model of a case, with its weights and outputs.
	Model = lab.Model
	// Variant is a method with the label of its row.
	Variant = lab.Variant
	// Table is a table of results, which prints as text, Markdown, HTML and JSON.
	Table = report.Table
	// Lens measures in one way what a model still knows of the forgotten records.
	Lens = audit.Lens
	// Study compares methods over several seeds; see Lab.Study.
	Study = comparison.Study
)

// Forget sets. Where, WhereText and Rows are functions.
type (
	// Share forgets a random share of the train part, 5 % by default.
	Share = lab.Random
	// Class forgets every record of a class.
	Class = lab.Class
	// Records forgets records by their numbers in the source, from 0.
	Records = lab.Records
	// Mask forgets the records whose entry is true; it has an entry per record.
	Mask = lab.Mask
	// Planted forgets a group that the generator of the data planted.
	Planted = lab.Planted
	// Backdoor plants a backdoor in some records and forgets them.
	Backdoor = lab.Backdoor
	// User splits the records between the users of a federation and forgets one of them.
	User = lab.User
)

// Where returns the forget set of the records that have a value in a column of a table:
// Where("person_id", 17), Where("hospital", "A"). With several values it is the records
// that have any of them.
func Where(column string, values ...any) lab.Where {
	c := datasets.Condition{Column: column, Op: datasets.Equal}
	if len(values) > 1 {
		c.Op = datasets.In
	}
	for _, v := range values {
		c.Values = append(c.Values, fmt.Sprint(v))
	}
	return lab.Where(c)
}

// Between returns the forget set of the records whose value in a column of numbers or dates
// lies between two others, both included: Between("visit", "2020-01-01", "2020-03-31").
func Between(column string, from, to any) lab.Where {
	return lab.Where{Column: column, Op: datasets.Between, Values: []string{fmt.Sprint(from), fmt.Sprint(to)}}
}

// WhereText returns the forget set of a condition in words, as the command line has it:
// person_id=17, age>=65, visit=2020-01-01..2020-03-31, hospital in A,B.
func WhereText(condition string) (lab.Where, error) { return lab.WhereText(condition) }

// ReadRecords reads a forget set from a file: numbers of records, one per line, or an array
// of NumPy (.npy) with numbers or with a mask.
func ReadRecords(path string) (ForgetSet, error) { return lab.ReadRecords(path) }

// ReadCSV reads a table in CSV or TSV; see own.ReadTable for what it finds by itself and
// own's options for what can be forced. Print the result to see what was found.
func ReadCSV(path string, options ...own.TableOption) (*own.Table, error) {
	return own.ReadTable(path, options...)
}

// ReadTexts reads texts from a table in CSV or TSV: Column names that of the texts, and Target
// that of the classes; see own.ReadTexts. Print the result to see what was found.
func ReadTexts(path string, options ...own.TableOption) (*own.Texts, error) {
	return own.ReadTexts(path, options...)
}

// Column names the column of the texts; see ReadTexts.
func Column(name string) own.TableOption { return own.Column(name) }

// Target names the column that is to be predicted.
func Target(column string) own.TableOption { return own.Target(column) }

// TargetAbove makes two classes of a column of numbers: up to a value, and above it.
func TargetAbove(column string, value float64) own.TableOption { return own.Above(column, value) }

// ReadArrays reads records and labels from .npy files; see own.ReadArrays.
func ReadArrays(x, y string, options ...own.ArrayOption) (*own.Arrays, error) {
	return own.ReadArrays(x, y, options...)
}

// ReadImages reads a folder with a folder of PNG and JPEG files per class; see
// own.ReadImages.
func ReadImages(dir string, options ...own.ImageOption) (*own.Images, error) {
	return own.ReadImages(dir, options...)
}

// ReadCells reads single cells from an anndata file; see own.ReadCells.
func ReadCells(path string, options ...own.CellOption) (*own.Cells, error) {
	return own.ReadCells(path, options...)
}

// ReadIDX reads images and labels in the format of MNIST; see own.ReadIDX.
func ReadIDX(images, labels string, options ...own.IDXOption) (*own.IDX, error) {
	return own.ReadIDX(images, labels, options...)
}

// DataSet returns a data set that Lethe knows by name; `lethe data list` lists them. Files
// that are not on this machine are fetched with `lethe data get`.
func DataSet(name string) (Data, error) { return lab.DataSet(name) }

// Lab trains and unlearns models and keeps them in the store.
type Lab struct{ *lab.Lab }

// Open opens the best engine of this machine and the store; see lab.Open for the variables
// that choose others.
func Open() (*Lab, error) {
	l, err := lab.Open()
	if err != nil {
		return nil, err
	}
	return &Lab{l}, nil
}

// Reseed returns a lab of another run: it splits the data, draws random forget sets and begins
// training from other seeds. It shares the store. Run 0 has the seeds of l.
func (l *Lab) Reseed(run int) *Lab { return &Lab{l.Lab.Reseed(run)} }

// Case opens a case: it reads the data, draws the forget set, and trains the original and
// the retrained model or takes them from the store.
func (l *Lab) Case(ctx context.Context, s Setting) (*Case, error) {
	if l == nil || l.Lab == nil {
		return nil, errors.New("lethe: the lab is empty; make it with Open")
	}
	c, err := audit.Open(ctx, l.Lab, s)
	if err != nil {
		return nil, err
	}
	return &Case{c}, nil
}

// Study returns a comparison of methods on a setting over several seeds. Without methods it
// is those that comparison.Methods lists.
func (l *Lab) Study(s Setting, seeds int, methods ...Method) Study {
	return Study{Lab: l.Lab, Setting: s, Seeds: seeds, Methods: methods}
}

// Case is a model, the records that it has to forget, and the models that it is compared
// with.
type Case struct{ *audit.Case }

// Compare returns a table with a row per model and a column per lens: the original, the
// retrained models and random weights, then the given models. A cell has the value, its
// interval and a verdict, which places the model between original and retrained.
func (c *Case) Compare(ctx context.Context, models ...*Model) (*Table, error) {
	if c.Case == nil {
		return nil, errors.New("lethe: the case is empty; make it with Lab.Case")
	}
	ctx, task := progress.Start(ctx, "comparing models", 2)
	defer task.Done()
	controls, err := c.Controls(ctx)
	if err != nil {
		return nil, err
	}
	task.Add(1)
	return c.Case.Compare(append(controls, models...)...)
}
