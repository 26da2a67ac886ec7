// Package datasets reads the tables of the experiments, checks them against their publishers'
// SHA-256, and splits and scales them as the published experiments do.
//
//	table, err := datasets.Load(ctx, "breast_cancer")
//	split, err := datasets.StratifiedSplit(table.Y, 0.2, 999)
//	data, err := datasets.Prepare(table, split)
//	forget, retain, err := datasets.ForgetSet(data.Train.X.Rows, 0.05, 999)
//
// # Files
//
// Data files are in the folder Dir, one folder per set, plain or as .gz. The SHA-256 in Info are
// of the decompressed bytes, so both forms verify. Exceptions are the two large tables, covertype
// and higgs, and archives of images: they must be the publisher's own compressed files
// (File.Compressed). Load never downloads; package fetch does. Package images reads image sets,
// package cells reads single cells. Breast Cancer is embedded in the program. The generated sets
// (two_moons, moons_island, blobs_duplicates, tabular_outliers, linear_flips) need no file.
//
// # How the published experiments read the tables
//
// RULER read its tables with scikit-learn's fetch_openml. The rules below reproduce what that does
// to them. They were derived from the published weights: a model that was retrained without some
// rows has a higher loss on exactly these rows, and only this reading of the files gives the same
// rows.
//
//  1. Categories and classes are coded in the sorted order of their names, not in the order that
//     an ARFF file declares.
//  2. A missing category is -1. A missing number is the median of its column over all rows, before
//     the split.
//  3. Adult has the rows of adult.test first. 4. Heart Disease is a copy in which one patient is
//
// missing and one is doubled. 5. Diabetes 130-US has the target readmitted within 30 days, coded
// 0, against all others,
//
//	coded 1.
//
// heart_disease_uci and diabetes130_any are the unmodified variants of 4 and 5.
package datasets
