// Package kernels is the arithmetic under the networks and the judgements: matrix products
// of float32 and float64, elementwise functions, sums and optimiser steps on plain slices, in
// assembly for AVX2 and AVX-512, products and convolutions also for NEON (written by
// internal/gen, no cgo, no experiment of the compiler), and in Go for every other processor.
//
// # The same bits everywhere
//
// A result does not depend on the processor, on the number of goroutines, or on how the
// memory is laid out:
//
//   - a matrix product's element is one chain of fused multiply-adds in the order of the
//     terms (see Multiply), and so is a convolution's (see Conv), between a few exactly
//     rounded sums where it goes by tiles; where a processor lacks the instruction, fma32
//     emulates it exactly; terms that are 0 may be left out where that changes no bit;
//   - additions, products, quotients and roots are rounded exactly by every processor, and
//     the other functions are fixed lists of such operations in float64, rounded once to
//     float32 at the end;
//   - sums are float64, in an order that depends on the indices alone;
//   - work is shared by outputs, never by the terms of a sum.
//
// NaNs are the exception: which of several NaNs comes out is the processor's choice.
package kernels
