package lab

import (
	"slices"
	"testing"
)

// A setting that names planted records forgets them, and no others.
func TestPlantedRecordsAreThoseToForget(t *testing.T) {
	s := Setting{DataSet: "moons_island", Planted: "island"}
	p, err := Prepare(t.Context(), s.DataSet, 0, TestFraction, SplitSeed)
	if err != nil {
		t.Fatal(err)
	}
	forget, retain, err := s.Divide(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(forget) == 0 || len(forget)+len(retain) != p.Train.X.Rows {
		t.Fatalf("%d to forget, %d to retain of %d", len(forget), len(retain), p.Train.X.Rows)
	}
	for _, part := range []struct {
		rows    []int
		planted bool
	}{{forget, true}, {retain, false}} {
		for _, i := range part.rows {
			if slices.Contains(p.About.Planted["island"], p.Train.IDs[i]) != part.planted {
				t.Errorf("row %d: planted is not %t", i, part.planted)
			}
		}
	}
}
