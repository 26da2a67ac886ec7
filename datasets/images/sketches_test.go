package images_test

import (
	"testing"

	"github.com/lethe-ml/lethe/datasets/images"
)

func TestSketchesStayTheSameForEver(t *testing.T) {
	// From the release that introduced them; it may not change.
	const want = "b2882d45290ff5d3671b3c47ebe9b49306dba615dcdecd468d438a01cf995c36"
	m := load(t, "sketches")
	if m.Hash != want {
		t.Errorf("%s, want %s", m.Hash, want)
	}
	if who := m.Columns[0]; !m.Synthetic || m.Test.X.Rows != 0 || who.Name != images.IdentityColumn || who.Values[who.Codes[10]] != "person 02" {
		t.Errorf("%+v, %d test rows", m.About.Shape, m.Test.X.Rows)
	}
}

// Drawings of a person are alike: for most of them the nearest other drawing is one of the same
// person.
func TestDrawingsOfAPersonAreAlike(t *testing.T) {
	m, same := load(t, "sketches"), 0
	for i := range m.Train.X.Rows {
		if k, _ := nearest(m.Train.X, m.Train.X.Row(i), i); k/10 == i/10 {
			same++
		}
	}
	if same < 300 || same > 380 {
		t.Errorf("the nearest drawing of %d of 400 is one of the same person", same)
	}
}
