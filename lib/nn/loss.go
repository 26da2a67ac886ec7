package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Distill is the one loss of the library. For logits z [C, n], target
// probabilities p [C, n], a temperature T and per-record weights w [1, n] it is
//
//	sum_i w_i T^2 KL(p_i || softmax(z_i / T))
//
// With one-hot targets and T = 1 this is the cross-entropy; with a teacher's
// softened output it is Hinton's distillation loss with PyTorch's "batchmean"
// and the factor T^2, when w_i = 1/n. It returns the n weighted losses [1, n]
// and the adjoint of the logits, w_i T (softmax(z_i / T) - p_i).
func Distill(z, p, temperature, w *Node) (losses, adjoint *Node) {
	s := Div(z, temperature)
	shifted := Sub(s, StopGradient(ReduceAndKeep(s, ReduceMax, 0)))
	e := Exp(shifted)
	total := ReduceAndKeep(e, ReduceSum, 0)
	logq := Sub(shifted, Log(total))
	// x log x is 0 at 0; a one-hot target has no entropy. The bound is a normal
	// number: an engine that flushes the others to zero would give 0 log 0.
	logp := Log(MaxScalar(p, 1.2e-38))
	kl := ReduceAndKeep(Mul(p, Sub(logp, logq)), ReduceSum, 0)
	losses = Mul(Mul(kl, w), Square(temperature))
	adjoint = Mul(Mul(Sub(Div(e, total), p), temperature), w)
	return losses, adjoint
}
