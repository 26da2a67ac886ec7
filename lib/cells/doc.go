// Package cells prepares counts of single cells: quality, normalisation, variable
// genes, principal components, neighbours, clusters, and the splits, negatives and
// simulated counts of "Fishing for Privacy".
//
// A matrix of counts has a row per cell and a column per gene and stays sparse
// (array.Sparse) until a few thousand genes are chosen. Every step is a function
// of arrays in a file of its own; Options.Prepare does them all in the paper's
// order. Nothing here knows a data set or a model, nothing given is written to,
// and randomness is passed in, so that the same input gives the same bytes on
// any number of cores.
package cells
