package lab

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets/cells"
	mydata "github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/model/tabular"
)

// A file in which a cell has no label is a case: the cell is of a class of its own.
func TestCellsWithoutALabelAreACase(t *testing.T) {
	path := filepath.Join("..", "..", "datasets", "own", "testdata", "cells.h5ad")
	donors, types := []string{"d1", "d2", "d3", cells.Unlabelled}, []string{"B", "T"}
	for _, of := range []struct {
		label, forget string
		types         bool
		classes       []string
	}{
		{"donor", "d2", false, donors}, {"donor", cells.Unlabelled, true, donors},
		{"cell_type", "B", false, types}, {"cell_type", "B", true, append(slices.Clone(types), cells.Unlabelled)},
	} {
		data, err := mydata.ReadCells(path, mydata.Label(of.label), mydata.Preparation(cells.Preparation{Types: of.types}))
		if err != nil {
			t.Fatal(err)
		}
		c, err := newLab(t).Case(t.Context(), Setting{Data: data, Forget: Class(of.forget), Model: tabular.MLP{Hidden: 4}})
		if err != nil || !slices.Equal(c.About.Classes, of.classes) {
			t.Fatalf("%s, with the types among the features %v: %q, %v", of.label, of.types, c.About.Classes, err)
		}
	}
}
