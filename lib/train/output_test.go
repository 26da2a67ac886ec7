package train

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

var outputs = array.Matrix[float32]{Rows: 4, Cols: 3, Data: []float32{1, 2, 3, 0, 0, 0, 1000, -1000, 999, -5, 5, 5}}

// By hand: the softmax of (1, 2, 3) is (1, e, e^2) / (1 + e + e^2).
func TestSoftmaxAndLossesAreThoseWrittenOut(t *testing.T) {
	e := math.E
	total := 1 + e + e*e
	p := Softmax(outputs, 1)
	for c, want := range []float64{1 / total, e / total, e * e / total, 1. / 3, 1. / 3, 1. / 3, 1 / (1 + 1/e), 0, 1 / (1 + e)} {
		if got := float64(p.Data[c]); math.Abs(got-want) > 1e-7 {
			t.Errorf("softmax %d is %v, want %v", c, got, want)
		}
	}
	for i, want := range []float64{math.Log(total), math.Log(3), 2000 + math.Log(1+1/e), math.Log(2 + math.Exp(-10))} {
		if got := Losses(outputs, []int{0, 2, 1, 1})[i]; math.Abs(got-want) > 1e-12*math.Max(1, want) {
			t.Errorf("loss %d is %v, want %v", i, got, want)
		}
	}
}

func TestSoftmaxIsFlatterWhenItIsWarmer(t *testing.T) {
	half := array.New[float32](4, 3)
	for i, v := range outputs.Data {
		half.Data[i] = v / 2
	}
	want := Softmax(half, 1)
	for i, v := range Softmax(outputs, 2).Data {
		if v != want.Data[i] {
			t.Errorf("element %d: at temperature 2 %v, of halved logits %v", i, v, want.Data[i])
		}
	}
}

func TestAccuracyTakesTheFirstOfEqualLogits(t *testing.T) {
	for _, c := range []struct {
		y    []int
		want float64
	}{{[]int{2, 0, 0, 1}, 1}, {[]int{2, 1, 0, 2}, 0.5}, {[]int{0, 1, 1, 0}, 0}} {
		if got := Accuracy(outputs, c.y); got != c.want {
			t.Errorf("labels %v: accuracy %v, want %v", c.y, got, c.want)
		}
	}
}
