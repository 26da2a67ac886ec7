// Comparison with onnxruntime, operator by operator.

package onnx_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/onnx"
)

// goldenCase is meta.json of a case of testdata/golden.tar.gz; testdata/golden.py says
// what its fields mean.
type goldenCase struct {
	What, Output, Expect, Source string
	Opset                        int
	Tol                          float64
}

// TestGolden holds networks of every operation, version, attribute and default against
// onnxruntime 1.32.0: a file gives its values, or it is refused by name. Those that may be
// refused stand in testdata/golden_refused.txt, and those alone: neither a loss of coverage
// nor a gain goes unseen.
func TestGolden(t *testing.T) {
	dir := unpacked(t, "testdata/golden.tar.gz")
	names := namesIn(t, dir)
	refused := linesOf(t, "testdata/golden_refused.txt")
	for _, name := range refused {
		if !slices.Contains(names, name) {
			t.Errorf("golden_refused.txt names %q, and there is no such case", name)
		}
	}
	e := opened(t)
	counts := map[string]int{}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c := metaOf(t, filepath.Join(dir, name))
			err := c.check(t, e, filepath.Join(dir, name))
			mayRefuse := c.Expect == "refuse" || slices.Contains(refused, name)
			verdict := "right"
			switch {
			case errors.As(err, new(refusal)):
				verdict = "refused"
				if !mayRefuse {
					t.Errorf("%s\nis refused, and golden_refused.txt does not name it: %v", c.What, err)
				}
			case err != nil:
				verdict = "wrong"
				t.Errorf("%s\n%v", c.What, err)
			case mayRefuse:
				t.Errorf("%s\nis right by now: golden_refused.txt need not name it", c.What)
			}
			counts[verdict]++
		})
	}
	t.Logf("%d cases: %d right, %d refused, %d wrong", len(names), counts["right"], counts["refused"], counts["wrong"])
}

// refusal is an error by which a file was refused.
type refusal struct{ error }

// check compares what a case's network makes of its records with the values beside it. It
// returns a refusal where the network was refused as it should be: in one line with the
// file's name, and without what the program did.
func (c goldenCase) check(t *testing.T, e *engine.Engine, dir string) error {
	t.Helper()
	path := filepath.Join(dir, "model.onnx")
	x, _, err := npy.ReadRecords(filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(e, path, c.Output, x)
	if err != nil {
		if !strings.HasPrefix(err.Error(), path+": ") || traced(err) {
			return fmt.Errorf("is refused by an error that does not name the file in one plain line: %w", err)
		}
		return refusal{err}
	}
	if c.Expect == "refuse" {
		return fmt.Errorf("must be refused, and gives %d x %d numbers: %v ...", got.Rows, got.Cols, got.Data[:min(4, len(got.Data))])
	}
	want, _, err := npy.ReadRecords(filepath.Join(dir, "y.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.compare(got, want); err != nil {
		return err
	}
	return c.checkMany(e, path, x, want)
}

// manyRecords are more records than an execution takes, and than a tile of the engine.
const manyRecords = 300

// checkMany demands the same of the records repeated, where the file leaves their number free.
func (c goldenCase) checkMany(e *engine.Engine, path string, x, want array.Rows) error {
	m, err := onnx.Open(path)
	n, _ := x.Shape()
	if err != nil || m.Batch() > 0 || n >= manyRecords {
		return err
	}
	got, err := run(e, path, c.Output, repeated(x))
	if err != nil {
		return fmt.Errorf("is refused with its records repeated to %d: %w", manyRecords, err)
	}
	if err := c.compare(got, repeated(want)); err != nil {
		return fmt.Errorf("with its records repeated to %d: %w", manyRecords, err)
	}
	return nil
}

func repeated(x array.Rows) array.Matrix[float32] {
	n, cols := x.Shape()
	out, buffer := array.New[float32](manyRecords, cols), make([]float64, cols)
	for i := range manyRecords {
		for j, v := range x.Read(buffer, i%n) {
			out.Row(i)[j] = float32(v)
		}
	}
	return out
}

// run gives the values of an output by name; of the first output where the name is empty.
func run(e *engine.Engine, path, output string, x array.Rows) (array.Matrix[float32], error) {
	m, err := onnx.Open(path)
	if err != nil {
		return array.Matrix[float32]{}, err
	}
	if output == "" {
		output = m.Output()
	}
	out, err := m.Run(context.Background(), e, x, output)
	return out[output], err
}

// compare demands equal shapes, and values within Tol of max(1, |value|). What is not finite
// must be the same.
func (c goldenCase) compare(got array.Matrix[float32], want array.Rows) error {
	n, cols := want.Shape()
	if got.Rows != n || got.Cols != cols {
		return fmt.Errorf("%d x %d numbers, want %d x %d", got.Rows, got.Cols, n, cols)
	}
	buffer := make([]float64, cols)
	for i := range n {
		for j, w := range want.Read(buffer, i) {
			g := float64(got.Row(i)[j])
			same := g == w || math.IsNaN(g) && math.IsNaN(w)
			if !same && !(math.Abs(g-w) <= c.Tol*max(1, math.Abs(w))) || math.IsInf(w, 0) && !same {
				return fmt.Errorf("record %d, column %d: %v, want %v of %s", i, j, g, w, c.Source)
			}
		}
	}
	return nil
}

// unpacked is a folder of this test with the files of an archive.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(raw))
}

func metaOf(t *testing.T, dir string) (c goldenCase) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c
}
