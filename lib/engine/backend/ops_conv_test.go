package backend

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// convCase is a convolution with everything drawn.
type convCase struct {
	x, k                   []int
	axes                   compute.ConvolveAxesConfig
	strides, holes, spread []int
	paddings               [][2]int
}

func drawConv(rng *rand.Rand) convCase {
	two := func(most int) []int { return []int{1 + rng.IntN(most), 1 + rng.IntN(most)} }
	c := convCase{strides: []int{1, 1}, holes: []int{1, 1}, spread: []int{1, 1}}
	image, window := two(9), two(4)
	switch rng.IntN(4) {
	case 0:
		c.strides = two(3)
	case 1:
		c.holes = two(3)
	case 2:
		c.spread, window = two(3), two(7)
	case 3:
		c.strides, c.holes, c.spread = two(2), two(2), two(2)
	}
	batch, in, out := 1+rng.IntN(4), 1+rng.IntN(5), 1+rng.IntN(20)
	p, q, r := rng.Perm(4), rng.Perm(4), rng.Perm(4)
	c.x, c.k = make([]int, 4), make([]int, 4)
	c.x[p[0]], c.x[p[1]], c.x[p[2]], c.x[p[3]] = batch, in, image[0], image[1]
	c.k[q[0]], c.k[q[1]], c.k[q[2]], c.k[q[3]] = in, out, window[0], window[1]
	c.axes = compute.ConvolveAxesConfig{
		InputBatch: p[0], InputChannels: p[1], InputSpatial: p[2:], KernelInputChannels: q[0], KernelOutputChannels: q[1], KernelSpatial: q[2:],
		OutputBatch: r[0], OutputChannels: r[1], OutputSpatial: r[2:],
	}
	for i := range 2 {
		covers, size := (window[i]-1)*c.spread[i]+1, (image[i]-1)*c.holes[i]+1
		b := [2]int{rng.IntN(4), rng.IntN(4)}
		b[1] += max(0, covers-size-b[0]-b[1])
		c.paddings = append(c.paddings, b)
	}
	return c
}

// runAs runs the convolution on numbers of a type, those of x and k.
func (c convCase) runAs(t *testing.T, workers int, as dtypes.DType, x, k []float32) []float32 {
	t.Helper()
	return runGraph(t, Open(workers), func(f compute.Function, in []compute.Value) (compute.Value, error) {
		ch := chain{f: f.(*function)}
		a := ch.try(f.ConvertDType(ch.try(f.Reshape(in[0], c.x...)), as))
		b := ch.try(f.ConvertDType(ch.try(f.Reshape(in[1], c.k...)), as))
		y := ch.try(f.ConvGeneral(a, b, c.axes, c.strides, c.paddings, c.holes, c.spread, 1, 1))
		y = ch.try(f.ConvertDType(y, dtypes.Float32))
		return y, ch.err
	}, x, k)
}

// Convolutions of float32 images, of which most are one of the kernels' three, come to
// the products of windows in float64, with the same bits for any number of workers.
func TestConvolutionsAreProductsOfWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	found := map[convKind]int{}
	for range 400 {
		c := drawConv(rng)
		x, k := make([]float32, product(c.x)), make([]float32, product(c.k))
		for _, v := range [][]float32{x, k} {
			for i := range v {
				v[i] = float32(rng.NormFloat64())
			}
		}
		want, got, again := c.runAs(t, 1, dtypes.Float64, x, k), c.runAs(t, 1, dtypes.Float32, x, k), c.runAs(t, 3, dtypes.Float32, x, k)
		for i, v := range want {
			if d := math.Abs(float64(got[i] - v)); d > 1e-4*(1+math.Abs(float64(v))) {
				t.Fatalf("%+v: element %d is %v, should be %v", c, i, got[i], v)
			}
			if math.Float32bits(got[i]) != math.Float32bits(again[i]) {
				t.Fatalf("%+v: element %d is %v with three workers, not %v", c, i, again[i], got[i])
			}
		}
		w := newBuilder(Open(1), "kind")
		a, _ := w.main.Parameter("x", shapes.Make(dtypes.Float32, c.x...), nil)
		b, _ := w.main.Parameter("k", shapes.Make(dtypes.Float32, c.k...), nil)
		if _, err := w.main.ConvGeneral(a, b, c.axes, c.strides, c.paddings, c.holes, c.spread, 1, 1); err != nil {
			t.Fatal(err)
		}
		kind := convKind(-1)
		for _, n := range w.main.nodes {
			if n.op == opConv {
				kind = n.attr.(convCall).kind
			}
		}
		found[kind]++
	}
	for _, kind := range []convKind{-1, convForward, convByImage, convByWeight} {
		if found[kind] < 20 {
			t.Errorf("of 400 convolutions %d are of kind %d", found[kind], kind)
		}
	}
}
