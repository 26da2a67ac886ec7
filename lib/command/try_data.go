// The flags of lethe try that name data and the records to forget.

package command

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/lab"

	"github.com/spf13/cobra"
)

// ownData are the flags that name data.
type ownData struct {
	target                              string
	above                               float64
	number, category, identifier, leave []string
	date                                map[string]string
	missing                             []string
	images, cells, label, matrix        string
	npy, known                          string
	size                                int
	hasAbove                            func() bool
}

func (d *ownData) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&d.target, "target", "", "column of the table that is predicted")
	f.Float64Var(&d.above, "above", 0, "predict whether the target is above this number")
	f.StringSliceVar(&d.number, "number", nil, "columns to read as numbers")
	f.StringSliceVar(&d.category, "category", nil, "columns to read as categories")
	f.StringSliceVar(&d.identifier, "identifier", nil, "columns that are no features, but can be named by --forget")
	f.StringSliceVar(&d.leave, "ignore", nil, "columns to leave out")
	f.StringToStringVar(&d.date, "date", nil, "columns of dates with their layout: born=02/01/2006 (3 April 2021 is 03/04/2021)")
	f.StringSliceVar(&d.missing, "missing", nil, "further texts that stand for a missing value")
	f.StringVar(&d.images, "images", "", "folder of images, with one folder per class")
	f.IntVar(&d.size, "size", 0, "scale images to this many pixels a side (default: all must have the same size)")
	f.StringVar(&d.cells, "cells", "", "single cells in an anndata file (.h5ad)")
	f.StringVar(&d.label, "label", "", "column of obs with the classes of the cells")
	f.StringVar(&d.matrix, "matrix", "", "matrix of counts in the anndata file, such as layers/counts or raw/X (default: X)")
	f.StringVar(&d.npy, "npy", "", "array of records (.npy); the argument is the array of labels")
	f.StringVar(&d.known, "data", "", "a data set that Lethe knows (lethe data list), instead of a file")
	d.hasAbove = func() bool { return f.Changed("above") }
}

// read reads the data that the command line names.
func (d *ownData) read(args []string) (lab.Data, error) {
	var named []string
	for name, value := range map[string]string{"--images": d.images, "--cells": d.cells, "--npy": d.npy, "--data": d.known} {
		if value != "" {
			named = append(named, name)
		}
	}
	table := len(args) == 1 && d.npy == ""
	switch {
	case len(named) > 1 || len(named) == 1 && table:
		return nil, cli.Usagef("name one source of data: a table, --images, --cells, --npy or --data")
	case len(named) == 0 && !table:
		return nil, cli.Usagef("name the data: a table in CSV, --images, --cells, --npy or --data")
	case table && d.target == "":
		return nil, cli.Usagef("name the column to predict: --target COLUMN")
	case !table && (d.target != "" || d.hasAbove()):
		return nil, cli.Usagef("--target and --above are columns of a table")
	case d.cells == "" && d.matrix != "":
		return nil, cli.Usagef("--matrix is a matrix of --cells")
	case (d.cells == "") != (d.label == ""):
		return nil, cli.Usagef("--cells and --label belong together")
	case d.npy != "" && len(args) == 0:
		return nil, cli.Usagef("name the array of labels: --npy X.npy y.npy")
	}
	switch {
	case d.images != "" && d.size > 0:
		return own.ReadImages(d.images, own.Size(d.size))
	case d.images != "":
		return own.ReadImages(d.images)
	case d.cells != "":
		return own.ReadCells(d.cells, d.cellOptions()...)
	case d.npy != "":
		return own.ReadArrays(d.npy, args[0])
	case d.known != "":
		return lab.DataSet(d.known)
	}
	return own.ReadTable(args[0], d.tableOptions()...)
}

func (d *ownData) cellOptions() []own.CellOption {
	options := []own.CellOption{own.Label(d.label)}
	if d.matrix != "" {
		options = append(options, own.Matrix(d.matrix))
	}
	return options
}

func (d *ownData) tableOptions() []own.TableOption {
	options := []own.TableOption{own.Number(d.number...), own.Category(d.category...), own.Identifier(d.identifier...), own.Ignore(d.leave...)}
	if d.hasAbove() {
		options = append(options, own.Above(d.target, d.above))
	} else {
		options = append(options, own.Target(d.target))
	}
	for column, layout := range d.date {
		options = append(options, own.Date(column, layout))
	}
	if len(d.missing) > 0 {
		options = append(options, own.Missing(d.missing...))
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
	f.StringVar(&g.condition, "forget", "", "forget the records of a condition on a column, such as person_id=17")
	f.StringVar(&g.class, "forget-class", "", "forget the records of a class")
	f.StringVar(&g.file, "forget-records", "", "forget the records that a file numbers from 0, one per line, or .npy numbers or mask")
	f.Float64Var(&g.share, "forget-share", 0, "forget a random share of the training records (default 0.05)")
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
