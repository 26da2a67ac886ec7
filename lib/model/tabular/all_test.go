// Tests of all.go.

package tabular_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
)

func ExampleAll() {
	for _, f := range tabular.All()[:4] {
		arch := f.New(14, 2)
		fmt.Println(arch.Name(), model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit)).Size(), "weights")
	}
	// Output:
	// tabular-mlp 18690 weights
	// residual-mlp 134786 weights
	// ft-transformer 400510 weights
	// one-hidden 2178 weights
}
