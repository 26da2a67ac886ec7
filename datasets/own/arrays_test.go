package own_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
)

// npyFile writes an array of bytes, or of text if descr says so, of the given shape.
func npyFile(t testing.TB, name, descr, shape string, data []byte) string {
	t.Helper()
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	b := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(text)))...)
	return write(t, name, string(append(append(b, text...), data...)))
}

// matrix writes n records of two features that tell the class, and labels.
func matrix(t testing.TB, n int) (x, y string) {
	t.Helper()
	m, labels := array.New[float32](n, 2), make([]byte, 0, 4*4*n)
	for i := range n {
		m.Row(i)[0], m.Row(i)[1] = float32(10*(i%2)+i%3), float32(i%5)
		for _, r := range []string{"no  ", "yes "}[i%2] {
			if r == ' ' {
				r = 0
			}
			labels = binary.LittleEndian.AppendUint32(labels, uint32(r))
		}
	}
	x = filepath.Join(t.TempDir(), "embeddings v2.npy")
	if err := npy.Write(x, m); err != nil {
		t.Fatal(err)
	}
	return x, npyFile(t, "y.npy", "<U4", fmt.Sprintf("(%d,)", n), labels)
}

func TestArraysOfRecords(t *testing.T) {
	x, y := matrix(t, 40)
	a, err := own.ReadArrays(x, y)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name() != "embeddings_v2" || p.Train.X.Rows != 32 || p.Train.X.Cols != 2 || p.About.Features[1].Name != "x2" || !slices.Equal(p.About.Classes, []string{"no", "yes"}) {
		t.Errorf("%s: %d x %d, %+v", a.Name(), p.Train.X.Rows, p.Train.X.Cols, p.About)
	}
	if !strings.Contains(a.String(), "40 records of 2 features, <f4\n2 classes in y.npy: no (20), yes (20)") {
		t.Errorf("the report:\n%s", a)
	}
	if rows, err := p.About.Rows("class=yes"); err != nil || len(rows) != 20 || rows[0] != 1 {
		t.Errorf("rows %v, %v", rows, err)
	}
	tx, ty := matrix(t, 7)
	given, err := own.ReadArrays(x, y, own.Test(tx, ty))
	if err != nil {
		t.Fatal(err)
	}
	if p, err = given.Prepare(t.Context(), 1); err != nil || p.Train.X.Rows != 40 || !slices.Equal(p.Test.IDs, []int{40, 41, 42, 43, 44, 45, 46}) || !slices.Equal(p.Test.Y, []int{0, 1, 0, 1, 0, 1, 0}) {
		t.Errorf("a given test part: %d train rows, test rows %v, %v", p.Train.X.Rows, p.Test.IDs, err)
	}
}

func TestArraysOfImages(t *testing.T) {
	const n, h, w = 20, 2, 3
	first, last, labels := make([]byte, n*3*h*w), make([]byte, n*3*h*w), make([]byte, n)
	for i := range n {
		labels[i] = byte(3 + 4*(i%2))
		for k := range 3 * h * w {
			v := byte(i*13 + k*5)
			ch, pixel := k/(h*w), k%(h*w)
			first[i*3*h*w+k], last[(i*h*w+pixel)*3+ch] = v, v
		}
	}
	y := npyFile(t, "y.npy", "|u1", "(20,)", labels)
	a, err := own.ReadArrays(npyFile(t, "x.npy", "|u1", "(20, 3, 2, 3)", first), y, own.ChannelsFirst())
	if err != nil {
		t.Fatal(err)
	}
	b, err := own.ReadArrays(npyFile(t, "x.npy", "|u1", "(20, 2, 3, 3)", last), y, own.ChannelsLast())
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.About.Shape != [3]int{3, 2, 3} || !slices.Equal(p.Train.X.Data, q.Train.X.Data) || p.Hash == q.Hash || !slices.Equal(p.About.Classes, []string{"3", "7"}) {
		t.Errorf("shape %v, classes %q, or the orders of channels differ", p.About.Shape, p.About.Classes)
	}
	g, err := own.ReadArrays(npyFile(t, "x.npy", "|u1", "(20, 6, 3)", first), y, own.Grey())
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := g.Info(); info.Shape != [3]int{1, 6, 3} {
		t.Errorf("grey: %+v", info)
	}
}

func TestArraysThatDoNotFitAreRefused(t *testing.T) {
	x, y := matrix(t, 40)
	zeros := func(n int) []byte { return make([]byte, n) }
	four := npyFile(t, "four.npy", "|u1", "(20, 3, 2, 2)", zeros(240))
	labels := npyFile(t, "labels.npy", "|u1", "(20,)", append(zeros(10), slices.Repeat([]byte{1}, 10)...))
	m := array.New[float64](20, 2)
	m.Data[7] = math.NaN()
	bad := filepath.Join(t.TempDir(), "bad.npy")
	if err := npy.Write(bad, m); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		x, y    string
		options []own.ArrayOption
		want    []string
	}{
		"no order":       {four, labels, nil, []string{"four.npy: |u1 (20, 3, 2, 2)", "ChannelsFirst()", "ChannelsLast()"}},
		"both orders":    {four, labels, []own.ArrayOption{own.ChannelsFirst(), own.ChannelsLast()}, []string{"first and last"}},
		"the other side": {npyFile(t, "x.npy", "|u1", "(2, 17, 1, 1)", zeros(34)), labels, []own.ArrayOption{own.ChannelsFirst()}, []string{"17 channels", "other side"}},
		"three":          {npyFile(t, "x.npy", "|u1", "(20, 2, 1)", zeros(40)), labels, nil, []string{"say Grey()"}},
		"five":           {npyFile(t, "x.npy", "|u1", "(1, 1, 1, 1, 1)", zeros(1)), labels, nil, []string{"records have the shape (n, features)"}},
		"a vector":       {labels, labels, nil, []string{"records have the shape (n, features)"}},
		"other lengths":  {x, labels, nil, []string{"labels.npy: 20 labels for the 40 records of", "embeddings"}},
		"no labels":      {x, x, nil, []string{"embeddings v2.npy", "expected (n,)"}},
		"not finite":     {bad, labels, nil, []string{"bad.npy: row 3, column 1 is NaN"}},
		"constant":       {npyFile(t, "x.npy", "|u1", "(20, 3)", zeros(60)), labels, nil, []string{"all 3 features are constant"}},
		"one class":      {npyFile(t, "x.npy", "|u1", "(20, 3)", zeros(60)), npyFile(t, "y.npy", "|u1", "(20,)", zeros(20)), nil, []string{"y.npy", `of the class "0"`}},
		"no file":        {"absent.npy", y, nil, []string{"absent.npy"}},
		"no npy":         {write(t, "x.npy", "a,b\n"), y, nil, []string{"x.npy", "not a valid .npy file"}},
		"too large":      {npyFile(t, "x.npy", "|u1", "(100000, 100000)", nil), y, nil, []string{"needs 10000000000 bytes"}},
		"another test":   {x, y, []own.ArrayOption{own.Test(four, labels)}, []string{"four.npy", "as in the other file"}},
		"an unseen class": {npyFile(t, "x.npy", "|u1", "(20, 3)", slices.Repeat([]byte{1, 2, 3, 4}, 15)), labels,
			[]own.ArrayOption{own.Test(npyFile(t, "tx.npy", "|u1", "(1, 3)", zeros(3)), npyFile(t, "ty.npy", "|u1", "(1,)", []byte{9}))},
			[]string{"ty.npy: label 0 is \"9\", which is not in the train part; its labels are 0, 1"}},
	} {
		_, err := own.ReadArrays(c.x, c.y, c.options...)
		wants(t, name, err, c.want...)
	}
}

// idxFile writes an idx file of bytes.
func idxFile(t testing.TB, name string, data []byte, dims ...int) string {
	t.Helper()
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return write(t, name, string(append(b, data...)))
}

// digits returns n grey images of 3 x 3 whose brightness tells the class, and labels.
func digits(n int) (pixels, labels []byte) {
	for i := range n {
		for k := range 9 {
			pixels = append(pixels, byte(100*(i%2)+10*(k%3)+i%7))
		}
		labels = append(labels, byte(4+i%2))
	}
	return pixels, labels
}

func TestAPairOfIDXFiles(t *testing.T) {
	pixels, labels := digits(30)
	x, y := idxFile(t, "train-images-idx3-ubyte", pixels, 30, 3, 3), idxFile(t, "train-labels-idx1-ubyte", labels, 30)
	d, err := own.ReadIDX(x, y)
	if err != nil {
		t.Fatal(err)
	}
	info, err := d.Info()
	if err != nil || d.Name() != "train-images" || info.Shape != [3]int{1, 3, 3} || !slices.Equal(info.Classes, []string{"4", "5"}) {
		t.Errorf("%s: %+v, %v", d.Name(), info, err)
	}
	tp, tl := digits(5)
	given, err := own.ReadIDX(x, y, own.Test(idxFile(t, "tx", tp, 5, 3, 3), idxFile(t, "ty", tl, 5)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := given.Prepare(t.Context(), 0)
	if err != nil || p.Train.X.Rows != 30 || !slices.Equal(p.Test.IDs, []int{30, 31, 32, 33, 34}) || len(p.About.Sources) != 4 {
		t.Errorf("%+v, %v", p.Test, err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if b, err := os.ReadFile(x); err != nil {
		t.Fatal(err)
	} else if _, err := z.Write(b); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	again, err := own.ReadIDX(write(t, "train-images-idx3-ubyte.gz", packed.String()), y)
	if err != nil {
		t.Fatal(err)
	}
	_, a := prepared(t, func() (data, error) { return d, nil }, 0)
	if _, b := prepared(t, func() (data, error) { return again, nil }, 0); b.Hash != a.Hash || again.Name() != d.Name() {
		t.Errorf("a compressed file is other data: %s and %s, %s", a.Hash, b.Hash, again.Name())
	}
	four, err := own.ReadIDX(idxFile(t, "x", slices.Repeat(pixels, 2)[:180], 10, 3, 3, 2), idxFile(t, "y", labels[:10], 10), own.ChannelsLast())
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := four.Info(); info.Shape != [3]int{2, 3, 3} {
		t.Errorf("%+v", info)
	}
	for name, c := range map[string]struct {
		x, y string
		want []string
	}{
		"no idx":        {write(t, "x.idx", "junk"), y, []string{"x.idx: byte 0: not an idx file"}},
		"too short":     {idxFile(t, "x.idx", pixels[1:], 30, 3, 3), y, []string{"x.idx: byte 12: the dimensions up to this one need 270"}},
		"a table":       {idxFile(t, "x.idx", pixels, 30, 9), y, []string{"x.idx: dimensions [30 9]: expected three"}},
		"four":          {idxFile(t, "x.idx", pixels, 30, 3, 3, 1), y, []string{"ChannelsFirst()"}},
		"other lengths": {x, idxFile(t, "y.idx", labels[1:], 29), []string{"y.idx: dimensions [29], expected the labels of the 30 images in"}},
		"one class":     {x, idxFile(t, "y.idx", make([]byte, 30), 30), []string{"y.idx: all 30 images are of the class \"0\""}},
		"no file":       {filepath.Join(t.TempDir(), "absent"), y, []string{"absent"}},
	} {
		_, err := own.ReadIDX(c.x, c.y)
		wants(t, name, err, c.want...)
	}
}
