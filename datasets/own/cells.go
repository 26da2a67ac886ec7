// Single cells in an anndata file (.h5ad), with a column of labels.

package own

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	singlecell "github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
)

// cellSettings are the resolved options of ReadCells. They are part of the key.
type cellSettings struct {
	Label       string            `json:",omitempty"`
	Matrix      string            `json:",omitempty"`
	Group       string            `json:"-"` // as Preparation
	Preparation cells.Preparation `json:"-"` // it is part of the key of the prepared data
}

// CellOption is an option of ReadCells.
type CellOption func(*cellSettings) error

// Label names the column of obs that holds the classes of the cells. A cell without a value is of
// the class cells.Unlabelled.
func Label(column string) CellOption {
	return func(s *cellSettings) error {
		if column == "" || s.Label != "" && s.Label != column {
			return fmt.Errorf("the labels are in %q and %q: one column holds the labels", s.Label, column)
		}
		s.Label = column
		return nil
	}
}

// Matrix names the matrix of the counts, such as layers/counts or raw/X, if it is not X.
func Matrix(path string) CellOption {
	return func(s *cellSettings) error { s.Matrix = path; return nil }
}

// KeepTogether names the column of obs that says whom a cell is of, such as a donor: the split keeps the cells of one
// together, and intervals count donors. A cell without a value is a group of its own.
func KeepTogether(column string) CellOption {
	return func(s *cellSettings) error {
		if column == "" || s.Group != "" && s.Group != column {
			return fmt.Errorf("the group is %q and %q: one column names it", s.Group, column)
		}
		s.Group = column
		return nil
	}
}

// Preparation says how cells and genes are chosen and scaled; see cells.Preparation. If classes are
// clusters, no Label is needed.
func Preparation(p cells.Preparation) CellOption {
	return func(s *cellSettings) error { s.Preparation = p; return nil }
}

// Cells are single cells of the user's own, read and checked.
type Cells struct {
	cells      *cells.Cells
	settings   cellSettings
	info       datasets.Info // its classes are the labels
	leftOut    int           // cells that the filter leaves out
	unlabelled bool          // a cell that the filter keeps has no label
}

// ReadCells reads an anndata file (.h5ad) with a matrix of counts. Label names the classes.
//
// The columns of obs are the columns of the data, with barcode for the names of the cells. Errors
// name the file and the object in it.
//
// A file of fewer genes than are chosen by default, such as a targeted panel, keeps all of them, and the
// cells in which a tenth are detected, the share that the default asks for of 2,000.
func ReadCells(path string, options ...CellOption) (*Cells, error) {
	defer progress.Begin("reading "+filepath.Base(path), 0).Done()
	s := cellSettings{}
	for _, o := range options {
		if err := o(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if filepath.Ext(path) != ".h5ad" {
		return nil, fmt.Errorf("%s: expected an anndata file, .h5ad", path)
	}
	c, err := openCells(path, s.Matrix)
	if err != nil {
		return nil, err
	}
	if err := s.label(c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := s.checkGroup(c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	hash, err := hashFile(path)
	if err != nil {
		return nil, err
	}
	c.Name, c.Title = dataName(path), filepath.Base(path)
	c.Sources = []datasets.SourceFile{{Name: c.Title, SHA256: hash}}
	c.Columns = obsColumns(c)
	c.Hash = key("cells", s, hash)
	s.Preparation = forPanel(s.Preparation, c.Counts.Cols)
	kept, err := keptCells(c, s.Preparation)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	leftOut := c.Counts.Rows - len(kept)
	if leftOut > 0 { // an ID is a row of obs, so that numbers of all cells have one
		c.Numbering = &datasets.Numbering{Total: c.Counts.Rows}
	}
	return &Cells{cells: c, settings: s, leftOut: leftOut, unlabelled: lackLabel(c.Y, kept), info: datasets.Info{
		Name: c.Name, Title: c.Title, Task: "what is in the column " + s.Label + " of obs", Rows: c.Counts.Rows, Features: c.Counts.Cols,
		Classes: c.Classes, Description: fmt.Sprintf("Cells of the user's own: %d cells, %d genes.", c.Counts.Rows, c.Counts.Cols),
	}}, nil
}

// forPanel is the preparation for so many genes, where it does not say how many are chosen.
func forPanel(p cells.Preparation, genes int) cells.Preparation {
	usual := defaults.Fill(p)
	if genes >= usual.Variable.Top {
		return p
	}
	if p.Filter.MinGenes == 0 {
		p.Filter.MinGenes = max(1, genes*usual.Filter.MinGenes/usual.Variable.Top)
	}
	if p.Variable.Top == 0 {
		p.Variable.Top = genes
	}
	return p
}

// keptCells returns the cells that the filter keeps.
func keptCells(c *cells.Cells, p cells.Preparation) ([]int, error) {
	q, err := singlecell.Measure(c.Counts, c.Genes)
	if err != nil {
		return nil, err
	}
	return p.Filter.Cells(q)
}

// lackLabel reports whether one of the kept cells has no label. y is nil where clusters are the classes.
func lackLabel(y, kept []int) bool {
	return y != nil && slices.ContainsFunc(kept, func(i int) bool { return y[i] < 0 })
}

func openCells(path, matrix string) (*cells.Cells, error) {
	if matrix == "" {
		return cells.Open(context.Background(), path)
	}
	return cells.OpenLayer(context.Background(), path, matrix)
}

// label sets the classes of the cells.
func (s cellSettings) label(c *cells.Cells) error {
	names := slices.Sorted(maps.Keys(c.Obs))
	switch column, is := c.Obs[s.Label]; {
	case s.Label == "" && s.Preparation.Clusters:
		return nil
	case c.Skipped(s.Label) != "":
		return damagedColumn(c, s.Label)
	case len(names) == 0:
		return errors.New("obs has no columns, so no cell has a label")
	case s.Label == "":
		return fmt.Errorf("no column of labels is named: say Label(column), with one of %s", firstOf(names))
	case !is:
		return datasets.UnknownColumn(s.Label, names)
	default:
		c.Classes, c.Y = labelCodes(column)
	}
	var y []int
	for _, code := range c.Y {
		if code >= 0 {
			y = append(y, code)
		}
	}
	if len(c.Classes) == len(y) && len(y) > 1 {
		return fmt.Errorf("all %d values of %s are different: it names cells, not classes", len(y), s.Label)
	}
	if err := checkLabels(y, c.Classes, "cells with a label"); err != nil {
		return fmt.Errorf("the labels %s: %w", s.Label, err)
	}
	return nil
}

// damagedColumn is the error for a column of obs that cannot be read.
func damagedColumn(c *cells.Cells, name string) error {
	return fmt.Errorf("the column %q of obs cannot be read: %s", name, c.Skipped(name))
}

// checkGroup makes the group a part of the preparation, and returns an error for a column that cannot be one.
func (s *cellSettings) checkGroup(c *cells.Cells) error {
	if s.Group == "" {
		return nil
	}
	if c.Skipped(s.Group) != "" {
		return damagedColumn(c, s.Group)
	}
	if _, is := c.Obs[s.Group]; !is {
		return datasets.UnknownColumn(s.Group, slices.Sorted(maps.Keys(c.Obs)))
	}
	if s.Group == s.Label {
		return fmt.Errorf("the column %q is named for the labels and as the group; name two columns", s.Group)
	}
	s.Preparation.GroupBy = s.Group
	return nil
}

// labelCodes returns the classes, whole numbers ascending and others sorted as byte strings, and
// their codes, -1 for a missing one.
func labelCodes(column []string) (classes []string, y []int) {
	settings := tableSettings{}
	for _, v := range column {
		if !settings.isMissing(v) {
			classes = append(classes, v)
		}
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	if !slices.ContainsFunc(classes, func(c string) bool { return c != strconv.Itoa(number(c)) }) {
		slices.SortFunc(classes, func(a, b string) int { return number(a) - number(b) })
	}
	code := make(map[string]int, len(classes))
	for k, class := range classes {
		code[class] = k
	}
	y = make([]int, len(column))
	for i, v := range column {
		k, is := code[v]
		if !is {
			k = -1
		}
		y[i] = k
	}
	return classes, y
}

// obsColumns returns the names of the cells and the columns of obs.
func obsColumns(c *cells.Cells) []datasets.Column {
	name := "barcode"
	if _, taken := c.Obs[name]; taken {
		name = "cell_name"
	}
	out := []datasets.Column{inferColumn(name, c.Barcodes)}
	for _, name := range slices.Sorted(maps.Keys(c.Obs)) {
		out = append(out, inferColumn(name, c.Obs[name]))
	}
	return out
}

// inferColumn returns texts as numbers or dates if all of them are, else as names.
func inferColumn(name string, values []string) datasets.Column {
	settings, o := tableSettings{}, observed{}
	for i, v := range values {
		if !settings.isMissing(v) {
			o.add(formOf(v), v, i+1)
		}
	}
	parse := parseNumber
	kind := datasets.Number
	if o.only(isoDate) {
		kind, parse = datasets.Date, datasets.ParseDate
	}
	if o.knownCells() == 0 || kind == datasets.Number && !o.only(integer, point) {
		return textColumn(name, values)
	}
	c := datasets.Column{Name: name, Kind: kind, Numbers: make([]float64, len(values))}
	for i, v := range values {
		c.Numbers[i] = math.NaN()
		if !settings.isMissing(v) {
			c.Numbers[i], _ = parse(v) // its form was recognised
		}
	}
	return c
}

// textColumn returns texts as categories, or as text if all of them are different.
func textColumn(name string, values []string) datasets.Column {
	settings, seen := tableSettings{}, map[string]int32{}
	ids, texts, known := make([]int32, len(values)), []string(nil), 0
	for i, v := range values {
		if ids[i] = -1; settings.isMissing(v) {
			continue
		}
		known++
		id, is := seen[v]
		if !is {
			id = int32(len(texts))
			seen[v], texts = id, append(texts, v)
		}
		ids[i] = id
	}
	kind := datasets.Category
	if len(texts) == known || len(texts) > maxCategories {
		kind = datasets.Text
	}
	return datasets.NewTextColumn(name, kind, ids, texts)
}

// Key identifies the file, how it is read and how its cells are prepared.
func (c *Cells) Key() string { return key("prepared cells", c.settings.Preparation, c.cells.Hash) }

// Name returns the name of the file without its extension.
func (c *Cells) Name() string { return c.info.Name }

// Info describes the cells of the file, before any is left out. Features are the genes that Prepare
// chooses some. Cells without a label are of the class cells.Unlabelled, after the others, where the filter keeps one; with the
// types among the features it is always there.
func (c *Cells) Info() (datasets.Info, error) {
	p, info := defaults.Fill(c.settings.Preparation), c.info
	info.Features = min(info.Features, p.Variable.Top)
	if !p.Clusters && (c.unlabelled || p.Types) {
		info.Classes = append(slices.Clone(info.Classes), cells.Unlabelled)
	}
	info.TestRows, info.Estimated = info.Rows-int(p.TrainFraction*float64(info.Rows)), true
	if p.Types {
		info.Features += info.ClassCount()
	}
	return info, nil
}

// String prints what was found.
func (c *Cells) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d cells, %d genes\n", c.info.Title, c.info.Rows, c.info.Features)
	if c.settings.Label != "" {
		labelled := slices.DeleteFunc(slices.Clone(c.cells.Y), func(y int) bool { return y < 0 })
		fmt.Fprintf(&b, "%s in %s: %s\n", count(len(c.info.Classes), "class"), c.settings.Label, classList(classCounts(labelled, c.info.Classes)))
		if n := len(c.cells.Y) - len(labelled); n > 0 {
			fmt.Fprintf(&b, "%s without a label: the class %q.\n", count(n, "cell"), cells.Unlabelled)
		}
	}
	if one, other, found := datasets.SpeltAlike(c.info.Classes); found {
		fmt.Fprintf(&b, "%q and %q are two classes, which differ in capitals or spaces alone.\n", one, other)
	}
	if c.settings.Group != "" {
		fmt.Fprintln(&b, groupNote(columnNamed(c.cells.Columns, c.settings.Group), "cell"))
	}
	names := make([]string, len(c.cells.Columns))
	for k, column := range c.cells.Columns {
		names[k] = fmt.Sprintf("%s (%s)", column.Name, column.Kind)
	}
	fmt.Fprintf(&b, "columns: %s\n", firstOf(names))
	if f := defaults.Fill(c.settings.Preparation).Filter; c.leftOut > 0 {
		fmt.Fprintf(&b, "%s left out, with fewer than %d genes or at least %g of the counts on mitochondrial ones.\n", count(c.leftOut, "cell"),
			f.MinGenes, f.MaxMito)
	}
	if c.cells.Caveat != "" {
		b.WriteString(c.cells.Caveat + "\n")
	}
	return b.String()
}

// cellsSeed is the seed of the split of cells, as for the built-in ones.
const cellsSeed = 42

// Prepare filters and normalises the cells, chooses their variable genes and splits them with the
// seed 42 + shift; see cells.Cells.Prepared. The IDs are the rows of obs.
func (c *Cells) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	return c.PrepareKeeping(ctx, shift, nil)
}

// PrepareKeeping is Prepare with the given cells, rows of obs, in the train part: whoever asks to be
// forgotten was trained on.
func (c *Cells) PrepareKeeping(ctx context.Context, shift int, rows []int) (*datasets.Prepared, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := c.cells.Prepared(c.settings.Preparation, uint32(cellsSeed+shift), rows...)
	if err != nil {
		return nil, err
	}
	if last := len(p.About.Classes) - 1; !c.settings.Preparation.Clusters && !c.unlabelled && !c.settings.Preparation.Types {
		p.About.Classes = p.About.Classes[:last] // that of the cells without a label: there is none
	}
	return p, nil
}
