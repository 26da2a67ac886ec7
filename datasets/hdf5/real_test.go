package hdf5_test

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/hdf5"
)

// The sums are h5py 3.16.0's: of the values for numbers, of the lengths for strings.
func TestRealFilesGiveWhatH5pyGives(t *testing.T) {
	dir := datatest.Dir(t)
	for _, c := range []struct {
		file, path string
		n          int
		sum        float64
	}{
		{"tabula_muris/Bladder-10X_P4_3.h5ad", "/X/data", 511746, 2336805.0},
		{"tabula_muris/Bladder-10X_P4_3.h5ad", "/X/indices", 511746, 38454314.0},
		{"tabula_muris/Bladder-10X_P4_3.h5ad", "/X/indptr", 23434, 6196912360.0},
		{"tabula_muris/Bladder-10X_P4_3.h5ad", "/var/_index", 149, 337},
		{"tabula_muris/Bladder-10X_P4_3.h5ad", "/obs/_index", 23433, 106055},
		{"tabula_muris/Liver-10X_P7_0.h5ad", "/X/data", 933372, 3073636.0},
		{"tabula_muris/Liver-10X_P7_0.h5ad", "/X/indices", 933372, 276421161.0},
		{"tabula_muris/Liver-10X_P7_0.h5ad", "/X/indptr", 23434, 11424375134.0},
		{"tabula_muris/Liver-10X_P7_0.h5ad", "/var/_index", 596, 1678},
		{"tabula_muris/Liver-10X_P7_1.h5ad", "/X/data", 468681, 1486746.0},
		{"tabula_muris/Liver-10X_P7_1.h5ad", "/X/indices", 468681, 74547727.0},
		{"tabula_muris/Liver-10X_P7_1.h5ad", "/X/indptr", 23434, 5747557354.0},
		{"tabula_muris/Liver-10X_P7_1.h5ad", "/var/_index", 322, 856},
		{"pbmc68k_reduced/10x_pbmc68k_reduced.h5ad", "/X", 535500, -243.681057988666},
		{"pbmc68k_reduced/10x_pbmc68k_reduced.h5ad", "/raw.X/data", 174400, 319044.23824107647},
		{"pbmc68k_reduced/10x_pbmc68k_reduced.h5ad", "/raw.X/indices", 174400, 67600945.0},
		{"pbmc68k_reduced/10x_pbmc68k_reduced.h5ad", "/uns/bulk_labels_categories", 10, 147},
		{"pbmc68k_reduced/10x_pbmc68k_reduced.h5ad", "/uns/neighbors/distances/data", 6300, 43570.44111037254},
	} {
		t.Run(c.file+c.path, func(t *testing.T) {
			f, err := hdf5.Open(filepath.Join(dir, c.file))
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			d, err := f.Read(c.path)
			if err == nil && (d.Class() == hdf5.String || d.Class() == hdf5.Variable) {
				var s []string
				s, err = d.Strings()
				for _, v := range s {
					sum += float64(len(v))
				}
			} else if err == nil {
				var x []float64
				x, err = hdf5.Numbers[float64](d)
				for _, v := range x {
					sum += v
				}
			}
			if err != nil || d.Len() != c.n || math.Abs(sum-c.sum) > 1e-9*math.Abs(c.sum) {
				t.Errorf("%s: %s: sum %v, want %d and %v: %v", c.file, c.path, sum, c.n, c.sum, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
