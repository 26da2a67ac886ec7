package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// The library differentiates the plain formula; the tape brings its own steps.
func TestDenseGradientIsTheLibrarys(t *testing.T) {
	rng := generator(1)
	in := []*tensors.Tensor{normal(rng, 5, 33), normal(rng, 7, 5), normal(rng, 7), normal(rng, 7, 33)}
	out := execute(t, func(in []*Node) []*Node {
		x, w, b, v := in[0], in[1], in[2], in[3]
		tape := &Tape{}
		y := Dense(tape, x, w, b)
		plain := Add(Dot(w, x).Product(), BroadcastToShape(Reshape(b, 7, 1), y.Shape()))
		grads := tape.Backward(Adjoints{y: v}, []*Node{x, w, b})
		want := Gradient(ReduceAllSum(Mul(plain, v)), x, w, b)
		return append(append([]*Node{y, plain}, grads...), want...)
	}, in...)
	checkClose(t, "output", out[0], out[1], 1e-6)
	for i, name := range []string{"x", "w", "b"} {
		checkClose(t, "gradient of "+name, out[2+i], out[5+i], 2e-6)
	}
}

func TestReLUDropoutGradientIsTheLibrarys(t *testing.T) {
	rng := generator(2)
	const rate = 0.3
	in := []*tensors.Tensor{normal(rng, 9, 33), filledSlice(RandomInput{Units: 9, Rate: rate}, 5, 33), normal(rng, 9, 33)}
	out := execute(t, func(in []*Node) []*Node {
		x, mask, v := in[0], in[1], in[2]
		var nodes []*Node
		for _, m := range []*Node{mask, nil} {
			tape := &Tape{}
			y := ReLUDropout(tape, x, m, rate)
			plain := Where(GreaterThan(x, ZerosLike(x)), x, ZerosLike(x))
			if m != nil {
				plain = Mul(plain, m)
			}
			nodes = append(nodes, y, plain, tape.Backward(Adjoints{y: v}, []*Node{x})[0], Gradient(ReduceAllSum(Mul(plain, v)), x)[0])
		}
		return nodes
	}, in...)
	for i, name := range []string{"training", "inference"} {
		checkClose(t, name, out[4*i], out[4*i+1], 0)
		checkClose(t, name+": gradient", out[4*i+2], out[4*i+3], 1e-6)
	}
}

// PyTorch's relu'(0) is 0; GoMLX's own gradient of max(x, 0) is 1 there, which
// the log line shows, so that a repair upstream is noticed.
func TestTheDerivativeOfReLUAtZeroIsZero(t *testing.T) {
	x := []float32{0, float32(math.Copysign(0, -1)), 1e-30, -1e-30, 5, -5, 1.2e-38, 3e38}
	in := tensors.FromFlatDataAndDimensions(x, 1, len(x))
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := ReLUDropout(tape, in[0], nil, 0)
		return []*Node{tape.Backward(Adjoints{y: OnesLike(y)}, in)[0], Gradient(ReduceAllSum(MaxScalar(in[0], 0)), in[0])[0]}
	}, in)
	checkClose(t, "derivative", out[0], []float64{0, 0, 1, 0, 1, 0, 1, 1}, 0)
	t.Logf("the library's own derivative at 0 is %v", out[1][0])
}

// A dropped unit passes no gradient, a kept one 1/(1-rate).
func TestADroppedUnitPassesNoGradient(t *testing.T) {
	in := []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions([]float32{2, 2, -2, -2}, 1, 4),
		tensors.FromFlatDataAndDimensions([]float32{0, 1.25, 0, 1.25}, 1, 4),
	}
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := ReLUDropout(tape, in[0], in[1], 0.2)
		return []*Node{y, tape.Backward(Adjoints{y: OnesLike(y)}, in[:1])[0]}
	}, in...)
	checkClose(t, "output", out[0], []float64{0, 2.5, 0, 0}, 0)
	checkClose(t, "derivative", out[1], []float64{0, 1.25, 0, 0}, 0)
}

// network is a three-layer MLP with dropout on the tape, and written plainly.
func network(tape *Tape, p []*Node, x *Node, masks []*Node) (onTape, plain *Node) {
	h := x
	onTape = x
	for l := range 2 {
		onTape = ReLUDropout(tape, Dense(tape, onTape, p[2*l], p[2*l+1]), masks[l], 0.2)
		a := Add(Dot(p[2*l], h).Product(), Reshape(p[2*l+1], p[2*l+1].Shape().Size(), 1))
		h = Mul(Where(GreaterThan(a, ZerosLike(a)), a, ZerosLike(a)), masks[l])
	}
	onTape = Dense(tape, onTape, p[4], p[5])
	return onTape, Add(Dot(p[4], h).Product(), Reshape(p[5], p[5].Shape().Size(), 1))
}

func networkInputs(n int) []*tensors.Tensor {
	rng := generator(3)
	return []*tensors.Tensor{
		normal(rng, 8, 5), normal(rng, 8), normal(rng, 6, 8), normal(rng, 6), normal(rng, 3, 6), normal(rng, 3),
		normal(rng, 5, n), filledSlice(RandomInput{Units: 8, Rate: 0.2}, 1, n), filledSlice(RandomInput{Units: 6, Rate: 0.2}, 2, n),
		distributions(rng, 3, n), normal(rng, 1, n),
	}
}

func TestTheGradientOfAWholeNetworkIsTheLibrarys(t *testing.T) {
	out := execute(t, func(in []*Node) []*Node {
		p, x, masks, probs, w := in[:6], in[6], in[7:9], in[9], in[10]
		tape := &Tape{}
		z, plain := network(tape, p, x, masks)
		losses, adjoint := Distill(z, probs, 2)
		losses, adjoint = Mul(losses, w), Mul(adjoint, w)
		kl := ReduceAndKeep(Mul(probs, Sub(Log(probs), LogSoftmax(DivScalar(plain, 2), 0))), ReduceSum, 0)
		want := MulScalar(Mul(kl, w), 4)
		nodes := []*Node{losses, want}
		nodes = append(nodes, tape.Backward(Adjoints{z: adjoint}, p)...)
		return append(nodes, Gradient(ReduceAllSum(want), p...)...)
	}, networkInputs(40)...)
	checkClose(t, "losses", out[0], out[1], 1e-5)
	for i := range 6 {
		checkClose(t, "gradient", out[2+i], out[8+i], 5e-6)
	}
}

// Block lets the library differentiate; as a step of the tape it must agree with
// a hand-written layer.
func TestABlockIsDifferentiatedByTheLibrary(t *testing.T) {
	rng := generator(4)
	in := []*tensors.Tensor{normal(rng, 5, 12), normal(rng, 4, 5), normal(rng, 4), normal(rng, 4, 12)}
	out := execute(t, func(in []*Node) []*Node {
		x, w, b, v := in[0], in[1], in[2], in[3]
		var nodes []*Node
		for _, block := range []bool{false, true} {
			tape := &Tape{}
			h := x
			if block {
				h = tape.Block([]*Node{x, w, b}, func(in []*Node) *Node {
					return Add(Dot(in[1], in[0]).Product(), Reshape(in[2], 4, 1))
				})
			} else {
				h = Dense(tape, h, w, b)
			}
			y := ReLUDropout(tape, h, nil, 0)
			nodes = append(nodes, tape.Backward(Adjoints{y: v}, []*Node{x, w, b})...)
		}
		return nodes
	}, in...)
	for i := range 3 {
		checkClose(t, "gradient", out[3+i], out[i], 2e-6)
	}
}

// A block of x and of y = 3x is f(x, y) = x y = 3 x^2, whose slope is 6 x: the way from y
// to x counts once.
func TestABlockOfAValueAndWhatIsMadeOfIt(t *testing.T) {
	out := execute(t, func(in []*Node) []*Node {
		x := in[0]
		tape := &Tape{}
		y := tape.Block([]*Node{x}, func(in []*Node) *Node { return MulScalar(in[0], 3) })
		z := tape.Block([]*Node{x, y}, func(in []*Node) *Node { return Mul(in[0], in[1]) })
		return []*Node{tape.Backward(Adjoints{z: OnesLike(z)}, []*Node{x})[0], MulScalar(x, 6)}
	}, normal(generator(5), 4, 3))
	checkClose(t, "slope", out[0], out[1], 1e-6)
}

func TestAdjointsOfAValueUsedTwiceAreAddedAndOfOneUnusedAreZero(t *testing.T) {
	out := execute(t, func(in []*Node) []*Node {
		x, unused := in[0], in[1]
		tape := &Tape{}
		double := tape.Op(MulScalar(x, 2), []*Node{x}, func(v *Node) []*Node { return []*Node{MulScalar(v, 2)} })
		triple := tape.Op(MulScalar(x, 3), []*Node{x}, func(v *Node) []*Node { return []*Node{MulScalar(v, 3)} })
		y := tape.Op(Add(double, triple), []*Node{double, triple}, func(v *Node) []*Node { return []*Node{v, v} })
		tape.Op(MulScalar(unused, 7), []*Node{unused}, func(v *Node) []*Node { return []*Node{v} })
		return tape.Backward(Adjoints{y: OnesLike(y)}, []*Node{x, unused})
	}, normal(generator(5), 3), normal(generator(6), 4))
	checkClose(t, "used twice", out[0], []float64{5, 5, 5}, 0)
	checkClose(t, "unused", out[1], []float64{0, 0, 0, 0}, 0)
}
