package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// BatchNormEps and BatchNormMomentum are PyTorch's defaults; those of GoMLX are 1e-3 and,
// in PyTorch's convention, 0.01.
const (
	BatchNormEps      = 1e-5
	BatchNormMomentum = 0.1
)

// BatchNorm2D normalises every channel of m. In training (t.Training) mean and variance
// are over all N pixels of all records of the batch,
//
//	y = gamma (x - mean) / sqrt(var + eps) + beta,  var = sum (x - mean)^2 / N
//
// The batch's mean and unbiased variance, sum (x - mean)^2 / (N - 1), become the tape's
// statistics of the parameters mean and variance, by which the training updates the running
// ones (UpdateRunning). Inference uses the running mean and variance.
//
// The gradient goes through mean and variance: with the normalised x^ and
// r = 1/sqrt(var + eps)
//
//	dx = gamma r (v - mean(v) - x^ mean(v x^)),  dgamma = sum v x^,  dbeta = sum v
//
// A batch must not be cut into separate executions in training.
func BatchNorm2D(t *Tape, m Image, gamma, beta, mean, variance *Node, eps float64) Image {
	t.markBatchStats(gamma, beta)
	norm := batchNorm{in: m, gamma: Reshape(gamma, m.C, 1), beta: Reshape(beta, m.C, 1), eps: eps, pixels: float64(m.pixels())}
	if !t.Training {
		norm.fixed(Reshape(mean, m.C, 1), Reshape(variance, m.C, 1))
		return norm.record(t, gamma, beta)
	}
	square := norm.measure()
	t.setStatistic(mean, Reshape(norm.mean, m.C))
	t.setStatistic(variance, Reshape(DivScalar(square, max(1, norm.pixels-1)), m.C))
	return norm.record(t, gamma, beta)
}

type batchNorm struct {
	in          Image
	gamma, beta *Node // [C, 1]
	eps         float64
	pixels      float64 // of all records, per channel

	mean    *Node // [C, 1]
	r       *Node // 1 / sqrt(variance + eps), [C, 1]
	centred *Node // x - mean
	batch   bool  // whether mean and r depend on x
}

// measure computes mean and variance of the batch and returns sum (x - mean)^2.
func (b *batchNorm) measure() *Node {
	b.batch = true
	b.mean = DivScalar(b.in.sumChannel(b.in.X), b.pixels)
	b.centre()
	square := b.in.sumChannel(Square(b.centred))
	b.r = Inverse(Sqrt(AddScalar(DivScalar(square, b.pixels), b.eps)))
	return square
}

func (b *batchNorm) fixed(mean, variance *Node) {
	b.mean = mean
	b.r = Inverse(Sqrt(AddScalar(variance, b.eps)))
}

// centre computes x - mean. With fixed statistics only the gradient needs it.
func (b *batchNorm) centre() { b.centred = Sub(b.in.X, b.in.broadcastChannel(b.mean)) }

func (b *batchNorm) record(t *Tape, gamma, beta *Node) Image {
	gain, from, offset := Mul(b.gamma, b.r), b.in.X, b.beta
	if b.batch {
		from = b.centred
	} else {
		offset = Sub(offset, Mul(b.mean, gain))
	}
	y := Add(Mul(from, b.in.broadcastChannel(gain)), b.in.broadcastChannel(offset))
	return b.in.withNode(t.Op(y, []*Node{b.in.X, gamma, beta}, func(v *Node) []*Node { return b.backward(v, gain) }))
}

func (b *batchNorm) backward(v, gain *Node) []*Node {
	if !b.batch {
		b.centre()
	}
	dbeta, slope := b.in.sumChannel(v), b.in.sumChannel(Mul(v, b.centred)) // slope is sum v (x - mean)
	dx := Mul(v, b.in.broadcastChannel(gain))
	if b.batch {
		offset := DivScalar(Mul(gain, dbeta), -b.pixels)
		factor := DivScalar(Mul(Mul(gain, Square(b.r)), slope), -b.pixels)
		dx = Add(Add(dx, Mul(b.centred, b.in.broadcastChannel(factor))), b.in.broadcastChannel(offset))
	}
	return []*Node{dx, Reshape(Mul(slope, b.r), b.in.C), Reshape(dbeta, b.in.C)}
}

// BatchNormInit returns the initial parameters of a batch normalisation called name, as in
// PyTorch: gains 1, offsets 0, running mean 0, running variance 1. The last two are state.
func BatchNormInit(name string, channels int) Params {
	p := Params{
		NewParam(name+".weight", channels), NewParam(name+".bias", channels),
		NewParam(name+".running_mean", channels), NewParam(name+runningVariance, channels),
	}
	FillOnes(nil, p[0].Data)
	FillOnes(nil, p[3].Data)
	p[2].State, p[3].State = true, true
	return p
}

const runningVariance = ".running_var"

// batchCounter returns the tensor in which PyTorch's module counts the batches of the
// running statistics. With the default momentum it is not used.
func batchCounter(module string) StateTensor {
	return StateTensor{Name: module + ".num_batches_tracked", Shape: []int{}, Counter: true}
}

// UpdateRunning moves running statistics towards a batch's, in float32 as in PyTorch:
// running = (1 - momentum) running + momentum batch.
func UpdateRunning(running, batch []float32) {
	keep, take := float32(1-BatchNormMomentum), float32(BatchNormMomentum)
	for i, x := range batch {
		running[i] = float32(keep*running[i]) + float32(take*x)
	}
}

// UpdatedRunning is UpdateRunning on a graph.
func UpdatedRunning(running, batch *Node) *Node {
	return Add(MulScalar(running, 1-BatchNormMomentum), MulScalar(batch, BatchNormMomentum))
}
