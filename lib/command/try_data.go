// The flags of lethe try that name data and the records to forget.

package command

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/lab"

	"github.com/spf13/cobra"
)

// ownData are the flags that name data.
type ownData struct {
	target, group                       string
	above                               float64
	number, category, identifier, leave []string
	thousands                           []string
	date                                map[string]string
	missing, notMissing                 []string
	images, cells, label, matrix        string
	texts                               textData
	npy, known, channels                string
	size                                int
	header                              []string
	separator                           string
	dropUnlabelled, decimalComma, grey  bool
	copiesTogether                      bool
	changed                             func(flag string) bool
}

func (d *ownData) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&d.target, "target", "", "column of the table that is predicted")
	f.Float64Var(&d.above, "above", 0, "predict whether the target is above this number")
	f.StringSliceVar(&d.number, "number", nil, "columns to read as numbers")
	f.StringSliceVar(&d.thousands, "thousands", nil, "columns of numbers with marks between thousands: 27.398 or 27,398 is above 27 thousand")
	f.StringSliceVar(&d.category, "category", nil, "columns to read as categories")
	f.StringSliceVar(&d.identifier, "identifier", nil, "columns that are no features, but can be named by --forget")
	f.StringSliceVar(&d.leave, "ignore", nil, "columns to leave out")
	pairsFlag(f, &d.date, "date", "columns of dates with their layout: born=02/01/2006 (3 April 2021 is 03/04/2021)")
	f.StringSliceVar(&d.missing, "missing", nil, "further texts that stand for a missing value")
	f.StringSliceVar(&d.notMissing, "not-missing", nil, "texts that are values here, such as NA for Namibia, and no missing ones")
	f.StringSliceVar(&d.header, "header", nil, "names of the columns of a file whose first line is a record")
	f.StringVar(&d.separator, "separator", "", "what separates the cells, where the file leaves it open: one character, or tab")
	f.BoolVar(&d.decimalComma, "decimal-comma", false, "read 1,5 as one and a half (found by itself where semicolons separate)")
	f.BoolVar(&d.dropUnlabelled, "drop-unlabelled", false,
		"leave out the rows without a target; records keep their numbers in the file")
	f.StringVar(&d.group, "group", "", "column that says whom a record belongs to: the split keeps the records of one together, and intervals count groups")
	f.BoolVar(&d.copiesTogether, "copies-together", false, "the split keeps the rows of a table with equal features together")
	f.StringVar(&d.images, "images", "", "folder of images, with one folder per class")
	f.IntVar(&d.size, "size", 0, "scale images to this many pixels a side (default: all must have the same size)")
	f.StringVar(&d.cells, "cells", "", "single cells in an anndata file (.h5ad), with --label")
	f.StringVar(&d.label, "label", "", "column of obs with the classes of the cells")
	f.StringVar(&d.matrix, "matrix", "", "matrix of counts in the anndata file, such as layers/counts or raw/X (default: X)")
	f.StringVar(&d.npy, "npy", "", "array of records (.npy); the argument is the array of labels")
	f.StringVar(&d.channels, "channels", "", "first for arrays of images (n, channels, height, width), last for (n, height, width, channels)")
	f.BoolVar(&d.grey, "grey", false, "arrays are grey images (n, height, width)")
	f.StringVar(&d.known, "data", "", "a data set that Lethe knows (lethe data list), instead of a file")
	d.texts.flags(f)
	d.changed = f.Changed
}

// read reads the data that the command line names.
func (d *ownData) read(args []string) (lab.Data, error) {
	var named []string
	for name, value := range map[string]string{"--images": d.images, "--cells": d.cells, "--npy": d.npy, "--text": d.texts.file, "--data": d.known} {
		if value != "" {
			named = append(named, name)
		}
	}
	table := len(args) == 1 && d.npy == ""
	switch {
	case len(named) > 1 || len(named) == 1 && table:
		return nil, cli.Usagef("name one source of data: a table, --text, --images, --cells, --npy or --data")
	case len(named) == 0 && !table:
		return nil, cli.Usagef("name the data: a table in CSV, --text, --images, --cells, --npy or --data")
	case d.texts.file != "" && d.texts.column == "":
		return nil, cli.Usagef("name the column of the texts: --column COLUMN")
	case (table || d.texts.file != "") && d.target == "":
		return nil, cli.Usagef("name the column to predict: --target COLUMN")
	case (d.cells == "") != (d.label == ""):
		return nil, cli.Usagef("--cells and --label belong together")
	case d.npy != "" && len(args) == 0:
		return nil, cli.Usagef("name the array of labels: --npy X.npy y.npy")
	}
	if err := d.checkFlags(table); err != nil {
		return nil, err
	}
	data, err := d.open(args)
	if err != nil {
		return nil, flagError{err}
	}
	return data, nil
}

// explain adds to the error for a column that is not there that a flag left it out.
func (d *ownData) explain(err error) error {
	var unknown *datasets.UnknownColumnError
	if errors.As(err, &unknown) && slices.Contains(d.leave, unknown.Column) {
		return fmt.Errorf("the column %q is left out by Ignore(%q), and cannot be named; Identifier(%q) keeps it, and makes it no feature", unknown.Column,
			unknown.Column, unknown.Column)
	}
	return err
}

// checkFlags returns an error for a flag of another source of data: it would change nothing.
func (d *ownData) checkFlags(table bool) error {
	for _, source := range []struct {
		given bool
		what  string
		flags []string
	}{
		{table || d.texts.file != "", "a table", []string{"target", "above", "number", "thousands", "category", "identifier", "ignore", "date", "missing",
			"not-missing", "header", "separator", "decimal-comma", "drop-unlabelled"}},
		{table || d.texts.file != "" || d.cells != "", "a table, texts or cells", []string{"group"}},
		{table, "a table", []string{"copies-together"}},
		{d.texts.file != "", "--text", []string{"column", "drop-empty"}},
		{d.texts.file != "" || isTextSet(d.known), "texts", []string{"tokens", "max-documents"}},
		{d.images != "", "--images", []string{"size"}},
		{d.cells != "", "--cells", []string{"label", "matrix"}},
		{d.npy != "", "--npy", []string{"channels", "grey"}},
	} {
		for _, flag := range source.flags {
			if !source.given && d.changed(flag) {
				return cli.Usagef("--%s belongs to %s", flag, source.what)
			}
		}
	}
	switch {
	case d.changed("size") && d.size < 1:
		return cli.Usagef("--size %d: a side has 1 pixel or more", d.size)
	case d.changed("channels") && d.channels != "first" && d.channels != "last":
		return cli.Usagef("--channels %s: there are first and last", d.channels)
	case d.changed("separator") && d.separator != "tab" && utf8.RuneCountInString(d.separator) != 1:
		return cli.Usagef("--separator %s: it is one character, or tab", d.separator)
	case d.changed("tokens") && (d.texts.tokens < 3 || d.texts.tokens > 512):
		return cli.Usagef("--tokens %d: a window has 3 to 512 tokens", d.texts.tokens)
	case d.changed("max-documents") && d.texts.documents < 1:
		return cli.Usagef("--max-documents %d: at least one text is needed", d.texts.documents)
	case d.changed("channels") && d.grey:
		return cli.Usagef("--channels and --grey: grey images have no channels")
	}
	return nil
}

// open reads the data.
func (d *ownData) open(args []string) (lab.Data, error) {
	switch {
	case d.images != "" && d.size > 0:
		return own.ReadImages(d.images, own.Size(d.size))
	case d.images != "":
		return own.ReadImages(d.images)
	case d.cells != "":
		return own.ReadCells(d.cells, d.cellOptions()...)
	case d.npy != "":
		return own.ReadArrays(d.npy, args[0], d.arrayOptions()...)
	case d.texts.file != "":
		return own.ReadTexts(d.texts.file, append(d.tableOptions(), d.texts.options()...)...)
	case isTextSet(d.known):
		return d.texts.named(d.known), nil
	case d.known != "":
		return lab.DataSet(d.known)
	}
	return own.ReadTable(args[0], d.tableOptions()...)
}

// The readers of package own name the options of a program; these are the flags.
var (
	columnOption = regexp.MustCompile(`\b(Number|Thousands|Category|Identifier|Ignore|Missing|NotMissing|Column|Group)\(("(?:[^"\\]|\\.)*"|column)\)`)
	aboveOption  = regexp.MustCompile(`\bAbove\("(?:[^"\\]|\\.)*", ([^)]*)\)`)
	dateOption   = regexp.MustCompile(`\bDate\("((?:[^"\\]|\\.)*)", "([^"]*)"\)`)
	sizeOption   = regexp.MustCompile(`\bSize\((\d+)\)`)
	otherOptions = strings.NewReplacer(`Header("a", "b", ...)`, "--header a,b,...", "DropUnlabelled", "--drop-unlabelled", "DropEmpty()", "--drop-empty", "with Separator", "with --separator",
		"DecimalComma()", "--decimal-comma", "CopiesTogether()", "--copies-together",
		"ReadArrays reads it", "--npy reads it", "ReadCells reads those", "--cells reads those",
		"ChannelsFirst()", "--channels first", "ChannelsLast()", "--channels last", "Grey()", "--grey")
)

// flagError is an error of a reader, or of a network, in the words of the command line.
type flagError struct{ error }

// Error implements error.
func (e flagError) Error() string { return asFlags(e.error.Error()) }

// Unwrap returns the reader's error.
func (e flagError) Unwrap() error { return e.error }

// asFlags returns a text that names options of a program with flags in their place:
// Number("age") becomes --number age.
func asFlags(text string) string {
	text = columnOption.ReplaceAllStringFunc(text, func(option string) string {
		parts := columnOption.FindStringSubmatch(option)
		name, err := strconv.Unquote(parts[2])
		if err != nil {
			name = "COLUMN"
		}
		if parts[1] != "Column" && parts[1] != "Group" { // their flags take one name
			name = listWord(name)
		}
		return "--" + strings.Replace(strings.ToLower(parts[1]), "notm", "not-m", 1) + " " + shellWord(name)
	})
	text = aboveOption.ReplaceAllString(text, "--above $1")
	text = dateOption.ReplaceAllStringFunc(text, func(option string) string {
		parts := dateOption.FindStringSubmatch(option)
		return "--date " + shellWord(parts[1]+"="+parts[2])
	})
	return otherOptions.Replace(sizeOption.ReplaceAllString(text, "--size $1"))
}

// listWord quotes a word for a flag that takes a list, if it must be.
func listWord(word string) string {
	if !strings.ContainsAny(word, ",\"\n") {
		return word
	}
	return `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
}

// shellWord quotes a word for a shell, if it must be.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./:=%+@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// arrayOptions say what images in an array of four or three dimensions are.
func (d *ownData) arrayOptions() (out []own.ArrayOption) {
	switch d.channels {
	case "first":
		out = append(out, own.ChannelsFirst())
	case "last":
		out = append(out, own.ChannelsLast())
	}
	if d.grey {
		out = append(out, own.Grey())
	}
	return out
}

func (d *ownData) cellOptions() []own.CellOption {
	options := []own.CellOption{own.Label(d.label)}
	if d.matrix != "" {
		options = append(options, own.Matrix(d.matrix))
	}
	if d.changed("group") {
		options = append(options, own.KeepTogether(d.group))
	}
	return options
}

func (d *ownData) tableOptions() []own.TableOption {
	options := []own.TableOption{
		own.Number(d.number...), own.Thousands(d.thousands...), own.Category(d.category...), own.Identifier(d.identifier...), own.Ignore(d.leave...),
	}
	if d.changed("above") {
		options = append(options, own.Above(d.target, d.above))
	} else {
		options = append(options, own.Target(d.target))
	}
	for column, layout := range d.date {
		options = append(options, own.Date(column, layout))
	}
	if len(d.header) > 0 {
		options = append(options, own.Header(d.header...))
	}
	if d.separator == "tab" {
		options = append(options, own.Separator('\t'))
	} else if r, size := utf8.DecodeRuneInString(d.separator); size > 0 {
		options = append(options, own.Separator(r))
	}
	if d.decimalComma {
		options = append(options, own.DecimalComma())
	}
	if d.dropUnlabelled {
		options = append(options, own.DropUnlabelled())
	}
	if d.changed("group") {
		options = append(options, own.Group(d.group))
	}
	if d.copiesTogether {
		options = append(options, own.CopiesTogether())
	}
	if len(d.missing) > 0 {
		options = append(options, own.Missing(d.missing...))
	}
	if len(d.notMissing) > 0 {
		options = append(options, own.NotMissing(d.notMissing...))
	}
	return options
}

// forgetFlags are the flags that name the records to forget.
type forgetFlags struct {
	condition, class, file string
	share                  float64
	changed                func(string) bool
}

func (g *forgetFlags) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&g.condition, "forget", "", "forget the records of a condition, such as person_id=17")
	f.StringVar(&g.class, "forget-class", "", "forget the records of a class")
	f.StringVar(&g.file, "forget-records", "", "file of record numbers, from 0 as in the data's file (or .npy)")
	f.Float64Var(&g.share, "forget-share", 0, fmt.Sprintf("random share of records (%d or more), texts, groups (default: 0.05)", datasets.MinForget))
	g.changed = f.Changed
}

// set returns the forget set that the command line names.
func (g *forgetFlags) set() (lab.ForgetSet, error) {
	var named []string
	for _, name := range []string{"forget", "forget-class", "forget-records", "forget-share"} {
		if g.changed(name) {
			named = append(named, "--"+name)
		}
	}
	switch {
	case len(named) > 1:
		return nil, cli.Usagef("%s: name one forget set", strings.Join(named, " and "))
	case g.condition != "":
		f, err := lab.WhereText(g.condition)
		if err != nil {
			return nil, cli.Usagef("--forget: %v", err)
		}
		return f, nil
	case g.class != "":
		return lab.Class(g.class), nil
	case g.file != "":
		return lab.ReadRecords(g.file)
	case g.changed("forget-share") && !(g.share > 0 && g.share < 1):
		return nil, cli.Usagef("--forget-share %s: a share lies between 0 and 1", fmt.Sprint(g.share))
	}
	return lab.Random{Fraction: g.share}, nil
}
