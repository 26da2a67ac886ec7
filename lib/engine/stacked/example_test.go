package stacked_test

import (
	"fmt"
	"log"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/stacked"
)

// A step of gradient descent on (w x - y)^2, for three models that share the records.
func ExampleCompile() {
	e, err := engine.Open("lethe")
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	step := func(in []*Node) []*Node {
		w, x, y := in[0], in[1], in[2]
		loss := ReduceAllMean(Square(Sub(Mul(w, x), y)))
		return []*Node{Sub(w, MulScalar(Gradient(loss, w)[0], 0.25)), loss}
	}
	number, records := shapes.Make(dtypes.Float32), shapes.Make(dtypes.Float32, 2)
	p, err := stacked.Compile(e.Backend(), 3, []stacked.Input{
		{Name: "w", Shape: number, Donated: true},
		{Name: "x", Shape: records, Shared: true},
		{Name: "y", Shape: records, Shared: true},
	}, step)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	w := tensors.FromValue([]float32{0, 1, 4})
	out, err := p.Run(w, tensors.FromValue([]float32{1, 1}), tensors.FromValue([]float32{2, 2}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("losses", out[1].Value())
	fmt.Println("weights", out[0].Value())
	// Output:
	// losses [4 1 4]
	// weights [1 1.5 3]
}
