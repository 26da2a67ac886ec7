package images

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/idx"
)

// mnist returns the description and the loader of MNIST in its published order: 60,000 training
// digits and 10,000 test digits. 0 is paper and 1 is ink, as published.
func mnist() set {
	const mirror = "https://storage.googleapis.com/cvdf-datasets/mnist/"
	const publisher = "http://yann.lecun.com/exdb/mnist/"
	file := func(name string, size int64, sha string) datasets.File {
		return datasets.File{Name: name, Size: size, SHA256: sha, Sources: []datasets.Source{
			{URL: mirror + name + ".gz", Gzip: true}, {URL: publisher + name + ".gz", Gzip: true}}}
	}
	return set{
		info: datasets.Info{
			Name: "mnist", Title: "MNIST", Folder: "mnist", Task: "which digit is written",
			Rows: 70000, TestRows: 10000, Features: 784, Shape: [3]int{1, 28, 28}, Classes: digits(),
			Licence: "CC BY-SA 3.0",
			Citation: "Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database of handwritten digits; Y. LeCun, L. Bottou, Y. " +
				"Bengio, P. Haffner (1998), Proc. IEEE 86(11)",
			Homepage:    "http://yann.lecun.com/exdb/mnist/",
			Description: "Handwritten digits, centred, 28 x 28 grey.",
			Files: []datasets.File{
				file("train-images-idx3-ubyte", 47040016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
				file("train-labels-idx1-ubyte", 60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
				file("t10k-images-idx3-ubyte", 7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
				file("t10k-labels-idx1-ubyte", 10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
			},
		},
		open: openMNIST,
	}
}

func openMNIST(r *loader) (*content, error) {
	train, err := r.idxPart("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
	if err != nil {
		return nil, err
	}
	test, err := r.idxPart("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
	if err != nil {
		return nil, err
	}
	return &content{train: train, test: test}, nil
}

// idxPart reads a pair of idx files: grey images and their labels.
func (r *loader) idxPart(images, labels string) (part, error) {
	path, x, err := r.idxFile(images)
	if err != nil {
		return part{}, err
	}
	h, w := r.info.Shape[1], r.info.Shape[2]
	if len(x.Dims) != 3 || x.Dims[1] != h || x.Dims[2] != w {
		return part{}, fmt.Errorf("datasets: %s: dimensions %d, expected images of %d x %d", path, x.Dims, h, w)
	}
	path, y, err := r.idxFile(labels)
	if err != nil {
		return part{}, err
	}
	if len(y.Dims) != 1 || y.Dims[0] != x.Dims[0] {
		return part{}, fmt.Errorf("datasets: %s: dimensions %d, expected the labels of %d images", path, y.Dims, x.Dims[0])
	}
	return part{rows: x.Dims[0], read: func(row int, pixels []byte) (int, int, error) {
		copy(pixels, x.Data[row*h*w:])
		return int(y.Data[row]), 0, nil
	}}, nil
}

func (r *loader) idxFile(name string) (string, idx.Array, error) {
	path, b, err := r.file(name)
	if err != nil {
		return path, idx.Array{}, err
	}
	a, err := idx.Parse(b)
	if err != nil {
		return path, a, fmt.Errorf("datasets: %s: %w", path, err)
	}
	return path, a, nil
}

// digits returns the class names of sets of digits.
func digits() []string {
	out := make([]string, 10)
	for d := range out {
		out[d] = fmt.Sprint(d)
	}
	return out
}
