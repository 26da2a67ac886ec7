package datasets

import (
	"fmt"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// countedPart is a part whose columns can be told from the record's number.
func countedPart(n int) Part {
	p := Part{X: array.New[float32](n, 2), Extra: map[string][]float64{"batch": nil}}
	for i := range n {
		p.X.Row(i)[0], p.X.Row(i)[1] = float32(i), float32(-i)
		p.Y, p.IDs = append(p.Y, i%2), append(p.IDs, 10*i)
		p.Extra["batch"] = append(p.Extra["batch"], float64(100*i))
	}
	return p
}

func formatPart(p Part) string {
	return fmt.Sprint(p.X.Rows, p.X.Cols, p.X.Data, p.Y, p.IDs, p.Extra)
}

func TestAGatheredPartKeepsEveryColumnOfItsRecords(t *testing.T) {
	all := countedPart(5)
	got := all.Gather([]int{3, 0, 3})
	if want := "3 2 [3 -3 0 0 3 -3] [1 0 1] [30 0 30] map[batch:[300 0 300]]"; formatPart(got) != want {
		t.Errorf("got %s, want %s", formatPart(got), want)
	}
	got.X.Data[0], got.Y[0], got.IDs[0], got.Extra["batch"][0] = 9, 9, 9, 9
	if formatPart(all) != formatPart(countedPart(5)) {
		t.Error("a gathered part shares memory")
	}
	if all.Extra = nil; all.Gather([]int{1}).Extra != nil {
		t.Error("a column that was not there")
	}
}

func TestThePiecesOfACutPartAreItsRecords(t *testing.T) {
	all := countedPart(4)
	first, rest := all.SplitAt(1)
	if formatPart(first) != formatPart(all.Gather([]int{0})) || formatPart(rest) != formatPart(all.Gather([]int{1, 2, 3})) {
		t.Errorf("cut into %s and %s", formatPart(first), formatPart(rest))
	}
	_ = append(first.Y, 99)
	_ = append(first.X.Data, 99)
	if formatPart(all) != formatPart(countedPart(4)) {
		t.Error("appending to the first piece wrote into the second")
	}
}

func TestAPreparedTableNamesItsRecords(t *testing.T) {
	table, err := read("1,7,n\n3,8,y\n5,9,n\n7,9,y\n", layout{comma: ','}, numbers("a", "b"), "n", "y")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(table, Split{Train: []int{2, 0}, Test: []int{3}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Train.IDs, p.Train.Y, p.Test.IDs, p.Test.Y, p.Norm.Mean, p.Norm.SD); got != "[2 0] [0 0] [3] [1] [3 8] [2 1]" {
		t.Error(got)
	}
}
