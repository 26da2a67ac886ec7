// Examples of the package.

package diffusion_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
)

// With no noise the denoiser trusts the image, with much of it the network.
func ExamplePrecondition_ScalesAt() {
	for _, sigma := range []float64{0.01, 0.5, 80} {
		s := diffusion.Precondition{}.ScalesAt(sigma)
		fmt.Printf("sigma %-4v  c_skip %.4f  c_out %.4f\n", sigma, s.Skip, s.Out)
	}
	// Output:
	// sigma 0.01  c_skip 0.9996  c_out 0.0100
	// sigma 0.5   c_skip 0.5000  c_out 0.3536
	// sigma 80    c_skip 0.0000  c_out 0.5000
}

// The denoiser of a set with one image knows it whatever the noise, and the
// sampler finds it.
func ExampleSampler_Sample() {
	image := []float32{-1, 0.5, 1}
	denoise := func(x array.Matrix[float32], _ float64) (array.Matrix[float32], error) {
		out := array.New[float32](x.Rows, x.Cols)
		for i := range x.Rows {
			copy(out.Row(i), image)
		}
		return out, nil
	}
	drawn, err := diffusion.Sampler{}.Sample(context.Background(), 1, 3, engine.Root(1).Stream("example"), denoise)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", drawn.Row(0))
	// Output:
	// [-1.000 0.500 1.000]
}
