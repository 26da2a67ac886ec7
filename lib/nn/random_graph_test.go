package nn_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/nn"
)

// drawn returns a random input drawn in a graph of GoMLX's Go engine, or of the engine that
// the tests ask for.
func drawn(t *testing.T, d nn.RandomInput, key uint64, n int) []float32 {
	t.Helper()
	e, err := enginetest.OpenDevice()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	exec, err := graph.NewExec(e.Backend(), func(key *graph.Node) *graph.Node { return d.Graph(key, n) })
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Call(key)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := tensors.CopyFlatData[float32](out[0])
	if err != nil {
		t.Fatal(err)
	}
	return flat
}

func TestAMaskDrawnInAGraphHasTheBitsOfTheHosts(t *testing.T) {
	rng := engine.Root(3).Stream("masks")
	for _, n := range []int{1, 2, 3, 4, 5, 64, 255} {
		for _, rate := range []float64{0, 0.1, 0.5, 0.999} {
			d, key := nn.RandomInput{Units: 7, Rate: rate}, rng.Uint64()
			want := make([]float32, d.Units*n)
			d.Fill(want, key, 0, n)
			for i, v := range drawn(t, d, key, n) {
				if math.Float32bits(v) != math.Float32bits(want[i]) {
					t.Fatalf("rate %v, %d records: element %d is %v, on the host %v", rate, n, i, v, want[i])
				}
			}
		}
	}
}

func TestNormalNumbersDrawnInAGraphAreTheHosts(t *testing.T) {
	for _, n := range []int{1, 2, 7, 1000} {
		d, key := nn.RandomInput{Distribution: nn.Normal, Units: 3}, uint64(n)*77
		want := make([]float32, d.Units*n)
		d.Fill(want, key, 0, n)
		for i, v := range drawn(t, d, key, n) {
			if off := math.Abs(float64(v - want[i])); !(off <= 1e-6*math.Max(1, math.Abs(float64(want[i])))) {
				t.Fatalf("%d records: element %d is %v, on the host %v", n, i, v, want[i])
			}
		}
	}
}
