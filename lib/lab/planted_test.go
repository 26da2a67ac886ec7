package lab

import (
	"slices"
	"testing"
)

// A setting that names planted records forgets them, and no others.
func TestPlantedRecordsAreThoseToForget(t *testing.T) {
	s := Setting{Data: Table{Set: "moons_island"}, Forget: Planted("island")}
	p, err := Prepare(t.Context(), s.DataSet(), 0, TestFraction, SplitSeed)
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

// A setting that names a class forgets all of it, and nothing of another.
func TestTheRecordsOfAClassAreThoseToForget(t *testing.T) {
	s := Setting{Data: Table{Set: "breast_cancer"}, Forget: Class("malignant")}
	p, err := Prepare(t.Context(), s.DataSet(), 0, TestFraction, SplitSeed)
	if err != nil {
		t.Fatal(err)
	}
	forget, retain, err := s.Divide(p)
	if err != nil || len(forget) == 0 || len(retain) == 0 || len(forget)+len(retain) != p.Train.X.Rows {
		t.Fatalf("%d to forget, %d to retain of %d, %v", len(forget), len(retain), p.Train.X.Rows, err)
	}
	for _, i := range forget {
		if p.Train.Y[i] != 0 {
			t.Errorf("row %d is %s", i, p.About.Classes[p.Train.Y[i]])
		}
	}
	for _, i := range retain {
		if p.Train.Y[i] == 0 {
			t.Errorf("row %d is retained", i)
		}
	}
	for _, c := range []struct {
		s    Setting
		want string
	}{
		{Setting{Forget: Class("benevolent")}, `data set breast_cancer: there is no class "benevolent"; its classes are ["malignant" "benign"]`},
		{Setting{Forget: Planted("island")}, `data set breast_cancer: there is no planted group "island"`},
	} {
		if _, _, err := c.s.Divide(p); err == nil || err.Error() != c.want {
			t.Errorf("want %s, got %v", c.want, err)
		}
	}
}
