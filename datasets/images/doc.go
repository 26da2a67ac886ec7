// Package images reads the image sets of the experiments, checks them against their publishers'
// SHA-256, and augments and normalises their rows.
//
//	set, err := images.Load(ctx, "cifar10")
//	few, err := images.LoadRows(ctx, "cifar10", train, test) // the rows that the caller drew
//
// Images are published in parts and have a shape, while a datasets.Table is one matrix with named
// columns; hence the separate package. The results have the same types: datasets.Part and
// datasets.Prepared. Files, hashes and downloads are handled by package datasets, and `lethe data`
// lists both.
//
// # Pixels
//
// A row is an image, channel by channel (red, green, blue), each channel line by line from the
// top, each line from the left. Pixels are the published bytes divided by Images.White, in 0..1. A
// float32 takes four bytes: CIFAR-10 needs 0.7 GB, SVHN 1.2 GB and Tiny-ImageNet 5.4 GB. LoadRows
// needs memory for the requested rows only.
//
// # Copies
//
// Sets whose pixels are not the published ones have a Caveat, which must be stated with every
// result.
package images
