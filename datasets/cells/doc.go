// Package cells reads counts of single cells: the data sets that the experiments
// run on, checked against their publishers' hashes, and anybody's own folders and
// files in the published formats.
//
//	set, err := cells.Load(ctx, "pbmc3k")
//	mine, err := cells.Open(ctx, "run1/filtered_feature_bc_matrix")
//
// Counts stay sparse: PBMC-33k has 1.09 billion elements, of which one in sixty is
// not zero. Counts made up in its size (17.6 million entries) load in 0.6 to 0.7
// GiB, the process's greatest memory, and 2.2 seconds of processor time; the
// benchmark LoadPBMC33kSize measures it anew and fails at 1 GiB. What is made of them, normalised values among it, is package
// lib/cells' matter. Files, hashes and downloads are those of package datasets,
// and `lethe data` lists all of them.
package cells
