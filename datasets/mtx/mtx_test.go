package mtx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lethe-ml/lethe/lib/array"
)

const three = `%%MatrixMarket matrix coordinate integer general
%metadata_json: {"software_version": "x"}
3 2 4
3 1 7
1 1 2

2 2 1
3 2 16777216
`

func read(s string) (array.Sparse[float32], error) { return shaped(s, 3, 2) }

func shaped(s string, rows, cols int) (array.Sparse[float32], error) {
	return ReadTransposed(context.Background(), strings.NewReader(s), rows, cols)
}

func TestColumnsBecomeRows(t *testing.T) {
	want := array.Sparse[float32]{Rows: 2, Cols: 3, Starts: []int{0, 2, 4}, Columns: []int32{0, 2, 1, 2}, Values: []float32{2, 7, 1, 16777216}}
	for name, text := range map[string]string{
		"as is":        three,
		"real":         strings.NewReplacer("integer", "real", " 7", " 7.0", " 2\n", " 2e0\n").Replace(three),
		"other breaks": strings.ReplaceAll(three, "\n", "\r\n"),
		"tabs":         strings.ReplaceAll(three, "1 1 2", " 1\t1   2 "),
		"no last line": strings.TrimSpace(three),
		"capitals":     strings.Replace(three, "%%MatrixMarket matrix coordinate", "%%MatrixMarket MATRIX Coordinate", 1),
		"a mark":       "\xef\xbb\xbf" + three,
		"unsigned":     strings.Replace(three, "integer", "unsigned-integer", 1),
		"an array":     "%%MatrixMarket matrix array real general\n% by columns\n3 2\n2\n0\n7\n\n0.0\n1e0\n16777216\n",
		"a zero":       strings.NewReplacer("3 2 4\n", "3 2 5\n", "2 2 1\n", "2 2 1\n1 2 0\n").Replace(three),
	} {
		if got, err := read(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	pattern := strings.NewReplacer("integer", "pattern", "3 1 7", "3 1", "1 1 2", "1 1", "2 2 1\n", "2 2\n", "3 2 16777216", "3 2").Replace(three)
	want.Values = []float32{1, 1, 1, 1}
	if got, err := read(pattern); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("pattern: %v, %v", got, err)
	}
}

// scipy.io.mmread (SciPy 1.17.1) gives [[1 2 0] [2 0 5] [0 5 3]] for all three.
func TestTheUpperHalfOfASymmetricMatrixIsThatBelow(t *testing.T) {
	want := []float32{1, 2, 0, 2, 0, 5, 0, 5, 3}
	for name, text := range map[string]string{
		"coordinate": "%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n1 1 1\n2 1 2\n3 2 5\n3 3 3\n",
		"array":      "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n0\n0\n5\n3\n",
	} {
		if got, err := shaped(text, 3, 3); err != nil || !slices.Equal(got.Dense().Data, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for want, text := range map[string]string{
		"line 3: \"1 2 2\": an entry above the diagonal":        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n1 2 2\n",
		"line 2: 7 entries do not fit into 3 x 3":               "%%MatrixMarket matrix coordinate integer symmetric\n3 3 7\n",
		"the file ends after 1 of the 9 entries":                "%%MatrixMarket matrix array integer general\n3 3\n1\n",
		"line 3: \"1 2\": an element of an array is one number": "%%MatrixMarket matrix array integer general\n3 3\n1 2\n",
		"more than the 6 entries":                               "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n0\n0\n5\n3\n1\n",
	} {
		if _, err := shaped(text, 3, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestTheOrderOfEntriesDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for i := range 30 {
		for j := range 20 {
			if rng.IntN(3) == 0 {
				lines = append(lines, fmt.Sprintf("%d %d %d\n", i+1, j+1, 1+rng.IntN(9)))
			}
		}
	}
	head := fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer general\n30 20 %d\n", len(lines))
	want, err := shaped(head+strings.Join(lines, ""), 30, 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := want.Check("read"); err != nil {
		t.Fatal(err)
	}
	backwards := slices.Clone(lines)
	slices.Reverse(backwards)
	shuffled := slices.Clone(lines)
	rng.Shuffle(len(shuffled), func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
	for _, order := range [][]string{backwards, shuffled} {
		if got, err := shaped(head+strings.Join(order, ""), 30, 20); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("another order gives another matrix: %v", err)
		}
	}
}

func TestDamagedFilesAreRefusedWithTheLine(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(three, old, new, 1) }
	for want, text := range map[string]string{
		"line 0: the file ends before its header":                     "",
		"line 1: the file ends before its shape":                      "%%MatrixMarket matrix coordinate integer general\n",
		`line 1: "3 2 4": not the header`:                             "3 2 4\n1 1 1\n",
		"only coordinate and array":                                   change("coordinate", "elemental"),
		"line 3: \"3 2 4\": expected rows and columns":                change("coordinate", "array"),
		"line 3: 3 x 2: a symmetric matrix is square":                 change("general", "symmetric"),
		"general\": an array has values":                              change("coordinate integer", "array pattern"),
		"skew-symmetric\": only general and symmetric":                change("general", "skew-symmetric"),
		"hermitian\": only general and symmetric":                     change("general", "hermitian"),
		"the text is not UTF-8 but UTF-16":                            "\xff\xfe%\x00",
		"only integer, real and pattern":                              change("integer", "complex"),
		`line 3: "3 2": expected rows`:                                change("3 2 4", "3 2"),
		`line 3: "3 -2 4": "-2" is not a number`:                      change("3 2 4", "3 -2 4"),
		`"99999999999" is not a number from 0`:                        change("3 2 4", "99999999999 2 4"),
		`"134217729" is not a number from 0 to 134217728`:             change("3 2 4", "3 134217729 4"),
		"line 3: a matrix of 2 x 3, expected 3 x 2":                   change("3 2 4", "2 3 4"),
		"line 3: 9 entries do not fit into 3 x 2":                     change("3 2 4", "3 2 9"),
		"line 3: 1 entries do not fit into 3 x 0":                     change("3 2 4", "3 0 1"),
		"line 8: the file ends after 4 of the 5 entries announced":    change("3 2 4", "3 2 5"),
		`line 8: "3 2 16777216": more than the 3 entries announced`:   change("3 2 4", "3 2 3"),
		`line 5: "4 1 2": row 4: there are rows 1 to 3`:               change("1 1 2", "4 1 2"),
		`line 5: "0 1 2": row 0: there are rows 1 to 3`:               change("1 1 2", "0 1 2"),
		`line 5: "1 3 2": column 3: there are columns 1 to 2`:         change("1 1 2", "1 3 2"),
		`line 5: "1 0 2": column 0: there are columns 1 to 2`:         change("1 1 2", "1 0 2"),
		`line 5: "1 x 2": column x`:                                   change("1 1 2", "1 x 2"),
		`line 5: "1 1 2.5": 2.5 is not a count`:                       change("1 1 2", "1 1 2.5"),
		`line 5: "1 1 1_0": 1_0 is not a count`:                       change("1 1 2", "1 1 1_0"),
		`line 5: "1 1 0x2": 0x2 is not a count`:                       change("1 1 2", "1 1 0x2"),
		`line 5: "1 1 -2": -2 is not a count`:                         change("1 1 2", "1 1 -2"),
		`line 5: "1 1 NaN": NaN is not a count`:                       change("1 1 2", "1 1 NaN"),
		`line 5: "1 1 Inf": Inf is greater than 16777216`:             change("1 1 2", "1 1 Inf"),
		`line 5: "1 1 1e400": 1e400 is not a count`:                   change("1 1 2", "1 1 1e400"),
		`line 5: "1 1 16777217": 16777217 is greater`:                 change("1 1 2", "1 1 16777217"),
		`line 5: "1 1 99999999999999999999": 99999999999999999999 is`: change("1 1 2", "1 1 99999999999999999999"),
		`line 5: "1 1": the number of fields`:                         change("1 1 2", "1 1"),
		`line 5: "1 1 2 3": the number of fields`:                     change("1 1 2", "1 1 2 3"),
		`line 4: "3 1 7": the number of fields`:                       change("integer", "pattern"),
		"row 3, column 1 occurs twice":                                change("1 1 2", "3 1 2"),
		"line 5: longer than 4096 bytes":                              change("1 1 2", "1 1 2"+strings.Repeat(" ", MaxLine)),
		`line 5: "% late": the number of fields`:                      change("1 1 2", "% late"),
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestALyingHeaderTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		if _, err := shaped("%%MatrixMarket matrix coordinate integer general\n50000 50000 2147483647\n1 1 1\n", 50000, 50000); err == nil {
			t.Fatal("accepted")
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("ten files of 80 bytes took %d", n)
	}
}

func TestAReadThatFailsOrIsCancelledEnds(t *testing.T) {
	broken := errors.New("the disk is gone")
	from := io.MultiReader(strings.NewReader(three[:100]), iotest.ErrReader(broken))
	if _, err := ReadTransposed(context.Background(), from, 3, 2); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ReadTransposed(ctx, strings.NewReader(three), 3, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzReadTransposed(f *testing.F) {
	f.Add(three)
	f.Add(strings.Replace(three, "integer", "pattern", 1))
	f.Add("%%MatrixMarket matrix array real general\n3 2\n1\n0\n0\n2\n3\n4")
	f.Add("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e0")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := read(text)
		if err != nil {
			return
		}
		if err := s.Check("accepted"); err != nil {
			t.Error(err)
		}
		for _, v := range s.Values {
			if v < 1 || v != float32(int(v)) {
				t.Errorf("a count of %v", v)
			}
		}
	})
}

func ExampleReadTransposed() {
	s, err := read(three)
	if err != nil {
		fmt.Println(err)
		return
	}
	columns, values := s.Row(0)
	fmt.Println(s.Rows, "cells,", s.Cols, "genes; the first cell has genes", columns, "counted", values)
	// Output: 2 cells, 3 genes; the first cell has genes [0 2] counted [2 7]
}
