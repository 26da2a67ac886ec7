// Augmentation of prepared images.

package lab

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
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

// check returns an error if images of so many values do not have the augmenter's shape.
func (a Augmenter) check(values int) error {
	if len(a.Black) != a.Shape[0] {
		return fmt.Errorf("lab: %d black pixels for %d channels", len(a.Black), a.Shape[0])
	}
	if values != a.Shape[0]*a.Shape[1]*a.Shape[2] {
		return fmt.Errorf("lab: an image of %d values, its shape is %v", values, a.Shape)
	}
	return nil
}

// Augment writes the image with number id, as it looks in the epoch, to dst.
func (a Augmenter) Augment(dst, src []float32, epoch, id int) error {
	if err := a.check(len(src)); err != nil {
		return err
	}
	plane := a.Shape[1] * a.Shape[2]
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

var _ train.GraphAugmenter = Augmenter{}

// Moves implements train.GraphAugmenter: line and column where the window begins, and 1 for a
// flip.
func (a Augmenter) Moves(epoch, id int) ([]int32, error) {
	m, err := a.Draw(a.Seed.Stream(engine.StreamAugment, uint64(epoch), uint64(id)))
	flip := int32(0)
	if m.Flip {
		flip = 1
	}
	return []int32{int32(m.Down), int32(m.Right), flip}, err
}

// GraphKey implements train.GraphAugmenter.
func (a Augmenter) GraphKey() string { return fmt.Sprint("crop and flip of ", a.Shape, a.Black) }

// GraphAugment implements train.GraphAugmenter: every pixel of the window is fetched by its number
// in the image. It panics if the records are no images of this shape.
func (a Augmenter) GraphAugment(x, moves *graph.Node) *graph.Node {
	if err := a.check(x.Shape().Dimensions[1]); err != nil {
		panic(err) // an error of whoever compiles the graph
	}
	records, c, h, w := x.Shape().Dimensions[0], a.Shape[0], a.Shape[1], a.Shape[2]
	dims, g := []int{records, c, h, w}, x.Graph()
	index := func(axis int) *graph.Node { return graph.Iota(g, shapes.Make(dtypes.Int32, dims...), axis) }
	move := func(k int) *graph.Node {
		m := graph.Slice(moves, graph.AxisRange(), graph.AxisElem(k))
		return graph.BroadcastToDims(graph.Reshape(m, records, 1, 1, 1), dims...)
	}
	column := index(3)
	flipped := graph.Sub(graph.BroadcastToDims(graph.Const(g, int32(w-1)), dims...), column)
	column = graph.Where(graph.Equal(move(2), graph.OnesLike(column)), flipped, column)
	line := graph.Add(index(2), move(0))
	column = graph.Add(column, move(1))
	inside := graph.LogicalAnd(within(line, h), within(column, w))
	pixel := graph.Add(graph.MulScalar(graph.Add(graph.MulScalar(index(1), h), line), w), column)
	pixel = graph.Where(inside, pixel, graph.ZerosLike(pixel))
	at := graph.Reshape(graph.Stack([]*graph.Node{index(0), pixel}, 4), records, c*h*w, 2)
	black := graph.BroadcastToDims(graph.Reshape(graph.Const(g, a.blackPixels()), 1, c, 1, 1), dims...)
	black = graph.Reshape(black, records, c*h*w)
	bright := graph.Gather(graph.Sub(x, black), at) // 0 is black
	bright = graph.Where(graph.Reshape(inside, records, c*h*w), bright, graph.ZerosLike(bright))
	return graph.Add(bright, black)
}

func (a Augmenter) blackPixels() []float32 {
	out := make([]float32, len(a.Black))
	for ch, v := range a.Black {
		out[ch] = float32(v)
	}
	return out
}

// within reports whether numbers are from 0 to n-1.
func within(x *graph.Node, n int) *graph.Node {
	low := graph.GreaterOrEqual(x, graph.ZerosLike(x))
	return graph.LogicalAnd(low, graph.LessThan(x, graph.AddScalar(graph.ZerosLike(x), n)))
}
