// Augmentation of prepared images.

package lab

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Augmenter augments the normalised images of a prepared set; it implements
// train.Augmenter. The crop and the flip of an image depend only on the seed, the epoch and
// the image's number. A crop's border is black, as if it were normalised afterwards. The
// fields, as JSON, are part of store keys.
type Augmenter struct {
	images.Augmentation
	Shape [3]int
	Black []float64 // a black pixel of each channel
	Seed  engine.Root
}

// NewAugmenter returns an augmenter for the images of a prepared set.
func NewAugmenter(p *datasets.Prepared, a images.Augmentation, seed engine.Root) Augmenter {
	black := make([]float64, len(p.Norm.Mean))
	for ch := range black {
		black[ch] = -p.Norm.Mean[ch] / p.Norm.SD[ch]
	}
	return Augmenter{Augmentation: a.WithDefaults(), Shape: p.About.Shape, Black: black, Seed: seed}
}

// Augment writes the image with number id, as it looks in the epoch, to dst.
func (a Augmenter) Augment(dst, src []float32, epoch, id int) error {
	if len(a.Black) != a.Shape[0] {
		return fmt.Errorf("lab: %d black pixels for %d channels", len(a.Black), a.Shape[0])
	}
	plane := a.Shape[1] * a.Shape[2]
	if len(src) != len(a.Black)*plane {
		return fmt.Errorf("lab: an image of %d values, its shape is %v", len(src), a.Shape)
	}
	bright := make([]float32, len(src)) // 0 is black
	for k, v := range src {
		bright[k] = v - float32(a.Black[k/plane])
	}
	rng := a.Seed.Stream(engine.StreamAugment, uint64(epoch), uint64(id))
	if err := a.Row(dst, bright, a.Shape, rng); err != nil {
		return err
	}
	for k := range dst {
		dst[k] += float32(a.Black[k/plane])
	}
	return nil
}
