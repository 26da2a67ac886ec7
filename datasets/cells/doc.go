// Package cells reads counts of single cells: the data sets of the experiments, checked against
// their publishers' hashes, and the user's own folders and files in the published formats.
//
//	set, err := cells.Load(ctx, "pbmc3k")
//	mine, err := cells.Open(ctx, "run1/filtered_feature_bc_matrix")
//
// Counts are sparse: PBMC-33k has 1.09 billion elements, of which one in sixty is not zero. The
// benchmark LoadPBMC33kSize loads counts of its size and fails at 1 GiB of memory. Package
// lib/cells normalises and clusters counts. Files, hashes and downloads are handled by package
// datasets, and `lethe data` lists all sets.
package cells
