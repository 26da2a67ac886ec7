// Package backend is a GoMLX backend ([compute.Backend]) with Lethe's own arithmetic. It
// records a computation, plans it once, and runs it on the kernels of package kernels.
//
// # Plan
//
// View operations (Reshape, Transpose, Slice, BroadcastInDim) become strides and cost
// nothing. Elementwise operations are fused into programs that run over tiles of 1024
// elements, so that intermediate values stay in the first-level cache. A reduction is fused
// with the program that computes its operand, unless that program reads several values of
// other programs. A large reduction is fused even if others use the program's results; these
// are then stored. Everything else is a step of its own. Values between steps lie in one
// arena, with offsets by liveness.
//
// # Bits
//
// A result depends on the graph and its inputs only: not on the processor, its vectors, the
// number of workers or the partition of work. Matrix products are chains of fused
// multiply-adds in the order of the index. Convolutions of 3 x 3 without strides use
// Winograd's F(2x2, 3x3), where one number that is not finite may affect the other outputs
// of its tile. Sums of floats are float64, in pieces that depend on the shape. Functions
// that package kernels lacks (Pow, Rem, Atan2, and for float64 all but roots, exponentials
// and logarithms) are those of package math; their last bits may differ between
// architectures, as may the conversion of a float that does not fit an integer. Tested on
// amd64, and on arm64 in an emulator.
//
// # Tests
//
// The backend passes GoMLX's conformance suite and agrees with GoMLX's Go backend, also on
// random computations.
package backend
