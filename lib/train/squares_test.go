package train

import (
	"context"
	"math"
	"testing"
)

// two losses per record, and a batch size that does not divide the records.
func TestSquaresAreThoseOfALoopOverRecords(t *testing.T) {
	r, p := openRunner(t, small, 32), initial(small)
	o := pair(0, 0.6)
	for _, m := range []Mode{{}, {Training: true, Seed: 5}} {
		got, err := Squares(context.Background(), r, p, o, m)
		if err != nil {
			t.Fatal(err)
		}
		if m.Training {
			again, err := Squares(context.Background(), r, p, o, Mode{Training: true, Seed: 6})
			if err != nil || again[0][0] == got[0][0] {
				t.Errorf("nothing is drawn in training (%v)", err)
			}
			continue
		}
		want := newSum(p)
		err = EachGradient(context.Background(), r, p, o, 1, m, func(grads [][]float64, records int) {
			if records != 1 {
				t.Fatalf("a batch of %d", records)
			}
			for i, g := range grads {
				for j, v := range g {
					want.grads[i][j] += v * v / 20
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.grads {
			for j, v := range want.grads[i] {
				if math.Abs(got[i][j]-v) > 1e-5*(1e-4+v) {
					t.Errorf("%s, element %d: %v, want %v", p[i].Name, j, got[i][j], v)
				}
			}
		}
	}
	_, err := Squares(context.Background(), r, p, append(pair(0, 1), pair(0, 1)...), Mode{})
	wantWords(t, err, "2 terms")
}

func TestEachGradientSaysHowManyRecords(t *testing.T) {
	r, p := openRunner(t, small, 0), initial(small)
	var sizes []int
	total := newSum(p)
	err := EachGradient(context.Background(), r, p, pair(0, 1), 8, Mode{}, func(grads [][]float64, records int) {
		sizes = append(sizes, records)
		total.add(sum{grads: grads})
	})
	if err != nil || len(sizes) != 3 || sizes[0] != 8 || sizes[2] != 4 {
		t.Fatalf("batches of %v (%v)", sizes, err)
	}
	want, err := Gradient(context.Background(), r, p, pair(0, 1), 8, Mode{})
	if err != nil || want[2][1] != total.grads[2][1] {
		t.Errorf("they add up to %v, the gradient is %v (%v)", total.grads[2][1], want[2][1], err)
	}
}
