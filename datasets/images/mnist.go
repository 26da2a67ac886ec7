package images

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/idx"
)

// mnist returns the description and the loader of MNIST in its published order: 60,000 training
// digits and 10,000 test digits. 0 is paper and 1 is ink, as published.
func mnist() set {
	return set{
		info: datasets.Info{
			Name: "mnist", Title: "MNIST", Folder: "mnist", Task: "which digit is written",
			Rows: 70000, TestRows: 10000, Features: 784, Shape: [3]int{1, 28, 28}, Classes: digits(),
			Licence: "CC BY-SA 3.0",
			Citation: "Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database of handwritten digits; Y. LeCun, L. Bottou, Y. " +
				"Bengio, P. Haffner (1998), Proc. IEEE 86(11)",
			Homepage:    "http://yann.lecun.com/exdb/mnist/",
			Description: "Handwritten digits, centred, 28 x 28 grey.",
			Files: idxFiles([4]string{
				"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
				"0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
			}, "https://storage.googleapis.com/cvdf-datasets/mnist/", "http://yann.lecun.com/exdb/mnist/"),
		},
		open: openMNIST,
	}
}

// idxFiles returns the four files of a set in MNIST's format with their hashes: images and labels for
// training, images and labels for testing. They are gzipped at each address.
func idxFiles(sha [4]string, addresses ...string) []datasets.File {
	out := []datasets.File{
		{Name: "train-images-idx3-ubyte", Size: 47040016}, {Name: "train-labels-idx1-ubyte", Size: 60008},
		{Name: "t10k-images-idx3-ubyte", Size: 7840016}, {Name: "t10k-labels-idx1-ubyte", Size: 10008},
	}
	for i := range out {
		out[i].SHA256 = sha[i]
		for _, at := range addresses {
			out[i].Sources = append(out[i].Sources, datasets.Source{URL: at + out[i].Name + ".gz", Gzip: true})
		}
	}
	return out
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
