package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// square is a tile of 4 x 4 numbers.
type square [4][4]float32

// mapSquare transforms the columns of m, then the rows of what comes out.
func mapSquare(m square, rows, cols int, f func(a, b, c, d float32) [4]float32) (out square) {
	for j := range cols {
		for i, v := range f(m[0][j], m[1][j], m[2][j], m[3][j]) {
			out[i][j] = v
		}
	}
	for i := range out {
		out[i] = f(out[i][0], out[i][1], out[i][2], out[i][3])
	}
	return out
}

// The three matrices of F(2x2, 3x3), with each sum in the documented order.
func inputTransform(a, b, c, d float32) [4]float32 { return [4]float32{a - c, b + c, c - b, d - b} }

func adjointTransform(a, b, _, _ float32) [4]float32 { return [4]float32{a, a + b, a - b, b} }

func weightTransform(a, b, c, _ float32) [4]float32 {
	return [4]float32{a, (a + c + b) / 2, (a + c - b) / 2, c}
}

func outputTransform(a, b, c, d float32) [4]float32 { return [4]float32{a + b + c, b - c + d} }

func gradientTransform(a, b, c, d float32) [4]float32 {
	h := (b + c) / 2
	return [4]float32{a + h, (b - c) / 2, h + d}
}

// pixels are those of channel c under a tile of side x side pixels.
func pixels(data []float32, n, top, left, height, width, depth, c, side int) (m square) {
	for i := range side {
		for j := range side {
			if h, v := top+i, left+j; h >= 0 && h < height && v >= 0 && v < width {
				m[i][j] = data[((n*height+h)*width+v)*depth+c]
			}
		}
	}
	return m
}

// visit calls f with the input of every tile and channel, and where the tile's outputs are.
func (w window) visit(batch int, x []float32, f func(n, i, j, c int, in square)) {
	for n := range batch {
		for i := 0; i < w.down; i += 2 {
			for j := 0; j < w.across; j += 2 {
				for c := range w.depth {
					f(n, i, j, c, mapSquare(pixels(x, n, i-w.top, j-w.left, w.height, w.width, w.depth, c, 4), 4, 4, inputTransform))
				}
			}
		}
	}
}

func kernelAt(w []float32, depth, outs, c, o int) (m square) {
	for a := range 3 {
		for b := range 3 {
			m[a][b] = w[((a*3+b)*depth+c)*outs+o]
		}
	}
	return mapSquare(m, 3, 3, weightTransform)
}

func (m *square) chain(a, b square) {
	for i := range m {
		for j := range m[i] {
			m[i][j] = fma32(a[i][j], b[i][j], m[i][j])
		}
	}
}

// convolveReference is a convolution by tiles as loops over tiles, channels and outputs.
func convolveReference(y []float32, w window, batch int, x, weights []float32, outs int) {
	sums := make([]square, outs)
	w.visit(batch, x, func(n, i, j, c int, in square) {
		for o := range outs {
			if c == 0 {
				sums[o] = square{}
			}
			sums[o].chain(in, kernelAt(weights, w.depth, outs, c, o))
			if c+1 < w.depth {
				continue
			}
			out := mapSquare(sums[o], 4, 4, outputTransform)
			for a := range min(2, w.down-i) {
				for b := range min(2, w.across-j) {
					y[((n*w.down+i+a)*w.across+j+b)*outs+o] = out[a][b]
				}
			}
		}
	})
}

// weightsReference is the gradient of weights by tiles.
func weightsReference(dw []float32, w window, batch int, x, v []float32, outs int) {
	sums := make([]square, w.depth*outs)
	w.visit(batch, x, func(n, i, j, c int, in square) {
		for o := range outs {
			sums[c*outs+o].chain(in, mapSquare(pixels(v, n, i, j, w.down, w.across, outs, o, 2), 2, 2, adjointTransform))
		}
	})
	for k, s := range sums {
		g := mapSquare(s, 4, 4, gradientTransform)
		for tap := range 9 {
			dw[tap*len(sums)+k] = g[tap/3][tap%3]
		}
	}
}

// backwards are the weights that lead from the outputs to the inputs.
func backwards(w []float32, in, out int) []float32 {
	b := make([]float32, len(w))
	for tap := range 9 {
		for c := range in {
			for o := range out {
				b[((8-tap)*out+o)*in+c] = w[(tap*in+c)*out+o]
			}
		}
	}
	return b
}

func TestConvolutionsByTiles(t *testing.T) {
	g := rand.New(rand.NewPCG(27, 28))
	for _, s := range []ConvShape{
		{1, 4, 4, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1},
		{3, 7, 9, 17, 35, 3, 3, 1, 1, 1, 1, 1, 1},   // odd images and channels
		{2, 8, 6, 33, 16, 3, 3, 1, 1, 0, 1, 2, 0},   // other borders
		{2, 5, 12, 20, 48, 3, 3, 1, 1, 2, 2, 2, 2},  // all of the border
		{1, 6, 4, 300, 40, 3, 3, 1, 1, 1, 1, 1, 1},  // several blocks of terms
		{1, 4, 4, 16, 530, 3, 3, 1, 1, 1, 1, 1, 1},  // several blocks of channels
		{1, 32, 24, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1}, // several blocks of tiles
	} {
		c, err := PlanConv(s)
		if err != nil {
			t.Fatal(err)
		}
		if !c.forward.tiled(s.Out) || !c.phases[0].tiled(s.In) {
			t.Errorf("%+v does not go by tiles", s)
		}
		checkConv(t, g, s)
	}
}

func TestTilesAreForShapesThatGain(t *testing.T) {
	for name, s := range map[string]ConvShape{
		"few channels in":      {1, 8, 8, 15, 16, 3, 3, 1, 1, 1, 1, 1, 1},
		"few channels out":     {1, 8, 8, 16, 15, 3, 3, 1, 1, 1, 1, 1, 1},
		"a stride":             {1, 8, 8, 16, 16, 3, 3, 2, 1, 1, 1, 1, 1},
		"another kernel":       {1, 8, 8, 16, 16, 3, 5, 1, 1, 1, 1, 2, 2},
		"most of a tile lost":  {1, 1, 8, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1},
		"a tile over the edge": {1, 3, 3, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1},
	} {
		if c, err := PlanConv(s); err != nil || c.forward.tiled(s.Out) {
			t.Errorf("%s: goes by tiles, %v", name, err)
		}
	}
	s := ConvShape{1, 8, 8, 16, 16, 3, 3, 1, 1, 3, 3, 3, 3}
	if c, err := PlanConv(s); err != nil || !c.forward.tiled(s.Out) || c.phases[0].tiled(s.In) {
		t.Errorf("the gradient of images with a border of 3 leaves pixels out: %v", err)
	}
	checkConv(t, rand.New(rand.NewPCG(1, 2)), s)
}

// What is not finite reaches every output that it reaches directly, and no other tile.
func TestWhatIsNotFinitePassesThroughTiles(t *testing.T) {
	g := rand.New(rand.NewPCG(31, 32))
	s := ConvShape{2, 8, 8, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1}
	c, err := PlanConv(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())} {
		for range 8 {
			x, w, y := normal(g, s.inputSize()), normal(g, s.weightSize()), normal(g, s.outputSize())
			for i := range w {
				w[i] *= float32(g.IntN(2)) // infinity times 0 is NaN
			}
			x[g.IntN(len(x))] = bad
			direct := make([]float64, s.outputSize())
			s.loops(func(i, j, k int) { direct[k] += float64(x[i]) * float64(w[j]) })
			if err := c.Forward(Pool{}, scratchOf(c), y, x, w); err != nil {
				t.Fatal(err)
			}
			corrupted := map[int]bool{}
			tile := func(k int) int { return k/(2*8*16)*4 + k/16%8/2 } // two rows of 8 pixels of 16 channels
			for k, v := range direct {
				if v-v != 0 {
					corrupted[tile(k)] = true
				}
			}
			for k, v := range direct {
				if have := float64(y[k]); v-v != 0 && have-have == 0 || have-have != 0 && !corrupted[tile(k)] {
					t.Fatalf("%v in x: output %d is %v, directly %v", bad, k, have, v)
				}
			}
		}
	}
}

// Tiles round differently from direct sums, not more: the root of the mean square of the
// errors is below twice that of the chains.
func TestTilesAreAsPreciseAsChains(t *testing.T) {
	g := rand.New(rand.NewPCG(29, 30))
	s := ConvShape{2, 16, 16, 64, 64, 3, 3, 1, 1, 1, 1, 1, 1}
	c, err := PlanConv(s)
	if err != nil {
		t.Fatal(err)
	}
	x, w, v := normal(g, s.inputSize()), normal(g, s.weightSize()), normal(g, s.outputSize())
	var y, dx, dw struct {
		have, chain []float32
		precise     []float64
	}
	add := func(at int, a, b float32, chain []float32, precise []float64) {
		chain[at] = fma32(a, b, chain[at])
		precise[at] += float64(a) * float64(b)
	}
	y.have, y.chain, y.precise = make([]float32, s.outputSize()), make([]float32, s.outputSize()), make([]float64, s.outputSize())
	dx.have, dx.chain, dx.precise = make([]float32, s.inputSize()), make([]float32, s.inputSize()), make([]float64, s.inputSize())
	dw.have, dw.chain, dw.precise = make([]float32, s.weightSize()), make([]float32, s.weightSize()), make([]float64, s.weightSize())
	s.loops(func(i, j, k int) {
		add(k, x[i], w[j], y.chain, y.precise)
		add(i, v[k], w[j], dx.chain, dx.precise)
		add(j, x[i], v[k], dw.chain, dw.precise)
	})
	if err := c.Forward(Pool{2}, scratchOf(c), y.have, x, w); err != nil {
		t.Fatal(err)
	}
	if err := c.BackwardData(Pool{2}, scratchOf(c), dx.have, v, w); err != nil {
		t.Fatal(err)
	}
	if err := c.BackwardWeights(Pool{2}, scratchOf(c), dw.have, x, v); err != nil {
		t.Fatal(err)
	}
	deviation := func(a []float32, b []float64) float64 {
		sum, size := 0.0, 0.0
		for i := range a {
			d := float64(a[i]) - b[i]
			sum += d * d
			size += b[i] * b[i]
		}
		return math.Sqrt(sum / size)
	}
	for i, r := range []struct {
		have, chain []float32
		precise     []float64
	}{y, dx, dw} {
		tiles, chains := deviation(r.have, r.precise), deviation(r.chain, r.precise)
		t.Logf("%d: relative error %.3g by tiles, %.3g by chains", i, tiles, chains)
		if tiles > 2*chains || tiles == 0 {
			t.Errorf("%d: relative error %g by tiles, %g by chains", i, tiles, chains)
		}
	}
}
