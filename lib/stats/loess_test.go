package stats

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Speed and stopping distance of 50 cars (Ezekiel 1930), R's cars.
var (
	speed = []float64{4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15,
		15, 16, 16, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25}
	distance = []float64{2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26,
		54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85}
)

func TestLoessIsClevelands(t *testing.T) {
	// scikit-misc 0.5.3 (Cleveland, Grosse and Shyu's Fortran): the curve at six
	// cars, and the sum and the sum of squares over all 50.
	for _, c := range []struct {
		name         string
		l            Loess
		at           [6]float64
		sum, squares float64
	}{
		{"default", Loess{}, [6]float64{5.893627990292, 15.28108222399, 37.16793518323, 48.3558889751, 68.5693129092, 95.32404743689},
			2163.5590571, 115883.785488},
		{"degree 1", Loess{Degree: 1, Span: 0.5}, [6]float64{5.319168109144, 15.77290739322, 36.95466600249, 47.06597855256, 70.9576040377, 90.76557322663},
			2149.35998796, 114020.935916},
		{"span 0.4", Loess{Span: 0.4}, [6]float64{5.846091228902, 15.9423744804, 44.70781473215, 47.62110559181, 60.44044899662, 99.89972990464},
			2156.63418236, 116562.973887},
		{"direct", Loess{Span: 0.4, Direct: true}, [6]float64{5.84197030887, 15.9423744804, 44.70781473215, 47.62110559181, 60.44044899662, 99.95560234263},
			2157.66034823, 116687.988478},
	} {
		got, err := c.l.Fit(speed, distance)
		if err != nil {
			t.Fatal(err)
		}
		var sum, squares float64
		for _, v := range got {
			sum, squares = sum+v, squares+v*v
		}
		for k, i := range []int{0, 4, 22, 30, 43, 49} {
			if math.Abs(got[i]-c.at[k]) > 1e-10 {
				t.Errorf("%s: car %d is at %v, scikit-misc has %v", c.name, i, got[i], c.at[k])
			}
		}
		if math.Abs(sum-c.sum) > 1e-8 || math.Abs(squares-c.squares) > 1e-6 {
			t.Errorf("%s: sum %v and squares %v, scikit-misc has %v and %v", c.name, sum, squares, c.sum, c.squares)
		}
	}
}

func TestLoessGivesAPolynomialBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, 300), make([]float64, 300)
	for i := range x {
		x[i] = rng.NormFloat64()
		y[i] = 1 - 2*x[i] + 3*x[i]*x[i]
	}
	for _, l := range []Loess{{Span: 0.2}, {Span: 0.2, Direct: true}} {
		got, err := l.Fit(x, y)
		if err != nil {
			t.Fatal(err)
		}
		for i := range y {
			if math.Abs(got[i]-y[i]) > 1e-9 {
				t.Fatalf("%+v: %v at %v, the parabola is at %v", l, got[i], x[i], y[i])
			}
		}
	}
}

func TestLoessDoesNotDependOnTheOrderOfRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	want, err := Loess{Span: 0.4}.Fit(speed, distance)
	if err != nil {
		t.Fatal(err)
	}
	order := rng.Perm(len(speed))
	x, y := make([]float64, len(order)), make([]float64, len(order))
	for k, i := range order {
		x[k], y[k] = speed[i], distance[i]
	}
	got, err := Loess{Span: 0.4}.Fit(x, y)
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range order {
		if math.Abs(got[k]-want[i]) > 1e-11 {
			t.Errorf("record %d: %v, and %v in another order", i, got[k], want[i])
		}
	}
}

func TestLoessRefusesWhatItCannotFit(t *testing.T) {
	nan := append([]float64{math.NaN()}, speed[1:]...)
	for want, f := range map[string]func() ([]float64, error){
		"x[0] is NaN":                        func() ([]float64, error) { return Loess{}.Fit(nan, distance) },
		"y has 49":                           func() ([]float64, error) { return Loess{}.Fit(speed, distance[1:]) },
		"x is empty":                         func() ([]float64, error) { return Loess{}.Fit(nil, nil) },
		"degree is 3":                        func() ([]float64, error) { return Loess{Degree: 3}.Fit(speed, distance) },
		"span is 1.5":                        func() ([]float64, error) { return Loess{Span: 1.5}.Fit(speed, distance) },
		"cell is -1":                         func() ([]float64, error) { return Loess{Cell: -1}.Fit(speed, distance) },
		"is 2 of them: too few for degree 2": func() ([]float64, error) { return Loess{Span: 0.05}.Fit(speed, distance) },
		"are all at 1": func() ([]float64, error) {
			return Loess{}.Fit([]float64{1, 1, 1, 1, 1, 1, 1, 1}, []float64{1, 2, 3, 4, 5, 6, 7, 8})
		},
		"too few different ones": func() ([]float64, error) {
			return Loess{Span: 1}.Fit([]float64{1, 1, 1, 1, 2, 2, 2, 2}, []float64{1, 2, 3, 4, 5, 6, 7, 8})
		},
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
