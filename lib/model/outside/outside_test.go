// Tests of outside.go.

package outside

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// network says what it was given, on records of 2 x 2 x 3.
type network struct{}

func (network) Output() string            { return "logits" }
func (network) Embedding() (string, bool) { return "hidden/1", true }
func (network) Input() []int              { return []int{2, 2, 3} }

func (network) Run(_ context.Context, _ *engine.Engine, x array.Rows, names ...string) (map[string]array.Matrix[float32], error) {
	out := map[string]array.Matrix[float32]{}
	for _, name := range names {
		out[name] = x.(array.Matrix[float32])
	}
	return out, nil
}

// plain is a network without an embedding.
type plain struct{ network }

func (plain) Embedding() (string, bool) { return "", false }

func TestFilesOfAnotherNetworkAreNotTakenForThisOnes(t *testing.T) {
	x, dir := array.New[float32](3, 4), filepath.Join(t.TempDir(), "model")
	for range 2 { // one run takes the place of another
		if _, err := Write(t.Context(), network{}, nil, x, dir, "a"); err != nil {
			t.Fatal(err)
		}
	}
	for want, m := range map[string]struct {
		Network
		layers []string
	}{
		filepath.Join(dir, "activations", "a.npy"): {network{}, []string{"b"}},
		filepath.Join(dir, "embedding.npy"):        {plain{}, []string{"a"}},
	} {
		if _, err := Write(t.Context(), m, nil, x, dir, m.layers...); err == nil || !strings.HasPrefix(err.Error(), want+" exists already") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "activations", "b.npy")); err == nil {
		t.Error("something was written")
	}
}

// records writes float32 zeros of a shape, but for one value.
func records(t *testing.T, shape string, numbers, at int, value string) string {
	t.Helper()
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}"
	data := []byte(strings.Repeat("\x00", 4*numbers))
	copy(data[4*at:], value)
	path := filepath.Join(t.TempDir(), "X.npy")
	if err := os.WriteFile(path, []byte("\x93NUMPY\x01\x00"+string(rune(len(header)))+"\x00"+header+string(data)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRecordsAreFiniteAndLieAsTheNetworkTakesThem(t *testing.T) {
	for shape, want := range map[string]string{
		"(5, 2, 2, 3)":    "",
		"(5, 1, 2, 2, 3)": "",
		"(5, 12)":         "",
		"(20, 3)":         "", // that there are too few is for the network to say
		"(5, 2, 3, 2)":    "shape (records, 2, 3, 2), and the network takes (records, 2, 2, 3)",
		"(5, 4, 3)":       "shape (records, 4, 3), and the network takes (records, 2, 2, 3)",
	} {
		path := records(t, shape, 60, 0, "")
		x, err := Read(path, network{})
		if want == "" && err == nil {
			if n, cols := x.Shape(); n*cols != 60 {
				t.Errorf("%s: read as %d x %d", shape, n, cols)
			}
			continue
		}
		if want == "" || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", shape, err, want)
		}
	}
	for value, want := range map[string]string{"\x00\x00\xc0\x7f": "row 3, column 1 is NaN", "\x00\x00\x80\xff": "row 3, column 1 is -Inf"} {
		path := records(t, "(5, 2, 2, 3)", 60, 37, value)
		if _, err := Read(path, network{}); err == nil || !strings.Contains(err.Error(), path+": "+want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Read(records(t, "(0, 2, 2, 3)", 0, 0, ""), network{}); err == nil || !strings.Contains(err.Error(), "no record") {
		t.Errorf("no records: %v", err)
	}
}

func TestNothingIsWrittenOfValuesThatAreNotFinite(t *testing.T) {
	x := array.New[float32](3, 4)
	dir := filepath.Join(t.TempDir(), "model")
	x.Row(2)[1] = float32(math.NaN())
	_, err := Write(t.Context(), network{}, nil, x, dir)
	if want := filepath.Join(dir, "outputs.npy") + ` is not written: value "logits": row 2, column 1 is NaN`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("something was written")
	}
	x.Row(2)[1] = 0
	written, err := Write(t.Context(), network{}, nil, x, dir, "a/b", "a:b")
	if err != nil {
		t.Fatal(err)
	}
	want := ExpectedFiles(network{}, dir, "a/b", "a:b")
	for i, f := range written {
		if _, err := os.Stat(f.Path); err != nil || f.Path != want[i].Path || f.Records != 3 || f.Width != 4 {
			t.Errorf("%+v, announced as %+v, %v", f, want[i], err)
		}
	}
	if len(written) != 4 || written[3].Path != filepath.Join(dir, "activations", "a-b-2.npy") {
		t.Errorf("%+v", written)
	}
}
