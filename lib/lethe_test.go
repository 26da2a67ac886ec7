// Tests of the front door.

package lethe_test

import (
	"slices"
	"testing"

	lethe "github.com/lethe-ml/lethe/lib"
)

// Another run holds other records out, and keeps its results in the same store.
func TestAReseededLabSplitsAnew(t *testing.T) {
	path, done := temporary()
	defer done()
	lab, err := lethe.Open()
	if err != nil {
		t.Fatal(err)
	}
	people, err := lethe.ReadCSV(path, lethe.Target("ill"))
	if err != nil {
		t.Fatal(err)
	}
	var held [][]int
	for _, run := range []int{0, 0, 1} {
		again := lab.Reseed(run)
		if again.Store != lab.Store {
			t.Error("a run has a store of its own")
		}
		c, err := again.Lab.Case(t.Context(), setting(people, lethe.Where("hospital", "Harbour")))
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c.Test.IDs)
	}
	if !slices.Equal(held[0], held[1]) || slices.Equal(held[0], held[2]) {
		t.Errorf("held out: %v", held)
	}
}
