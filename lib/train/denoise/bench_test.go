package denoise

import (
	"fmt"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
)

// One step of 64 images.
func BenchmarkStep(b *testing.B) {
	for _, side := range []int{16, 28} {
		b.Run(fmt.Sprintf("side %d", side), func(b *testing.B) {
			e, err := enginetest.Open()
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			r, err := model.NewRunner(e, diffusion.UNet{Side: side})
			if err != nil {
				b.Fatal(err)
			}
			p := r.Arch.Init(engine.Root(1).Stream(engine.StreamInit))
			l, err := newLoss(r)
			if err != nil {
				b.Fatal(err)
			}
			images := array.New[float32](64, side*side)
			rows := engine.Root(1).Stream("test").Perm(64)
			batch := Config{}.WithDefaults().noisy(images, rows, 0)
			for b.Loop() {
				if _, err := l.at(p, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
