// Package backend is GoMLX's graph on Lethe's own arithmetic: a
// [compute.Backend] that records a computation, plans it once, and runs it on the
// kernels of package kernels.
//
// # Plan
//
// Operations that only look at their operand in another way (Reshape, Transpose,
// Slice, BroadcastInDim) become strides and cost nothing. Elementwise operations
// are gathered into programs that run over tiles of a thousand elements, so that
// what is between two of them never leaves the first-level cache, and a reduction
// takes the program before it along, unless that program has most of its values from
// others. A large reduction computes that program even where others need what it makes,
// and stores that on the way. Everything else is a step of its own. What is stored
// between steps has its place in one arena, by liveness.
//
// # Bits
//
// A result depends on the graph and its inputs alone: not on the processor, its
// vectors, the number of workers or how work is cut. Matrix products are chains of
// fused multiply-adds in the order of the index, convolutions of 3 x 3 without strides of
// the products of tiles (Winograd's F(2x2, 3x3)), where one number that is not finite
// may spoil the outputs of its tile; sums of floats are formed in
// float64, in pieces that follow from the shape. Functions that package kernels has not
// (Pow, Rem, Atan2, and of float64 all but roots, exponentials and logarithms) are those
// of package math, whose last bits may differ between architectures, and so may what
// becomes of a float that does not fit an integer. Of architectures amd64 was tried, and
// arm64 under an emulator.
//
// # Tests
//
// The backend passes GoMLX's own suite for backends and comes to what GoMLX's Go backend
// comes to, on random computations too.
package backend
