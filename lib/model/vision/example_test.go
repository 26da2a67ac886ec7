// Examples of the package.

package vision_test

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
)

// The activations of a stage for two images, one row per image.
func ExampleSmallCNN() {
	e, err := engine.Open("auto")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	arch := vision.SmallCNN{}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := array.New[float32](2, arch.Inputs())
	for i := range x.Data {
		x.Data[i] = float32(math.Sin(float64(i)))
	}
	out, err := r.PredictNamed(model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit)), x, "h2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Layers["h2"].Rows, out.Layers["h2"].Cols, out.Embedding.Cols, out.Logits().Cols)
	// Output: 2 3136 128 10
}

func ExampleAll() {
	for _, f := range vision.All()[:3] {
		a := f.New(3, 32, 10)
		fmt.Println(a.Name(), model.InitialWeights(a, engine.Root(1).Stream(engine.StreamInit)).Size(), "weights")
	}
	// Output:
	// small-cnn 356810 weights
	// all-cnn 1370986 weights
	// resnet-18 11173962 weights
}
