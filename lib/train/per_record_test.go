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
		got, err := SquaredGradients(context.Background(), r, p, o, m)
		if err != nil {
			t.Fatal(err)
		}
		if m.Training {
			again, err := SquaredGradients(context.Background(), r, p, o, Mode{Training: true, Seed: 6})
			if err != nil || again[0][0] == got[0][0] {
				t.Errorf("nothing is drawn in training (%v)", err)
			}
			continue
		}
		want := newGradientSum(p)
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
	_, err := SquaredGradients(context.Background(), r, p, append(pair(0, 1), pair(0, 1)...), Mode{})
	wantWords(t, err, "has 2")
}

func TestEachGradientSaysHowManyRecords(t *testing.T) {
	r, p := openRunner(t, small, 0), initial(small)
	var sizes []int
	total := newGradientSum(p)
	err := EachGradient(context.Background(), r, p, pair(0, 1), 8, Mode{}, func(grads [][]float64, records int) {
		sizes = append(sizes, records)
		total.add(gradientSum{grads: grads})
	})
	if err != nil || len(sizes) != 3 || sizes[0] != 8 || sizes[2] != 4 {
		t.Fatalf("batches of %v (%v)", sizes, err)
	}
	want, err := Gradient(context.Background(), r, p, pair(0, 1), 8, Mode{})
	if err != nil || want[2][1] != total.grads[2][1] {
		t.Errorf("they add up to %v, the gradient is %v (%v)", total.grads[2][1], want[2][1], err)
	}
}

// Groups that overlap, of all sizes; the network draws nothing.
func TestSquaresOfGroupsAreThoseOfTheirRecords(t *testing.T) {
	r, p := openRunner(t, small, 32), initial(small)
	o := pair(0, 0.6)
	groups := [][]int{{3}, {0, 5, 19, 5}, {1, 2, 3, 4}}
	one := map[int][][]float64{}
	for i := range 20 {
		err := EachSquaredGradients(context.Background(), r, p, o, [][]int{{i}}, Mode{}, func(_ int, s [][]float64) {
			one[i] = newGradientSum(p).grads
			for k := range s {
				copy(one[i][k], s[k])
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	err := EachSquaredGradients(context.Background(), r, p, o, groups, Mode{}, func(k int, s [][]float64) {
		seen++
		for i := range s {
			for j, v := range s[i] {
				want := 0.0
				for _, row := range groups[k] {
					want += one[row][i][j] / float64(len(groups[k]))
				}
				if math.Abs(v-want) > 1e-5*(1e-4+want) {
					t.Fatalf("group %d, %s, element %d: %v, want %v", k, p[i].Name, j, v, want)
				}
			}
		}
	})
	if err != nil || seen != len(groups) {
		t.Errorf("%d groups, %v", seen, err)
	}
	for words, bad := range map[string][][]int{"group 1 of the records is empty": {{0}, {}}, "record 20 of 20": {{20}}, "record -1": {{-1}}} {
		wantWords(t, EachSquaredGradients(context.Background(), r, p, o, bad, Mode{}, nil), words)
	}
}

// The squares of the gradients of the batches' sums, by Gradient itself.
func TestBatchSquaresAreThoseOfSums(t *testing.T) {
	r, p := openRunner(t, small, 0), initial(small)
	o := pair(0, 0.6)
	for _, size := range []int{0, 1, 8} {
		got, err := BatchSquaredGradients(context.Background(), r, p, o, size, Mode{})
		if err != nil {
			t.Fatal(err)
		}
		want := newGradientSum(p).grads
		for _, b := range sequentialBatches(o, size) {
			part := pair(0, 0.6)
			if b.rows != nil {
				part[0].X = part[0].X.Gather(b.rows)
				for k := range part[0].Targets {
					for name, m := range part[0].Targets[k].Inputs {
						part[0].Targets[k].Inputs[name] = m.Gather(b.rows)
					}
				}
			}
			g, err := Gradient(context.Background(), r, p, part, 0, Mode{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range g {
				for j, v := range g[i] {
					want[i][j] += math.Pow(v*float64(part[0].X.Rows), 2) / 20
				}
			}
		}
		for i := range want {
			for j, v := range want[i] {
				if math.Abs(got[i][j]-v) > 1e-4*(1e-4+v) {
					t.Fatalf("batches of %d, %s, element %d: %v, want %v", size, p[i].Name, j, got[i][j], v)
				}
			}
		}
	}
}

// The squared lengths add up to the trace; chunks do not matter.
func TestGradientNormsAreThoseOfEveryRecord(t *testing.T) {
	p := initial(small)
	for _, chunk := range []int{0, 32, 3} {
		r := openRunner(t, small, chunk)
		got, err := GradientNorms(context.Background(), r, p, pair(0, 0.6), Mode{})
		if err != nil || len(got) != 20 {
			t.Fatal(got, err)
		}
		err = EachSquaredGradients(context.Background(), r, p, pair(0, 0.6), [][]int{{0}, {7}, {19}}, Mode{}, func(k int, s [][]float64) {
			sum, record := 0.0, []int{0, 7, 19}[k]
			for _, t := range s {
				for _, v := range t {
					sum += v
				}
			}
			if want := math.Sqrt(sum); math.Abs(got[record]-want) > 1e-5*want {
				t.Errorf("record %d: %v, want %v", record, got[record], want)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := GradientNorms(context.Background(), openRunner(t, small, 0), p, append(pair(0, 1), pair(0, 1)...), Mode{})
	wantWords(t, err, "has 2")
}
