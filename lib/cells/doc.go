// Package cells prepares counts of single cells: quality control, normalisation, variable genes,
// principal components, neighbours and clusters. It also has the splits, the matched non-members
// and the simulated counts of "Fishing for Privacy".
//
// A count matrix has a row per cell and a column per gene. It stays sparse (array.Sparse) until
// a few thousand genes are chosen. Every step is a function of arrays in its own file;
// Options.Prepare does all of them in the paper's order. The package knows no data set and no
// model, changes no input, and takes randomness as an argument, so that the same input gives the
// same bytes on any number of cores.
package cells
