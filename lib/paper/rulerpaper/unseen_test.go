package rulerpaper

import (
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// A study with a method that looks at held-out records takes its non-members from the
// others, in every row and under another key: what the method has seen says nothing, and
// with the halves exchanged it does. A study without takes all of them, as the paper does.
func TestTheAttackLeavesOutWhatAMethodHasSeen(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	c := openCell(t, e)
	key := func() string {
		id, err := e.key(c).ID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	n := c.Test.X.Rows
	if len(c.unseen()) != n {
		t.Errorf("%d of %d records", len(c.unseen()), n)
	}
	before := key()
	c.study.Variants = append(slices.Clone(c.study.Variants), Variant{Label: SCPublished, Method: unlearn.SCRUBKurmanji{}})
	if !slices.Equal(c.unseen(), c.EvalRows()) || key() == before {
		t.Errorf("%d of %d records, %d of which no method looks at", len(c.unseen()), n, len(c.EvalRows()))
	}
	mia := func(corrupted func(row int) bool) float64 {
		onTrain, onTest := array.New[float32](c.Train.X.Rows, c.Classes()), array.New[float32](n, c.Classes())
		for i, y := range c.Train.Y { // sure of what it was trained on
			onTrain.Row(i)[y] = 5
		}
		for i, y := range c.Test.Y {
			if onTest.Row(i)[y] = float32(i%3) - 1; corrupted(i) {
				onTest.Row(i)[y] = 9
			}
		}
		var row Row
		if err := c.outputs(&row, onTrain, onTest); err != nil {
			t.Fatal(err)
		}
		return row.MIAAUC
	}
	judged := func(i int) bool { return slices.Contains(c.EvalRows(), i) }
	plain, seen, exchanged := mia(func(int) bool { return false }), mia(func(i int) bool { return !judged(i) }), mia(judged)
	if plain != 1 || seen != plain || exchanged == plain {
		t.Errorf("the AUC is %v, %v where the method knows by heart what it has seen, %v where it knows the others", plain, seen, exchanged)
	}
}
