// SVHN: description and loader.

package images

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/mat5"
)

// svhn returns the description and the loader of SVHN's cropped digits ("Format 2"): 73,257
// training and 26,032 test images, without the 531,131 extra images. The files use label 10 for
// the digit 0.
//
// Sizes and SHA-256 are those that TensorFlow Datasets records for the files
// (tensorflow_datasets/url_checksums/svhn_cropped.txt).
func svhn() set {
	const publisher = "http://ufldl.stanford.edu/housenumbers/"
	file := func(name string, size int64, sha string) datasets.File {
		return datasets.File{Name: name, Size: size, SHA256: sha, Sources: []datasets.Source{{URL: publisher + name}}}
	}
	return set{
		info: datasets.Info{
			Name: "svhn", Title: "Street View House Numbers, cropped digits", Folder: "svhn", Task: "which digit of a house number is in the middle",
			Rows: 99289, TestRows: 26032, Features: 3072, Shape: [3]int{3, 32, 32}, Classes: digits(),
			Licence: "non-commercial use, with citation",
			Citation: "Y. Netzer, T. Wang, A. Coates, A. Bissacco, B. Wu, A. Y. Ng (2011), Reading Digits in Natural Images with " +
				"Unsupervised Feature Learning, NIPS Workshop on Deep Learning and Unsupervised Feature Learning",
			Homepage:    "http://ufldl.stanford.edu/housenumbers/",
			Description: "Digits of house numbers cut out of street photographs, 32 x 32 in colour, neighbouring digits at the sides.",
			Reading:     []string{"Label 10 of the files is the digit 0.", "The extra images of extra_32x32.mat are not loaded."},
			Files: []datasets.File{
				file("train_32x32.mat", 182040794, "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"),
				file("test_32x32.mat", 64275384, "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"),
			},
		},
		open: func(r *loader) (*content, error) {
			train, err := r.svhnPart("train_32x32.mat", r.info.Rows-r.info.TestRows)
			if err != nil {
				return nil, err
			}
			test, err := r.svhnPart("test_32x32.mat", r.info.TestRows)
			return &content{train: train, test: test}, err
		},
	}
}

// svhnPart reads X, height x width x channels x images in MATLAB's order (the
// first dimension changing fastest), and y, a label from 1 to 10 per image.
func (r *loader) svhnPart(name string, rows int) (part, error) {
	path, b, err := r.file(name)
	if err != nil {
		return part{}, err
	}
	arrays, err := mat5.Read(b, int64(rows*r.info.Features), "X", "y")
	if err != nil {
		return part{}, fmt.Errorf("datasets: %s: %w", path, err)
	}
	x, y := arrays["X"], arrays["y"]
	c, h, w := r.info.Shape[0], r.info.Shape[1], r.info.Shape[2]
	if !slices.Equal(x.Dims, []int{h, w, c, rows}) || x.Bytes() == nil {
		return part{}, fmt.Errorf("datasets: %s: X has dimensions %d, expected the bytes of %d x %d x %d x %d", path, x.Dims, h, w, c, rows)
	}
	if y.Len() != rows {
		return part{}, fmt.Errorf("datasets: %s: y has dimensions %d, expected %d labels", path, y.Dims, rows)
	}
	return part{rows: rows, read: func(row int, pixels []byte) (int, int, error) {
		transposeInto(pixels, x.Bytes()[row*c*h*w:][:c*h*w], c, h, w)
		label := y.Float(row)
		if label != float64(int(label)) || label < 1 || label > 10 {
			return 0, 0, fmt.Errorf("%s: y(%d) is %v; labels are 1 to 10", path, row+1, label)
		}
		return int(label) % 10, 0, nil
	}}, nil
}

// transposeInto copies channels stored column by column to channels stored line by line.
func transposeInto(to, from []byte, c, h, w int) {
	for ch := range c {
		for y := range h {
			for x := range w {
				to[(ch*h+y)*w+x] = from[(ch*w+x)*h+y]
			}
		}
	}
}
