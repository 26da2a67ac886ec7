package engine

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// products runs eight independent products and their sum: the shape of graph
// that hangs with a limited number of workers.
func products(t *testing.T, e *Engine, rounds int) []float32 {
	t.Helper()
	const n = 200
	exec, err := NewExec(e.Backend(), func(a *Node) *Node {
		var sum *Node
		for k := range 8 {
			p := Dot(MulScalar(a, float64(k+1)), a).Product()
			if sum == nil {
				sum = p
			} else {
				sum = Add(sum, p)
			}
		}
		return sum
	})
	if err != nil {
		t.Fatal(err)
	}
	rng := Root(5).Stream("wide")
	data := make([]float32, n*n)
	for i := range data {
		data[i] = rng.Float32()
	}
	var out []*tensors.Tensor
	for range rounds {
		if out, err = exec.Call(tensors.FromFlatDataAndDimensions(data, n, n)); err != nil {
			t.Fatal(err)
		}
	}
	return tensors.MustCopyFlatData[float32](out[0])
}

func TestTheWideEngineGivesTheSameBitsWithoutADeadlock(t *testing.T) {
	e, err := Open("go")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	w, err := e.Wide()
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(products(t, w, 40)) != fmt.Sprint(products(t, e, 1)) {
		t.Error("all cores give another result than one")
	}
}

func TestTheWideEngineIsSharedAndIsWideItself(t *testing.T) {
	e, err := Open("go")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := e.Wide()
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.WithChunkRows(3).Wide()
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.Wide()
	if err != nil {
		t.Fatal(err)
	}
	if a.Backend() != b.Backend() || again.Backend() != a.Backend() || a.Backend() == e.Backend() {
		t.Error("not one backend for all, beside the engine's own")
	}
	if a.Info() != e.Info() || b.ChunkRows() != 3 {
		t.Errorf("%v and chunks of %d", a.Info(), b.ChunkRows())
	}
}
