package cells_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/lethe-ml/lethe/datasets/cells"
)

// The size of PBMC-33k.
const (
	largeCells, largeGenes = 33148, 32738
	largePerCell           = 531 // entries: 17.6 million in all
)

// childFolder makes this test's binary only load a folder, so
// that what it holds is what loading takes.
const childFolder = "LETHE_TEST_CELLS"

func TestMain(m *testing.M) {
	folder := os.Getenv(childFolder)
	if folder == "" {
		os.Exit(m.Run())
	}
	c, err := cells.Open(context.Background(), folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.Counts.Rows, c.Counts.Cols, len(c.Counts.Values))
}

// BenchmarkLoadPBMC33kSize loads counts made up in the size of PBMC-33k in a
// process of its own, plain and compressed, and says the greatest memory that it
// held. It fails at 1 GiB.
//
//	go test -run NONE -bench PBMC33k -benchtime 1x ./datasets/cells
func BenchmarkLoadPBMC33kSize(b *testing.B) {
	for _, form := range []string{"", ".gz"} {
		b.Run("matrix.mtx"+form, func(b *testing.B) {
			folder := largeFolder(b, form)
			for b.Loop() {
				child := exec.Command(os.Args[0])
				child.Env = append(os.Environ(), childFolder+"="+folder)
				child.Stderr = os.Stderr
				out, err := child.Output()
				if want := fmt.Sprintln(largeCells, largeGenes, largeCells*largePerCell); err != nil || string(out) != want {
					b.Fatalf("%q, want %q: %v", out, want, err)
				}
				b.ReportMetric((child.ProcessState.UserTime() + child.ProcessState.SystemTime()).Seconds(), "cpu-s")
				mib := maxRSS(child.ProcessState)
				if mib == 0 {
					b.Skip("this system does not say how much memory a process held")
				}
				if b.ReportMetric(mib, "MiB"); mib >= 1024 {
					b.Errorf("%v MiB", mib)
				}
			}
		})
	}
}

// largeFolder writes counts whose genes descend in a cell, as those of 10x
// Genomics do.
func largeFolder(b *testing.B, form string) string {
	folder, rng := b.TempDir(), rand.New(rand.NewPCG(33, 148))
	write(b, filepath.Join(folder, "barcodes.tsv"), func(w *bufio.Writer) {
		for i := range largeCells {
			fmt.Fprintf(w, "CELL%d-1\n", i)
		}
	})
	write(b, filepath.Join(folder, "genes.tsv"), func(w *bufio.Writer) {
		for j := range largeGenes {
			fmt.Fprintf(w, "ENSG%011d\tG%d\n", j, j)
		}
	})
	write(b, filepath.Join(folder, "matrix.mtx"+form), func(w *bufio.Writer) {
		fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate real general\n%%\n%d %d %d\n", largeGenes, largeCells, largeCells*largePerCell)
		var line []byte
		for i := range largeCells {
			for k := range largePerCell { // one of every 61 genes
				line = strconv.AppendInt(line[:0], int64(largeGenes-61*k-rng.IntN(61)), 10)
				line = strconv.AppendInt(append(line, ' '), int64(i+1), 10)
				line = strconv.AppendInt(append(line, ' '), int64(1+rng.IntN(4)), 10)
				w.Write(append(line, '\n'))
			}
		}
	})
	return folder
}

func write(b *testing.B, path string, content func(*bufio.Writer)) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	z := io.WriteCloser(f)
	if filepath.Ext(path) == ".gz" {
		z = gzip.NewWriter(f)
	}
	w := bufio.NewWriterSize(z, 1<<20)
	content(w)
	err = errors.Join(w.Flush(), z.Close())
	if z != f {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
}
