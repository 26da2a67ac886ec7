package lab

import "testing"

// What a set of images says of its size is what a case of it has, with a test part and without one.
func TestImagesSayHowManyTheyAre(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		d           Images
		train, test int // 0: an error
	}{
		{Images{Set: "sketches"}, 320, 80}, {Images{Set: "sketches", MaxTrain: 100, MaxTest: 30}, 100, 30}, {Images{Set: "sketches", MaxTrain: 100}, 100, 25},
		{Images{Set: "sketches", MaxTest: 30}, 370, 30}, {Images{Set: "sketches", MaxTrain: 390, MaxTest: 30}, 0, 0},
		{Images{Set: "glyphs", MaxTrain: 100, MaxTest: 20}, 100, 20}, {Images{Set: "glyphs", MaxTrain: 100}, 100, 1000}, {Images{Set: "glyphs", MaxTrain: 1e6}, 0, 0},
	} {
		info, err := c.d.Info()
		if c.train == 0 {
			if err == nil {
				t.Errorf("%+v: %d records", c.d, info.Rows)
			}
			continue
		}
		if err != nil || info.Rows-info.TestRows != c.train || info.TestRows != c.test {
			t.Errorf("%+v: %d records, %d of them for testing (%v)", c.d, info.Rows, info.TestRows, err)
		}
		p, err := l.load(t.Context(), Setting{Data: c.d})
		if err != nil {
			t.Fatal(err)
		}
		if p.Train.X.Rows != c.train || p.Test.X.Rows != c.test {
			t.Errorf("%+v: %d and %d", c.d, p.Train.X.Rows, p.Test.X.Rows)
		}
	}
}
