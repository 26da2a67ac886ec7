package own

import "github.com/lethe-ml/lethe/datasets"

// Sources returns the file of the table, with the hash of its bytes.
func (t *Table) Sources() []datasets.SourceFile { return t.about.Sources }

// Sources returns the file of the texts, with the hash of its bytes.
func (t *Texts) Sources() []datasets.SourceFile { return t.set.Sources }

// Sources returns the files of the arrays, with the hashes of their bytes.
func (a *Arrays) Sources() []datasets.SourceFile {
	if a.pictures != nil {
		return a.pictures.about.Sources
	}
	return a.table.Sources
}

// Sources returns the folder of the images, with a hash of the names and the bytes of its files.
func (m *Images) Sources() []datasets.SourceFile { return m.pictures.about.Sources }

// Sources returns the file of the cells, with the hash of its bytes.
func (c *Cells) Sources() []datasets.SourceFile { return c.cells.Sources }

// Sources returns the files of the images, with the hashes of their bytes.
func (d *IDX) Sources() []datasets.SourceFile { return d.pictures.about.Sources }
