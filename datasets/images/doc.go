// Package images reads the image sets that the experiments run on, checks them
// against their publishers' SHA-256, and augments and normalises their rows.
//
//	set, err := images.Load(ctx, "cifar10")
//	few, err := images.LoadRows(ctx, "cifar10", train, test) // the rows that the caller drew
//
// It is a package of its own because images are published in parts and have a
// shape, where a datasets.Table is one matrix with named columns. What comes out
// is the same: parts of type datasets.Part, and datasets.Prepared. Files, hashes
// and downloads are those of the package datasets, and `lethe data` lists both.
//
// # Pixels
//
// A row is an image: channel by channel (red, green, blue), in a channel line by
// line from the top, in a line from the left. Pixels are the published bytes
// divided by Images.White, so that they lie in 0..1; nothing else is done to
// them. A float32 takes four times the room of a byte: CIFAR-10 needs 0.7 GB,
// SVHN 1.2 GB and Tiny-ImageNet 5.4 GB. LoadRows needs only what it is asked for.
//
// # What stands in for what
//
// Sets whose pixels are not the published ones have a Caveat, which has to stand
// wherever a result rests on them.
package images
