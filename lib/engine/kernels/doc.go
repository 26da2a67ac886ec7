// Package kernels has the numerical kernels: matrix products of float32 and float64,
// convolutions, elementwise functions, sums and optimiser steps on slices. They are in
// assembly for AVX2 and AVX-512, products and convolutions also for NEON (written by
// internal/gen, without cgo), and in Go for other processors.
//
// # The same bits everywhere
//
// A result does not depend on the processor, the number of goroutines or the memory layout:
//
//   - an element of a matrix product is one chain of fused multiply-adds in the order of the
//     terms (see Multiply), and so is an element of a convolution (see Conv), with a few
//     exactly rounded sums before and after it if it uses tiles. fma32 emulates the
//     instruction exactly on processors without it. Terms that are 0 may be skipped if that
//     changes no bit;
//   - additions, products, quotients and roots are rounded exactly by every processor. The
//     other functions are fixed sequences of such operations in float64, rounded once to
//     float32 at the end;
//   - sums are float64, in an order that depends on the indices only;
//   - work is divided by outputs, never by the terms of a sum.
//
// NaNs are the exception: which of several NaNs results depends on the processor.
package kernels
