package lab

import "testing"

// The IDs of a part of a table's rows index the columns, too.
func TestTheColumnsAreThoseOfTheRowsThatAreKept(t *testing.T) {
	p, err := Prepare(t.Context(), "tabular_outliers", 300, TestFraction, SplitSeed)
	if err != nil {
		t.Fatal(err)
	}
	class := p.About.Columns[len(p.About.Columns)-1]
	if class.Rows() != 300 {
		t.Fatalf("%d cells for 300 rows", class.Rows())
	}
	for i, id := range p.Train.IDs {
		if int(class.Codes[id]) != p.Train.Y[i] {
			t.Fatalf("row %d has the class %d, its column %d", id, p.Train.Y[i], class.Codes[id])
		}
	}
}
