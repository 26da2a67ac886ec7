package array

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// sample returns a small matrix.
func sample() Matrix[float64] {
	return Matrix[float64]{Rows: 2, Cols: 3, Data: []float64{1, 2, 3, 4, 5, 6}}
}

func TestTransposeTwiceIsTheMatrix(t *testing.T) {
	m := sample()
	if got := m.Transpose(); got.Rows != 3 || got.Cols != 2 || fmt.Sprint(got.Data) != "[1 4 2 5 3 6]" {
		t.Errorf("transpose %+v", got)
	}
	if back := m.Transpose().Transpose(); fmt.Sprint(back) != fmt.Sprint(m) {
		t.Errorf("twice transposed %+v", back)
	}
}

func TestGatherCopiesRowsInTheOrderGiven(t *testing.T) {
	m := sample()
	g := m.Gather([]int{1, 0, 1})
	if fmt.Sprint(g.Data) != "[4 5 6 1 2 3 4 5 6]" {
		t.Errorf("gathered %v", g.Data)
	}
	g.Data[0] = 99
	if m.Data[3] != 4 {
		t.Error("the gathered rows share memory with the matrix")
	}
}

func TestRowCannotGrowIntoTheNext(t *testing.T) {
	m := sample()
	_ = append(m.Row(0), 99)
	if m.Data[3] != 4 {
		t.Error("appending to a row overwrote the next one")
	}
}

func TestCheckNamesTheElement(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for at := range sample().Data {
			m := sample()
			m.Data[at] = bad
			err := m.Check("embeddings")
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("embeddings: row %d, column %d", at/m.Cols, at%m.Cols)) {
				t.Errorf("%v: error %v", bad, err)
			}
		}
	}
	torn := Matrix[float64]{Rows: 2, Cols: 2, Data: make([]float64, 3)}
	if err := torn.Check("x"); err == nil || !strings.Contains(err.Error(), "3 values do not fill 2 x 2") {
		t.Errorf("error %v", err)
	}
	if err := sample().Check("x"); err != nil {
		t.Error(err)
	}
}

func ExampleConvert() {
	m := Convert[float32](Matrix[float64]{Rows: 1, Cols: 2, Data: []float64{0.5, 2}})
	fmt.Printf("%T %v\n", m.Data, m.Data)
	// Output: []float32 [0.5 2]
}
