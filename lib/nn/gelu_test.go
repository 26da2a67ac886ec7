// Tests of gelu.go.

package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Known values: torch 2.15.0, nn.functional.gelu in float64.
func TestGELUHasTheKnownValues(t *testing.T) {
	x := []float32{-6, -3, -1, -0.5, 0, 0.25, 1, 2, 6}
	want := []float64{
		-5.9195253e-09, -0.0040496941, -0.15865525, -0.15426877, 0, 0.14967657, 0.84134475, 1.9544997, 6,
	}
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := GELU(tape, in[0])
		return []*Node{y, tape.Backward(Adjoints{y: OnesLike(y)}, in)[0]}
	}, tensors.FromFlatDataAndDimensions(x, 1, len(x)))
	checkClose(t, "GELU", out[0], want, 3e-7)
	gelu := func(x float64) float64 { return x * (1 + math.Erf(x/math.Sqrt2)) / 2 }
	var slopes []float64
	for _, v := range x {
		const h = 1e-5
		slopes = append(slopes, (gelu(float64(v)+h)-gelu(float64(v)-h))/(2*h))
	}
	checkClose(t, "derivative", out[1], slopes, 1e-6)
}

// Known values: torch 2.15.0, nn.functional.gelu with approximate="tanh" in float64.
func TestGELUTanhHasTheKnownValues(t *testing.T) {
	x := []float32{-6, -3, -1, -0.5, 0, 0.25, 1, 2, 6}
	want := []float64{-8.439649e-11, -0.0036373921, -0.15880801, -0.15428599, 0, 0.14967535, 0.84119199, 1.9545977, 6}
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := GELUTanh(tape, in[0])
		return []*Node{y, tape.Backward(Adjoints{y: OnesLike(y)}, in)[0]}
	}, tensors.FromFlatDataAndDimensions(x, 1, len(x)))
	checkClose(t, "GELU by tanh", out[0], want, 3e-7)
	gelu := func(x float64) float64 { return x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) / 2 }
	var slopes []float64
	for _, v := range x {
		const h = 1e-5
		slopes = append(slopes, (gelu(float64(v)+h)-gelu(float64(v)-h))/(2*h))
	}
	checkClose(t, "derivative", out[1], slopes, 1e-6)
}
