// Package stacked runs a graph that was written for one model for m models side by side, in
// one execution, as jax.vmap does. Networks, losses and optimisers need no change.
//
// # How it works
//
// [Compile] builds the graph of one model on a backend that records it. Every value is then
// either shared, the same for all models, or stacked, one per model in a tensor with a
// leading axis of m. Inputs say which they are, and a result is stacked if an operand is.
// The graph is emitted on the real backend: an operation on shared values as it is, one on
// stacked values in a form with the leading axis. A product of stacked matrices becomes a
// batched product, a convolution with stacked kernels one with m times as many groups, a
// lookup with stacked indices one with an index more.
//
// The state of a While is stacked where its initial value or its next one is. A Call is
// replaced by the function's operations. All results of the program come out stacked.
//
// # What is refused
//
// On shared values every operation of the backend works. The following have no stacked form,
// and Compile returns an error that wraps [compute.ErrNotImplemented] if they meet stacked
// values: FFT, RNGBitGenerator, Pad with a stacked fill value, DynamicUpdateSlice at stacked
// indices, While with a stacked condition, If with a stacked predicate, Sort whose
// comparator uses stacked values of its surroundings. Dynamic shapes, fused and collective
// operations are refused always; GoMLX replaces the fused ones by others.
//
// # Rounding
//
// Every model gets the results that it gets alone, up to rounding: a backend may sum a
// batched product or a grouped convolution in another order than a single one.
package stacked
