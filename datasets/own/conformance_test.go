package own_test

// What holds for data of every kind: the parts, the scaling, the columns, the keys.

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/own"
	libcells "github.com/lethe-ml/lethe/lib/cells"
)

// data is what a kind of data must offer.
type data interface {
	Name() string
	Info() (datasets.Info, error)
	Prepare(ctx context.Context, shift int) (*datasets.Prepared, error)
	String() string
}

// small keeps every cell of a small file.
func small() own.CellOption {
	return own.Preparation(cells.Preparation{Choice: libcells.Choice{Filter: libcells.Filter{MinGenes: 1, MaxMito: 2}, Variable: libcells.Variable{Top: 30}}})
}

func fewerGenes() own.CellOption {
	return own.Preparation(cells.Preparation{Choice: libcells.Choice{Filter: libcells.Filter{MinGenes: 1, MaxMito: 2}, Variable: libcells.Variable{Top: 20}}})
}

// kind is one kind of data: how it is read again, from other files, with another option, and which
// file holds its records.
type kind struct {
	read   func() (data, error)
	other  func() (data, error) // with another option
	file   string               // a file of it
	scaled bool                 // means of the train part are 0
}

func kinds(t *testing.T) map[string]kind {
	table := write(t, "people.csv", rTable(false))
	x, y := matrix(t, 40)
	dir := folder(t, 10, func(class, i int) image.Image { return picture(6, 6, class, i) })
	atlas := filepath.Join(t.TempDir(), "atlas.h5ad")
	b, err := os.ReadFile(filepath.Join("testdata", "cells.h5ad"))
	if err == nil {
		err = os.WriteFile(atlas, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	pixels, labels := digits(30)
	images, answers := idxFile(t, "images", pixels, 30, 3, 3), idxFile(t, "labels", labels, 30)
	testPixels, testLabels := digits(6)
	pair := own.Test(idxFile(t, "tx", testPixels, 6, 3, 3), idxFile(t, "ty", testLabels, 6))
	tx, ty := matrix(t, 10)
	return map[string]kind{
		"table": {func() (data, error) { return own.ReadTable(table, own.Target("Species")) },
			func() (data, error) { return own.ReadTable(table, own.Target("Species"), own.Number("zip")) }, table, true},
		"arrays": {func() (data, error) { return own.ReadArrays(x, y) }, func() (data, error) { return own.ReadArrays(x, y, own.Test(tx, ty)) }, x, true},
		"images": {func() (data, error) { return own.ReadImages(dir) }, func() (data, error) { return own.ReadImages(dir, own.Size(5)) },
			filepath.Join(dir, "cat", "00.png"), true},
		"cells": {func() (data, error) { return own.ReadCells(atlas, own.Label("cell_type"), small()) },
			func() (data, error) { return own.ReadCells(atlas, own.Label("donor"), small()) }, atlas, false},
		"idx": {func() (data, error) { return own.ReadIDX(images, answers) }, func() (data, error) { return own.ReadIDX(images, answers, pair) }, images, true},
	}
}

func prepared(t *testing.T, read func() (data, error), shift int) (data, *datasets.Prepared) {
	t.Helper()
	d, err := read()
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Prepare(t.Context(), shift)
	if err != nil {
		t.Fatal(err)
	}
	return d, p
}

func TestEveryKindOfDataCanBeTrainedOn(t *testing.T) {
	for name, k := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			d, p := prepared(t, k.read, 0)
			checkPrepared(t, d, p)
			if k.scaled {
				checkScaled(t, p)
			}
			if name != "table" { // its target is drawn without regard to its features
				checkLearnable(t, p)
			}
		})
	}
}

func checkPrepared(t *testing.T, d data, p *datasets.Prepared) {
	t.Helper()
	info, err := d.Info()
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Train.X.Rows + p.Test.X.Rows; n != info.Rows || n != p.About.Columns[0].Rows() || p.Test.X.Rows == 0 {
		t.Errorf("%d rows, %d by Info, %d in the columns", n, info.Rows, p.About.Columns[0].Rows())
	}
	if info.Name != d.Name() || p.About.Name != d.Name() || !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(d.Name()) || d.String() == "" {
		t.Errorf("names %q, %q, %q", info.Name, p.About.Name, d.Name())
	}
	if !slices.Equal(info.Classes, p.About.Classes) || len(p.About.Classes) < 2 || info.Shape != p.About.Shape {
		t.Errorf("classes %q and %q", info.Classes, p.About.Classes)
	}
	seen := map[int]bool{}
	target := p.About.Columns[len(p.About.Columns)-1]
	for _, c := range p.About.Columns {
		if slices.Equal(c.Values, p.About.Classes) {
			target = c
		}
	}
	for _, part := range []datasets.Part{p.Train, p.Test} {
		if err := part.X.Check("part"); err != nil {
			t.Error(err)
		}
		classes := map[int]bool{}
		for i, id := range part.IDs {
			if seen[id] || id < 0 || id >= info.Rows {
				t.Fatalf("the record %d occurs twice, or is none of %d", id, info.Rows)
			}
			seen[id], classes[part.Y[i]] = true, true
			if want := target.Values[target.Codes[id]]; p.About.Classes[part.Y[i]] != want {
				t.Fatalf("the record %d has the class %s, the column %s", id, p.About.Classes[part.Y[i]], want)
			}
		}
		if len(classes) != len(p.About.Classes) {
			t.Errorf("a part has %d of %d classes", len(classes), len(p.About.Classes))
		}
	}
}

// checkScaled checks that every feature, or every channel, has mean 0 and standard deviation 1 in
// the train part.
func checkScaled(t *testing.T, p *datasets.Prepared) {
	t.Helper()
	groups, width := p.Train.X.Cols, 1
	if s := p.About.Shape; s[0] > 0 {
		groups, width = s[0], s[1]*s[2]
	}
	for g := range groups {
		var sum, squares float64
		for i := range p.Train.X.Rows {
			for _, v := range p.Train.X.Row(i)[g*width : (g+1)*width] {
				sum, squares = sum+float64(v), squares+float64(v)*float64(v)
			}
		}
		n := float64(p.Train.X.Rows * width)
		if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 1e-5 || math.Abs(sd-1) > 1e-4 {
			t.Errorf("group %d has mean %v and standard deviation %v", g, mean, sd)
		}
	}
}

// checkLearnable checks that the nearest centre of a class tells the class of test records: records
// and labels belong together.
func checkLearnable(t *testing.T, p *datasets.Prepared) {
	t.Helper()
	centres := make([][]float64, len(p.About.Classes))
	counts := make([]float64, len(centres))
	for i, y := range p.Train.Y {
		if centres[y] == nil {
			centres[y] = make([]float64, p.Train.X.Cols)
		}
		counts[y]++
		for j, v := range p.Train.X.Row(i) {
			centres[y][j] += float64(v)
		}
	}
	right := 0
	for i, y := range p.Test.Y {
		best, nearest := -1, math.Inf(1)
		for class, centre := range centres {
			var d float64
			for j, v := range p.Test.X.Row(i) {
				d += (float64(v) - centre[j]/counts[class]) * (float64(v) - centre[j]/counts[class])
			}
			if d < nearest {
				best, nearest = class, d
			}
		}
		if best == y {
			right++
		}
	}
	if float64(right) < 0.8*float64(len(p.Test.Y)) {
		t.Errorf("the nearest centre is right for %d of %d test records", right, len(p.Test.Y))
	}
}

func TestAKeyIsThatOfBytesAndOptions(t *testing.T) {
	for name, k := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			_, first := prepared(t, k.read, 0)
			_, again := prepared(t, k.read, 0)
			_, shifted := prepared(t, k.read, 1)
			_, other := prepared(t, k.other, 0)
			if again.Hash != first.Hash || again.About.Hash != first.About.Hash || !slices.Equal(again.Train.X.Data, first.Train.X.Data) {
				t.Error("a second reading is other data")
			}
			if shifted.Hash == first.Hash || slices.Equal(shifted.Train.IDs, first.Train.IDs) || shifted.About.Hash != first.About.Hash {
				t.Error("a shifted seed gives the same parts, or another table")
			}
			if other.Hash == first.Hash || other.About.Hash == first.About.Hash {
				t.Error("another option has the same key")
			}
			if len(first.Hash) != 64 || first.About.Sources[0].Name != filepath.Base(first.About.Sources[0].Name) || len(first.About.Sources[0].SHA256) != 64 {
				t.Errorf("hash %q, sources %+v", first.Hash, first.About.Sources)
			}
			if name == "cells" || name == "images" {
				return // a changed byte is damage
			}
			b, err := os.ReadFile(k.file)
			if err != nil {
				t.Fatal(err)
			}
			if name == "table" {
				b = append(b, "\"31\",5.5,\"01000\",\"setosa\",2021-03-01\n"...)
			} else {
				b[len(b)-2] ^= 1
			}
			if err := os.WriteFile(k.file, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, changed := prepared(t, k.read, 0); changed.Hash == first.Hash {
				t.Error("other bytes have the same key")
			}
		})
	}
}

func TestARenamedFileIsTheSameData(t *testing.T) {
	a := readTable(t, write(t, "a.csv", rTable(false)), own.Target("Species"), own.Missing("x", "-"), own.Category("zip"))
	b := readTable(t, write(t, "b.csv", rTable(false)), own.Category("zip"), own.Missing("-"), own.Missing("x"), own.Target("Species"))
	p, err := a.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.Hash != q.Hash || a.Name() == b.Name() {
		t.Errorf("%s and %s", p.Hash, q.Hash)
	}
}

func TestAnEndedContextPreparesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, k := range kinds(t) {
		d, err := k.read()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Prepare(ctx, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// testdata/make.py made the file with anndata.
func TestCellsOfAnndata(t *testing.T) {
	path := filepath.Join("testdata", "cells.h5ad")
	c, err := own.ReadCells(path, own.Label("cell_type"), small())
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.About.Classes, []string{"B", "T"}) || p.Train.X.Rows != 51 || p.Train.X.Cols != 30 {
		t.Errorf("classes %q, %d x %d", p.About.Classes, p.Train.X.Rows, p.Train.X.Cols)
	}
	for condition, n := range map[string]int{"donor=d2": 19, "donor!=d2": 40, "barcode=cell-7": 1, "cell_type=B": 30, "score>-100": 60} {
		if rows, err := p.About.Rows(condition); err != nil || len(rows) != n {
			t.Errorf("%s: %d rows, want %d; %v", condition, len(rows), n, err)
		}
	}
	// One donor is not known: that cell is of a class of its own.
	donors, err := own.ReadCells(path, own.Label("donor"), small())
	if err != nil {
		t.Fatal(err)
	}
	if q, err := donors.Prepare(t.Context(), 0); err != nil || !slices.Equal(q.About.Classes, []string{"d1", "d2", "d3", cells.Unlabelled}) {
		t.Errorf("%q, %v", q.About.Classes, err)
	}
	if info, err := donors.Info(); err != nil || !slices.Equal(info.Classes, []string{"d1", "d2", "d3", cells.Unlabelled}) {
		t.Errorf("Info: %q, %v", info.Classes, err)
	}
	if own.LackLabel([]int{0, -1, 1}, []int{0, 2}) || !own.LackLabel([]int{0, -1, 1}, []int{0, 1}) || own.LackLabel(nil, []int{0}) {
		t.Error("a cell that the filter leaves out counts as one without a label")
	}
	// Another preparation of the same file is other data, as another group is.
	keys := map[string]bool{donors.Key(): true, c.Key(): true}
	for _, option := range []own.CellOption{own.KeepTogether("donor"), fewerGenes()} {
		other, err := own.ReadCells(path, own.Label("cell_type"), small(), option)
		if err != nil {
			t.Fatal(err)
		}
		keys[other.Key()] = true
	}
	if again, err := own.ReadCells(path, own.Label("cell_type"), small()); err != nil || again.Key() != c.Key() || len(keys) != 4 {
		t.Errorf("%d keys of four readings, and that of the first again is %s (%v)", len(keys), again.Key(), err)
	}
	for name, c := range map[string]struct {
		path    string
		options []own.CellOption
		want    []string
	}{
		"no label":        {path, nil, []string{"cells.h5ad: no column of labels is named", "cell_type, donor, score"}},
		"no such label":   {path, []own.CellOption{own.Label("celltype")}, []string{`did you mean "cell_type"?`}},
		"two labels":      {path, []own.CellOption{own.Label("donor"), own.Label("score")}, []string{"one column holds the labels"}},
		"no such group":   {path, []own.CellOption{own.Label("cell_type"), own.KeepTogether("donors")}, []string{`did you mean "donor"?`}},
		"label and group": {path, []own.CellOption{own.Label("donor"), own.KeepTogether("donor")}, []string{`"donor" is named for the labels and as the group`}},
		"two groups":      {path, []own.CellOption{own.KeepTogether("donor"), own.KeepTogether("score")}, []string{"one column names it"}},
		"measured labels": {path, []own.CellOption{own.Label("score")}, []string{"cells.h5ad: "}},
		"another matrix":  {path, []own.CellOption{own.Label("donor"), own.Matrix("layers/counts")}, []string{"layers/counts"}},
		"not anndata":     {write(t, "a.h5", "x"), []own.CellOption{own.Label("donor")}, []string{"expected an anndata file"}},
		"damaged":         {write(t, "a.h5ad", "x"), []own.CellOption{own.Label("donor")}, []string{"a.h5ad"}},
		"no file":         {filepath.Join(t.TempDir(), "absent.h5ad"), nil, []string{"absent.h5ad"}},
	} {
		_, err := own.ReadCells(c.path, c.options...)
		wants(t, name, err, c.want...)
	}
	if text := c.String(); text != fmt.Sprintf("cells.h5ad: 60 cells, 40 genes\n2 classes in cell_type: B (30), T (30)\ncolumns: barcode (text), "+
		"cell_type (category), donor (category), score (number)\nNo gene's name begins with MT- or mt- (the first is \"gene0\"): no cell is removed for mitochondrial counts.\n") {
		t.Errorf("the report:\n%s", text)
	}
}

// Cells that are named are trained on, the others stay where they were; a file of few genes keeps all of them;
// cells that the filter leaves out are counted, and numbers of cells count them.
func TestNamedCellsAreTrainedOn(t *testing.T) {
	path := filepath.Join("testdata", "cells.h5ad")
	c, err := own.ReadCells(path, own.Label("cell_type"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.Train.X.Cols != 40 || p.Train.X.Rows != 51 || p.About.Numbering != nil {
		t.Errorf("a panel of 40 genes has %d, %d cells to train on", p.Train.X.Cols, p.Train.X.Rows)
	}
	named := []int{p.Test.IDs[2], p.Train.IDs[0], p.Test.IDs[5]}
	q, err := c.PrepareKeeping(t.Context(), 0, named)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(append(slices.Clone(p.Train.IDs), named[0], named[2])))
	if !slices.Equal(q.Train.IDs, want) || q.Test.X.Rows != p.Test.X.Rows-2 || q.Hash == p.Hash || len(q.DrawOrder) != len(want) {
		t.Errorf("trained on %v, named were %v", q.Train.IDs, named)
	}
	if again, err := c.PrepareKeeping(t.Context(), 0, nil); err != nil || again.Hash != p.Hash {
		t.Errorf("without names: %v", err)
	}
	if _, err := c.PrepareKeeping(t.Context(), 0, p.Test.IDs); err == nil || !strings.Contains(err.Error(), "no cell is held out") {
		t.Errorf("all held-out cells are named: %v", err)
	}

	choosy := cells.Preparation{}
	choosy.Filter.MinGenes = 37
	some, err := own.ReadCells(path, own.Label("cell_type"), own.Preparation(choosy))
	if err != nil {
		t.Fatal(err)
	}
	r, err := some.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	left := 60 - r.Train.X.Rows - r.Test.X.Rows
	if left == 0 || !strings.Contains(some.String(), fmt.Sprintf("%d cells left out, with fewer than 37 genes", left)) || r.About.Numbering.Total != 60 {
		t.Errorf("%d cells are left out; the report:\n%s", left, some)
	}
	for id := range 60 {
		if slices.Contains(r.Train.IDs, id) || slices.Contains(r.Test.IDs, id) {
			continue
		}
		if _, err := some.PrepareKeeping(t.Context(), 0, []int{id}); err == nil {
			t.Errorf("cell %d, which is left out, was kept", id)
		}
	}
}
