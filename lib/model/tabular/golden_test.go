// Comparison with PyTorch.

package tabular

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
)

// golden is what another implementation computes for 4 records, with the
// weights and the records of checkGolden.
type golden struct {
	logits    []float64 // 4 x 2
	embedding []float64 // of record 0
	loss      float64   // mean cross-entropy for the labels 0, 1, 1, 0
	norms     []float64 // of the loss's gradient, per weight tensor
}

// checkGolden gives element k of weight tensor i the value 0.8 sin(0.7 k + 1.3 i
// + 0.5) and element k of the records cos(1.1 k + 0.2).
func checkGolden(t *testing.T, arch model.Architecture, want golden) {
	t.Helper()
	r := modeltest.OpenRunner(t, arch)
	p := weights(arch, 1)
	for i, v := range p {
		for k := range v.Data {
			v.Data[k] = float32(0.8 * math.Sin(0.7*float64(k)+1.3*float64(i)+0.5))
		}
	}
	x := array.New[float32](4, arch.Inputs())
	for k := range x.Data {
		x.Data[k] = float32(math.Cos(1.1*float64(k) + 0.2))
	}
	pred, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	close := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for k, v := range want.logits {
		close("a logit", float64(pred.Logits().Data[k]), v)
	}
	for k, v := range want.embedding {
		close("an entry of the embedding", float64(pred.Embedding.Data[k]), v)
	}
	loss, grads := newStep(t, r, x, []int{0, 1, 1, 0}).gradient(p, nil)
	close("the loss", loss, want.loss)
	if len(grads) != len(want.norms) {
		t.Fatalf("%d weight tensors, want %d", len(grads), len(want.norms))
	}
	for i, v := range want.norms {
		close("the gradient's norm of "+p[i].Name, norm(grads[i:i+1]), v)
	}
}
