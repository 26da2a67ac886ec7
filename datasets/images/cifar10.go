// CIFAR-10: descriptions, and the loader of CIFAR's binary format.

package images

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
)

const cifarCitation = "A. Krizhevsky (2009), Learning Multiple Layers of Features from Tiny Images, technical report, University of Toronto"

// cifar10 returns the description and the loader of CIFAR-10 from the publisher's archive of
// binary batches, the five training batches in their order.
//
// Size and SHA-256 are those that TensorFlow Datasets records for the file
// (tensorflow_datasets/url_checksums/cifar10.txt).
func cifar10() set {
	return set{
		info: datasets.Info{
			Name: "cifar10", Title: "CIFAR-10", Folder: "cifar10", Task: "what a small photograph shows",
			Rows: 60000, TestRows: 10000, Features: 3072, Shape: [3]int{3, 32, 32}, Classes: cifar10Classes(),
			Licence: "research use, with citation", Citation: cifarCitation,
			Homepage:    "https://www.cs.toronto.edu/~kriz/cifar.html",
			Description: "Photographs of ten kinds of things, 32 x 32 in colour.",
			Files: []datasets.File{{Name: "cifar-10-binary.tar.gz", Size: 170052171, Compressed: true,
				SHA256:  "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
				Sources: []datasets.Source{{URL: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"}}}},
		},
		open: func(r *loader) (*content, error) {
			return r.cifarArchive("cifar-10-binary.tar.gz", "cifar-10-batches-bin/", cifarBatch{labels: 1},
				[]string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
				[]string{"test_batch.bin"})
		},
	}
}

// cifar10First4000 returns the first 4,000 records of CIFAR-10's data_batch_1, byte for byte, as
// training images; there is no test part. The file is not published; it is made from CIFAR-10's archive,
// which is in the same folder.
func cifar10First4000() set {
	const (
		name     = "cifar10_lossless_first4000.bin"
		makeFile = "tar -xzOf cifar-10-binary.tar.gz cifar-10-batches-bin/data_batch_1.bin | head -c 12292000 > " + name
	)
	s := cifar10()
	s.info.Name, s.info.Title = "cifar10_first4000", "CIFAR-10, the first 4,000 training images"
	s.info.Rows, s.info.TestRows = 4000, 0
	s.info.Description = "The first 4,000 records of CIFAR-10's first training batch, byte for byte: for runs without the whole set."
	s.info.Reading = []string{
		"Published bytes, but 4,000 of 60,000 images and no test part.",
		"Nobody publishes the file. Make it after `lethe data get cifar10`, in the folder cifar10 of the data folder: " + makeFile,
	}
	s.info.Files = []datasets.File{{Name: name, Size: 12292000, Make: makeFile,
		SHA256: "0993cf8b8e43bc207603aef9787006995746513f5e3fa5a52e06d1b069926330"}}
	s.caveat = "Only the first 4,000 of CIFAR-10's 50,000 training images, and none of its test images."
	s.open = func(r *loader) (*content, error) {
		path, b, err := r.file(name)
		if err != nil {
			return nil, err
		}
		train, err := cifarBatch{labels: 1}.part(path, r.info, b)
		return &content{train: train, test: part{}}, err
	}
	return s
}

func cifar10Classes() []string {
	return []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}
}

// cifarBatch is the format of CIFAR's binary files: records of label bytes (in CIFAR-100 the
// superclass before the class) and pixels, channel by channel.
type cifarBatch struct{ labels int }

// part reads batches one after the other; errors call them by name.
func (f cifarBatch) part(name string, info datasets.Info, batches ...[]byte) (part, error) {
	record := f.labels + info.Shape[0]*info.Shape[1]*info.Shape[2]
	rows, starts := 0, make([]int, len(batches))
	for k, b := range batches {
		if len(b) == 0 || len(b)%record != 0 {
			return part{}, fmt.Errorf("datasets: %s: batch %d: %d bytes are not records of %d", name, k+1, len(b), record)
		}
		starts[k] = rows
		rows += len(b) / record
	}
	return part{rows: rows, read: func(row int, pixels []byte) (int, int, error) {
		k := len(starts) - 1
		for starts[k] > row {
			k--
		}
		r := batches[k][(row-starts[k])*record:][:record]
		copy(pixels, r[f.labels:])
		if f.labels == 2 {
			return int(r[1]), int(r[0]), nil
		}
		return int(r[0]), 0, nil
	}}, nil
}

// cifarArchive reads the batches of the two parts from a publisher's archive.
func (r *loader) cifarArchive(name, folder string, f cifarBatch, train, test []string) (*content, error) {
	record := f.labels + r.info.Features
	each := func(rows int, names []string) int64 { return int64(rows / len(names) * record) }
	sizes := map[string]int64{}
	for _, n := range train {
		sizes[folder+n] = each(r.info.Rows-r.info.TestRows, train)
	}
	for _, n := range test {
		sizes[folder+n] = each(r.info.TestRows, test)
	}
	path, files, err := r.tarball(name, func(entry string) (int64, bool) { size, ok := sizes[entry]; return size, ok })
	if err != nil {
		return nil, err
	}
	part := func(names []string) (part, error) {
		var batches [][]byte
		for _, n := range names {
			batches = append(batches, files[folder+n])
		}
		return f.part(path+" ("+names[0]+" ...)", r.info, batches...)
	}
	c := &content{}
	if c.train, err = part(train); err != nil {
		return nil, err
	}
	c.test, err = part(test)
	return c, err
}
