package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// BatchNormEps and BatchNormMomentum are PyTorch's; GoMLX's own defaults are
// 1e-3 and, in PyTorch's way of counting, 0.01.
const (
	BatchNormEps      = 1e-5
	BatchNormMomentum = 0.1
)

// BatchNorm2D normalises every channel of m. In training (t.Training) over all
// N pixels of all records of the batch,
//
//	y = gamma (x - mean) / sqrt(var + eps) + beta,  var = sum (x - mean)^2 / N
//
// and the batch's mean and unbiased variance sum (x - mean)^2 / (N - 1) are
// reported to the tape as the statistics of the parameters mean and variance,
// from which whoever trains moves the running ones (MoveRunning). In inference
// the running ones take the place of the batch's.
//
// The gradient is the true one, through mean and variance: with the normalised
// x^ and r = 1/sqrt(var + eps)
//
//	dx = gamma r (v - mean(v) - x^ mean(v x^)),  dgamma = sum v x^,  dbeta = sum v
//
// Statistics are of the whole batch, whatever parts it is divided into. A batch
// must therefore not be cut into separate executions in training.
func BatchNorm2D(t *Tape, m Image, gamma, beta, mean, variance *Node, eps float64) Image {
	t.couple(gamma, beta)
	norm := batchNorm{in: m, gamma: Reshape(gamma, m.C, 1), beta: Reshape(beta, m.C, 1), eps: eps}
	for _, x := range m.Parts {
		norm.pixels += m.pixels(x)
	}
	if !t.Training {
		norm.fixed(Reshape(mean, m.C, 1), Reshape(variance, m.C, 1))
		return norm.record(t, gamma, beta)
	}
	square := norm.measure()
	t.report(mean, Reshape(norm.mean, m.C))
	t.report(variance, Reshape(DivScalar(square, float64(max(1, norm.pixels-1))), m.C))
	return norm.record(t, gamma, beta)
}

type batchNorm struct {
	in          Image
	gamma, beta *Node // [C, 1]
	eps         float64
	pixels      int // of all records, per channel

	mean    *Node   // [C, 1]
	r       *Node   // 1 / sqrt(variance + eps), [C, 1]
	centred []*Node // x - mean, per part
	batch   bool    // whether mean and r depend on x
}

// measure takes mean and variance from the batch and returns sum (x - mean)^2.
func (b *batchNorm) measure() *Node {
	b.batch = true
	b.mean = DivScalar(b.sum(b.in.Parts), float64(b.pixels))
	b.centre()
	squares := make([]*Node, len(b.centred))
	for k, c := range b.centred {
		squares[k] = Square(c)
	}
	square := b.sum(squares)
	b.r = Inverse(Sqrt(AddScalar(DivScalar(square, float64(b.pixels)), b.eps)))
	return square
}

func (b *batchNorm) fixed(mean, variance *Node) {
	b.mean = mean
	b.r = Inverse(Sqrt(AddScalar(variance, b.eps)))
}

// centre makes x - mean. With fixed statistics only the gradient needs it.
func (b *batchNorm) centre() {
	for _, x := range b.in.Parts {
		b.centred = append(b.centred, Sub(x, b.in.stretch(b.mean, x)))
	}
}

// sum adds up all pixels of all parts, [C, 1].
func (b *batchNorm) sum(parts []*Node) *Node {
	sum := b.in.total(parts[0])
	for _, x := range parts[1:] {
		sum = Add(sum, b.in.total(x))
	}
	return sum
}

func (b *batchNorm) record(t *Tape, gamma, beta *Node) Image {
	gain, from, offset := Mul(b.gamma, b.r), b.in.Parts, b.beta
	if b.batch {
		from = b.centred
	} else {
		offset = Sub(offset, Mul(b.mean, gain))
	}
	out := b.in.each(func(k int, x *Node) *Node {
		return Add(Mul(from[k], b.in.stretch(gain, x)), b.in.stretch(offset, x))
	})
	inputs := append(append([]*Node{}, b.in.Parts...), gamma, beta)
	t.Ops(out.Parts, inputs, func(v []*Node) []*Node { return b.backward(v, gain) })
	return out
}

func (b *batchNorm) backward(v []*Node, gain *Node) []*Node {
	if !b.batch {
		b.centre()
	}
	products := make([]*Node, len(v))
	for k := range v {
		products[k] = Mul(v[k], b.centred[k])
	}
	dbeta := b.sum(v)
	slope := b.sum(products) // sum v (x - mean)
	offset := DivScalar(Mul(gain, dbeta), -float64(b.pixels))
	factor := DivScalar(Mul(Mul(gain, Square(b.r)), slope), -float64(b.pixels))
	var grads []*Node
	for k := range v {
		dx := Mul(v[k], b.in.stretch(gain, v[k]))
		if b.batch {
			dx = Add(Add(dx, Mul(b.centred[k], b.in.stretch(factor, v[k]))), b.in.stretch(offset, v[k]))
		}
		grads = append(grads, dx)
	}
	return append(grads, Reshape(Mul(slope, b.r), b.in.C), Reshape(dbeta, b.in.C))
}

// BatchNormInit is the start of a batch normalisation called name, as in
// PyTorch: gains 1, offsets 0, running mean 0, running variance 1. The last two
// are state.
func BatchNormInit(name string, channels int) Params {
	p := Params{
		NewParam(name+".weight", channels), NewParam(name+".bias", channels),
		NewParam(name+".running_mean", channels), NewParam(name+".running_var", channels),
	}
	for _, k := range []int{0, 3} {
		for i := range p[k].Data {
			p[k].Data[i] = 1
		}
	}
	p[2].State, p[3].State = true, true
	return p
}

// MoveRunning moves running statistics towards a batch's, in float32 as PyTorch:
// running = (1 - momentum) running + momentum batch.
func MoveRunning(running, batch []float32) {
	keep, take := float32(1-BatchNormMomentum), float32(BatchNormMomentum)
	for i, x := range batch {
		running[i] = float32(keep*running[i]) + float32(take*x)
	}
}
