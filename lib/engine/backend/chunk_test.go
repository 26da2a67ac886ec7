package backend_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
)

// A reduction reads the whole tile, although elements of eight bytes are computed in two chunks
// of it: the second chunk must not overwrite the first.
func TestChunksKeepWhatIsReduced(t *testing.T) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, n := range []int{511, 512, 513, 800, 1024, 1025, 5000} {
		for _, through := range []dtypes.DType{dtypes.Float32, dtypes.Float64, dtypes.Int64} {
			for steps := range 6 {
				sum := MustNewExec(e.Backend(), func(x *Node) *Node {
					y := ConvertDType(x, through)
					for range steps {
						y = AddScalar(Neg(y), 1)
					}
					return ReduceAllSum(ConvertDType(y, dtypes.Float32))
				}).MustCall(tensors.FromFlatDataAndDimensions(ones(n), n))
				want := float32(n * (1 - steps%2))
				if got := tensors.ToScalar[float32](sum[0]); got != want {
					t.Errorf("%d numbers of %s after %d steps add up to %v, want %v", n, through, steps, got, want)
				}
			}
		}
	}
}

func ones(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
