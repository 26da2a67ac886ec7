package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Distill returns the softmax loss of logits z [C, n] against target probabilities
// p [C, n] at a temperature T, per record
//
//	T^2 KL(p_i || softmax(z_i / T))
//
// With one-hot targets and T = 1 this is the cross-entropy. With a teacher's softened
// output its mean over the records is Hinton's distillation loss, that is PyTorch's
// "batchmean" times T^2. losses is [1, n]; adjoint is its derivative by the logits,
// T (softmax(z_i / T) - p_i).
func Distill(z, p *Node, temperature float64) (losses, adjoint *Node) {
	s := z
	if temperature != 1 {
		s = DivScalar(z, temperature)
	}
	shifted := Sub(s, StopGradient(ReduceAndKeep(s, ReduceMax, 0)))
	e := Exp(shifted)
	total := ReduceAndKeep(e, ReduceSum, 0)
	logq := Sub(shifted, Log(total))
	// x log x is 0 at 0; a one-hot target has no entropy. The bound is a normal
	// number: an engine that flushes the others to zero would give 0 log 0.
	logp := Log(MaxScalar(p, 1.2e-38))
	losses = ReduceAndKeep(Mul(p, Sub(logp, logq)), ReduceSum, 0)
	adjoint = Sub(Div(e, total), p)
	if temperature != 1 {
		losses, adjoint = MulScalar(losses, temperature*temperature), MulScalar(adjoint, temperature)
	}
	return losses, adjoint
}
