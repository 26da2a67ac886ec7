package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// loops is a convolution as loops: it calls visit with the places of the x, w and y that
// belong together, in the order of y's pixels, then of the kernel's.
func (s ConvShape) loops(visit func(x, w, y int)) {
	for n := range s.Batch {
		for i := range s.OutHeight() {
			for j := range s.OutWidth() {
				for a := range s.KernelH {
					for b := range s.KernelW {
						h, v := i*s.StrideH+a-s.Top, j*s.StrideW+b-s.Left
						if h < 0 || h >= s.Height || v < 0 || v >= s.Width {
							continue
						}
						for c := range s.In {
							for o := range s.Out {
								visit(((n*s.Height+h)*s.Width+v)*s.In+c, ((a*s.KernelW+b)*s.In+c)*s.Out+o, ((n*s.OutHeight()+i)*s.OutWidth()+j)*s.Out+o)
							}
						}
					}
				}
			}
		}
	}
}

func normal(g *rand.Rand, n int) []float32 {
	f := newFenced[float32](n)
	for i := range f.data {
		f.data[i] = float32(g.NormFloat64())
	}
	return f.data
}

// scratchOf is enough for everything that c does.
func scratchOf(c *Conv) []float32 {
	forward, data, weights := c.Scratch()
	return make([]float32, max(forward, data, weights))
}

func checkConv(t *testing.T, g *rand.Rand, s ConvShape) {
	t.Helper()
	c, err := PlanConv(s)
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	x, w, v := normal(g, s.inputSize()), normal(g, s.weightSize()), normal(g, s.outputSize())
	var room [3]int
	room[0], room[1], room[2] = c.Scratch()
	for i, p := range []struct {
		name string
		size int
		term func(sum func(at int, a, b float32)) func(x, w, y int)
		run  func(l Level, p Pool, scratch, out []float32) error

		window  window
		outs    int
		byTiles func(want []float32)
	}{
		{"forward", s.outputSize(), func(sum func(int, float32, float32)) func(int, int, int) {
			return func(i, j, k int) { sum(k, x[i], w[j]) }
		}, func(l Level, p Pool, scratch, out []float32) error { return c.forwardAt(l, p, scratch, out, x, w) },
			c.forward, s.Out, func(want []float32) { convolveReference(want, c.forward, s.Batch, x, w, s.Out) }},
		{"gradient of images", s.inputSize(), func(sum func(int, float32, float32)) func(int, int, int) {
			return func(i, j, k int) { sum(i, v[k], w[j]) }
		}, func(l Level, p Pool, scratch, out []float32) error { return c.backwardDataAt(l, p, scratch, out, v, w) },
			c.phases[0].window, s.In, func(want []float32) {
				convolveReference(want, c.phases[0].window, s.Batch, v, backwards(w, s.In, s.Out), s.In)
			}},
		{"gradient of weights", s.weightSize(), func(sum func(int, float32, float32)) func(int, int, int) {
			return func(i, j, k int) { sum(j, x[i], v[k]) }
		}, func(l Level, p Pool, scratch, out []float32) error {
			return c.backwardWeightsAt(l, p, scratch, out, x, v)
		},
			c.forward, s.Out, func(want []float32) { weightsReference(want, c.forward, s.Batch, x, v, s.Out) }},
	} {
		want, precise := make([]float32, p.size), make([]float64, p.size)
		s.loops(p.term(func(at int, a, b float32) {
			want[at] = fma32(a, b, want[at])
			precise[at] += float64(a) * float64(b)
		}))
		if p.window.tiled(p.outs) {
			p.byTiles(want)
		}
		for i := range want {
			if math.Abs(float64(want[i])-precise[i]) > 1e-3*(1+math.Abs(precise[i])) {
				t.Fatalf("%s of %+v: number %d is %v, in float64 %v", p.name, s, i, want[i], precise[i])
			}
		}
		for _, l := range levels() {
			for _, workers := range []int{1, 2, 3, 8} {
				what := fmt.Sprintf("%v, %d workers, %s of %+v", l, workers, p.name, s)
				out := newFenced[float32](p.size)
				scratch := newFenced[float32](room[i])
				if err := p.run(l, Pool{workers}, scratch.data, out.data); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				scratch.intact(t, what)
				checkElements(t, what, out, want)
			}
		}
	}
}

func TestConvolutionsAreChainsAtEveryLevel(t *testing.T) {
	g := rand.New(rand.NewPCG(21, 22))
	for _, s := range []ConvShape{
		{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
		{2, 8, 8, 3, 5, 3, 3, 1, 1, 1, 1, 1, 1},
		{2, 9, 7, 4, 33, 3, 3, 2, 2, 1, 1, 1, 1},
		{1, 8, 8, 33, 16, 3, 3, 2, 2, 0, 1, 0, 1}, // as TensorFlow pads
		{3, 5, 6, 2, 3, 1, 1, 2, 2, 0, 0, 0, 0},   // pixels that nothing looks at
		{1, 12, 10, 2, 7, 5, 4, 3, 2, 4, 2, 3, 5}, // more padding than needed
		{1, 4, 30, 1, 40, 2, 3, 1, 3, 0, 0, 2, 0},
		{1, 6, 6, 40, 70, 3, 3, 1, 1, 1, 1, 1, 1}, // several blocks of terms
		{1, 3, 3, 3, 530, 2, 2, 1, 1, 0, 0, 0, 0}, // several blocks of channels
		{1, 20, 20, 2, 3, 3, 3, 1, 1, 1, 1, 1, 1}, // several blocks of pixels
		{2, 7, 7, 5, 4, 7, 7, 1, 1, 0, 0, 0, 0},   // a dense layer
		{1, 5, 5, 2, 2, 2, 2, 7, 7, 0, 0, 0, 0},   // strides beyond the image
	} {
		checkConv(t, g, s)
	}
}

func randomShape(g *rand.Rand) ConvShape {
	s := ConvShape{
		Batch: 1 + g.IntN(3), Height: 1 + g.IntN(10), Width: 1 + g.IntN(20), In: 1 + g.IntN(20), Out: 1 + g.IntN(40),
		KernelH: 1 + g.IntN(4), KernelW: 1 + g.IntN(4), StrideH: 1 + g.IntN(3), StrideW: 1 + g.IntN(3),
		Top: g.IntN(4), Bottom: g.IntN(4), Left: g.IntN(4), Right: g.IntN(4),
	}
	s.KernelH, s.KernelW = min(s.KernelH, s.Height+s.Top+s.Bottom), min(s.KernelW, s.Width+s.Left+s.Right)
	return s
}

func TestConvolutionsOfRandomShapes(t *testing.T) {
	g := rand.New(rand.NewPCG(23, 24))
	for range 25 {
		checkConv(t, g, randomShape(g))
	}
}

func FuzzConv(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := rand.New(rand.NewPCG(seed, 0))
		checkConv(t, g, randomShape(g))
	})
}

// Large enough for the work to be shared.
func TestLargeConvolutionsHaveTheSameBitsForAllWorkers(t *testing.T) {
	g := rand.New(rand.NewPCG(25, 26))
	for _, s := range []ConvShape{{4, 16, 16, 16, 20, 3, 3, 1, 1, 1, 1, 1, 1}, {3, 17, 17, 20, 36, 3, 3, 2, 2, 1, 1, 1, 1}} {
		checkConv(t, g, s)
	}
}

func TestConvolutionsRefuseNonsense(t *testing.T) {
	good := ConvShape{1, 4, 4, 1, 1, 3, 3, 1, 1, 0, 0, 0, 0}
	for want, change := range map[string]func(s *ConvShape){
		"batch is 0, not at least 1":                       func(s *ConvShape) { s.Batch = 0 },
		"stride across is -1, not at least 1":              func(s *ConvShape) { s.StrideW = -1 },
		"padding left is -2, not at least 0":               func(s *ConvShape) { s.Left = -2 },
		"a kernel of 5 x 3 is larger than images of 4 x 4": func(s *ConvShape) { s.KernelH = 5 },
		"x has 1": func(s *ConvShape) { s.Batch, s.In = 1<<20, 1<<20 },
	} {
		s := good
		change(&s)
		if _, err := PlanConv(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: not %q", err, want)
		}
	}
	c, err := PlanConv(good)
	if err != nil {
		t.Fatal(err)
	}
	x, w, y := make([]float32, 16), make([]float32, 9), make([]float32, 4)
	if err := c.Forward(Pool{}, scratchOf(c), y, x[1:], w); err == nil || !strings.Contains(err.Error(), "x or its gradient has 15 elements, not 16") {
		t.Errorf("%v", err)
	}
	if err := c.BackwardData(Pool{}, scratchOf(c), x, y, w[1:]); err == nil || !strings.Contains(err.Error(), "w or its gradient has 8") {
		t.Errorf("%v", err)
	}
	if err := c.BackwardWeights(Pool{}, scratchOf(c), w, x, y[1:]); err == nil || !strings.Contains(err.Error(), "y or its gradient has 3") {
		t.Errorf("%v", err)
	}
	if err := c.BackwardData(Pool{}, nil, x, y, w); err == nil || !strings.Contains(err.Error(), "0 elements of scratch memory, 9 needed") {
		t.Errorf("%v", err)
	}
}

func BenchmarkConv(b *testing.B) {
	g := rand.New(rand.NewPCG(1, 1))
	for _, s := range []ConvShape{
		{32, 32, 32, 3, 64, 3, 3, 1, 1, 1, 1, 1, 1}, {32, 32, 32, 64, 64, 3, 3, 1, 1, 1, 1, 1, 1}, {32, 32, 32, 64, 128, 3, 3, 2, 2, 1, 1, 1, 1},
		{32, 16, 16, 128, 128, 3, 3, 1, 1, 1, 1, 1, 1}, {32, 8, 8, 256, 256, 3, 3, 1, 1, 1, 1, 1, 1}, {32, 4, 4, 512, 512, 3, 3, 1, 1, 1, 1, 1, 1}, {32, 32, 32, 96, 96, 3, 3, 1, 1, 1, 1, 1, 1},
		{32, 32, 32, 64, 128, 1, 1, 2, 2, 0, 0, 0, 0}, {64, 28, 28, 1, 32, 5, 5, 1, 1, 2, 2, 2, 2},
	} {
		c, err := PlanConv(s)
		if err != nil {
			b.Fatal(err)
		}
		x, w, y, scratch := normal(g, s.inputSize()), normal(g, s.weightSize()), normal(g, s.outputSize()), scratchOf(c)
		for _, l := range levels()[1:] {
			for name, run := range map[string]func() error{
				"forward": func() error { return c.forwardAt(l, Pool{}, scratch, y, x, w) },
				"images":  func() error { return c.backwardDataAt(l, Pool{}, scratch, x, y, w) },
				"weights": func() error { return c.backwardWeightsAt(l, Pool{}, scratch, w, x, y) },
			} {
				b.Run(fmt.Sprintf("%dx%d,%d-%d,%d,s%d/%s/%v", s.Height, s.Width, s.In, s.Out, s.KernelH, s.StrideH, name, l), func(b *testing.B) {
					start := cpuTime()
					for b.Loop() {
						if err := run(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(2*float64(s.outputSize())*float64(s.KernelH*s.KernelW*s.In)*float64(b.N)/(cpuTime()-start).Seconds()/1e9, "GFLOP/cpu-s")
				})
			}
		}
	}
}
