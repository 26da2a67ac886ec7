package images

import (
	"archive/tar"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

// The files of these tests are made in the published formats, a few images each.

func mnistFiles() map[string][]byte {
	return map[string][]byte{
		"train-images-idx3-ubyte": idxFile(slices.Concat(planes(0, 1, 28, 28), planes(1, 1, 28, 28), planes(2, 1, 28, 28)), 3, 28, 28),
		"train-labels-idx1-ubyte": idxFile([]byte{5, 0, 9}, 3),
		"t10k-images-idx3-ubyte":  idxFile(planes(3, 1, 28, 28), 1, 28, 28),
		"t10k-labels-idx1-ubyte":  idxFile([]byte{7}, 1),
	}
}

func TestMNISTIsReadInThePublishedFormat(t *testing.T) {
	m := mustLoad(t, mnist(), 4, 1, mnistFiles())
	if !slices.Equal(m.Train.Y, []int{5, 0, 9}) || !slices.Equal(m.Test.Y, []int{7}) || m.Classes[9] != "9" || len(m.Sources) != 4 {
		t.Errorf("labels %v and %v of %v from %v", m.Train.Y, m.Test.Y, m.Classes, m.Sources)
	}
	for row := range 3 {
		holds(t, m, m.Train, row, row)
	}
	holds(t, m, m.Test, 0, 3)
	if m.Caveat != "" || m.Train.Extra != nil || !slices.Equal(m.Train.IDs, []int{0, 1, 2}) {
		t.Errorf("caveat %q, columns %v, ids %v", m.Caveat, m.Train.Extra, m.Train.IDs)
	}
}

func TestBrokenMNISTFilesAreNamed(t *testing.T) {
	files := mnistFiles()
	refuses(t, "train-labels-idx1-ubyte: byte 8: the dimensions up to this one", mnist(), 4, 1, with(files, "train-labels-idx1-ubyte", idxFile([]byte{1, 2}, 2, 2)))
	refuses(t, "train-labels-idx1-ubyte: dimensions [2], expected the labels of 3", mnist(), 4, 1, with(files, "train-labels-idx1-ubyte", idxFile([]byte{1, 2}, 2)))
	refuses(t, "t10k-images-idx3-ubyte: dimensions [1 28 27]", mnist(), 4, 1, with(files, "t10k-images-idx3-ubyte", idxFile(make([]byte, 28*27), 1, 28, 27)))
	refuses(t, "test part: image 0: label 10; the classes are 0 to 9", mnist(), 4, 1, with(files, "t10k-labels-idx1-ubyte", idxFile([]byte{10}, 1)))
	refuses(t, "3 training and 1 test images, expected 4 and 1", mnist(), 5, 1, files)
}

// cifarRecord is a record of CIFAR's binary files with image i.
func cifarRecord(i int, labels ...byte) []byte { return append(labels, planes(i, 3, 32, 32)...) }

func TestCIFAR10IsReadInThePublishedFormat(t *testing.T) {
	var entries []entry
	for k := range 5 { // five batches of two images
		entries = append(entries, entry{name: sprint("cifar-10-batches-bin/data_batch_", k+1, ".bin"),
			b: slices.Concat(cifarRecord(2*k, byte(k)), cifarRecord(2*k+1, 9))})
	}
	slices.Reverse(entries) // the archive's order does not matter
	entries = append(entries, entry{name: "cifar-10-batches-bin/readme.html", b: []byte("x")},
		entry{name: "cifar-10-batches-bin/test_batch.bin", b: cifarRecord(10, 3)})
	m := mustLoad(t, cifar10(), 11, 1, map[string][]byte{"cifar-10-binary.tar.gz": tarGz(t, entries...)})
	if !slices.Equal(m.Train.Y, []int{0, 9, 1, 9, 2, 9, 3, 9, 4, 9}) || !slices.Equal(m.Test.Y, []int{3}) || m.Classes[3] != "cat" {
		t.Errorf("labels %v and %v", m.Train.Y, m.Test.Y)
	}
	for row := range 10 {
		holds(t, m, m.Train, row, row)
	}
	holds(t, m, m.Test, 0, 10)
	if !m.Sources[0].Compressed {
		t.Errorf("sources %+v", m.Sources)
	}
}

func TestCIFAR100HasBothLabels(t *testing.T) {
	m := mustLoad(t, cifar100(), 3, 1, map[string][]byte{"cifar-100-binary.tar.gz": tarGz(t,
		entry{name: "cifar-100-binary/train.bin", b: slices.Concat(cifarRecord(0, 11, 19), cifarRecord(1, 15, 29))},
		entry{name: "cifar-100-binary/test.bin", b: cifarRecord(2, 10, 49)})})
	// Pairs of superclass and class that the published set has.
	if m.Classes[m.Train.Y[0]] != "cattle" || superclass(m, m.Train, 0) != "large_omnivores_and_herbivores" ||
		m.Classes[m.Train.Y[1]] != "dinosaur" || superclass(m, m.Train, 1) != "reptiles" ||
		m.Classes[m.Test.Y[0]] != "mountain" || superclass(m, m.Test, 0) != "large_natural_outdoor_scenes" {
		t.Errorf("%v %v, %v %v", m.Train.Y, m.Train.Extra, m.Test.Y, m.Test.Extra)
	}
	holds(t, m, m.Train, 1, 1)
	holds(t, m, m.Test, 0, 2)
	if len(m.Classes) != 100 || len(m.Coarse) != 20 || !slices.IsSorted(m.Classes) {
		t.Errorf("%d classes, %d superclasses", len(m.Classes), len(m.Coarse))
	}
}

func TestBrokenCIFARArchivesAreNamed(t *testing.T) {
	train, test := entry{name: "cifar-100-binary/train.bin", b: cifarRecord(0, 11, 19)}, entry{name: "cifar-100-binary/test.bin", b: cifarRecord(1, 0, 0)}
	bad := func(e entry, change func(*entry)) entry { change(&e); return e }
	for want, packed := range map[string][]byte{
		"not a gzip file":                               []byte("no archive"),
		`test.bin ...): batch 1: 0 bytes are not`:       tarGz(t, train),
		`train.bin" occurs twice`:                       tarGz(t, train, test, train),
		`train.bin" has 3073 bytes, expected 3074`:      tarGz(t, bad(train, func(e *entry) { e.b = e.b[1:] }), test),
		`train.bin" is not a regular file`:              tarGz(t, bad(train, func(e *entry) { e.kind, e.b = tar.TypeSymlink, nil }), test),
		"coarse label 20; the superclasses are 0 to 19": tarGz(t, bad(train, func(e *entry) { e.b = cifarRecord(0, 20, 0) }), test),
		"label 100; the classes are 0 to 99":            tarGz(t, bad(train, func(e *entry) { e.b = cifarRecord(0, 0, 100) }), test),
		"unexpected EOF":                                tarGz(t, train, test)[:600],
	} {
		refuses(t, want, cifar100(), 2, 1, map[string][]byte{"cifar-100-binary.tar.gz": packed})
	}
	refuses(t, "batch 1: 3074 bytes are not records of 3073", cifar10First4000(), 1, 0,
		map[string][]byte{"cifar10_lossless_first4000.bin": make([]byte, 3074)})
}

// svhnOrder is a set of images in the order of SVHN's X: line, column, channel, image.
func svhnOrder(images ...int) []byte {
	var out []byte
	for _, i := range images {
		for ch := range 3 {
			for x := range 32 {
				for y := range 32 {
					out = append(out, byteOf(i, ch, y, x))
				}
			}
		}
	}
	return out
}

func TestSVHNIsReadInThePublishedFormat(t *testing.T) {
	const uint8Class, doubleClass, bytesKind = 9, 6, 2
	m := mustLoad(t, svhn(), 4, 1, map[string][]byte{
		"train_32x32.mat": matFile(matArray(true, "X", uint8Class, bytesKind, svhnOrder(0, 1, 2), 32, 32, 3, 3),
			matArray(true, "y", doubleClass, bytesKind, []byte{1, 10, 9}, 3, 1)),
		"test_32x32.mat": matFile(matArray(false, "y", uint8Class, bytesKind, []byte{5}, 1, 1),
			matArray(false, "X", uint8Class, bytesKind, svhnOrder(3), 32, 32, 3, 1)),
	})
	if !slices.Equal(m.Train.Y, []int{1, 0, 9}) || !slices.Equal(m.Test.Y, []int{5}) {
		t.Errorf("labels %v and %v", m.Train.Y, m.Test.Y)
	}
	for row := range 3 {
		holds(t, m, m.Train, row, row)
	}
	holds(t, m, m.Test, 0, 3)
}

func TestBrokenSVHNFilesAreNamed(t *testing.T) {
	const uint8Class, bytesKind = 9, 2
	x, y := matArray(true, "X", uint8Class, bytesKind, svhnOrder(0), 32, 32, 3, 1), matArray(true, "y", uint8Class, bytesKind, []byte{1}, 1, 1)
	files := map[string][]byte{"train_32x32.mat": matFile(x, y), "test_32x32.mat": matFile(x, y)}
	for want, b := range map[string][]byte{
		`test_32x32.mat: no array "y"`:                 matFile(x),
		"test_32x32.mat: y(1) is 0; labels are":        matFile(x, matArray(true, "y", uint8Class, bytesKind, []byte{0}, 1, 1)),
		"test_32x32.mat: y(1) is 11; labels are":       matFile(x, matArray(true, "y", uint8Class, bytesKind, []byte{11}, 1, 1)),
		"y has dimensions [2 1], expected 1 labels":    matFile(x, matArray(true, "y", uint8Class, bytesKind, []byte{1, 2}, 2, 1)),
		"X has dimensions [32 32 1 3], expected":       matFile(matArray(true, "X", uint8Class, bytesKind, svhnOrder(0), 32, 32, 1, 3), y),
		"test_32x32.mat: byte 126: not a MAT-file":     []byte(sprint(make([]byte, 300))),
		"dimension 4 is 2: more than the 3072 element": matFile(matArray(true, "X", uint8Class, bytesKind, svhnOrder(0, 1), 32, 32, 3, 2), y),
	} {
		refuses(t, want, svhn(), 2, 1, with(files, "test_32x32.mat", b))
	}
}

// faces is a MAT-file of n faces with ten rows per person as scikit-learn reads
// it: a face per column, pixel by pixel down the columns of the face.
func faces(n int, pixel func(i, y, x int) byte) []byte {
	var data []byte
	for i := range n {
		for x := range 64 {
			for y := range 64 {
				data = append(data, pixel(i, y, x))
			}
		}
	}
	return matFile(matArray(false, "p", 6, 2, []byte{1}, 1, 1), matArray(true, "faces", 6, 2, data, 4096, n))
}

func TestOlivettiIsReadInTheFormatThatScikitLearnReads(t *testing.T) {
	shade := func(i, y, x int) byte { return byte((31*i + 5*y + 3*x) % 243) }
	m := mustLoad(t, olivetti(), 400, 0, map[string][]byte{"olivettifaces.mat": faces(400, shade)})
	if m.Test.X.Rows != 0 || m.Train.Y[0] != 0 || m.Train.Y[9] != 0 || m.Train.Y[10] != 1 || m.Train.Y[399] != 39 {
		t.Errorf("%d test images, labels %v", m.Test.X.Rows, m.Train.Y)
	}
	for _, k := range []int{0, 1, 64, 4095} {
		if got, want := m.Train.X.Row(7)[k], float32(float64(shade(7, k/64, k%64))/242); got != want {
			t.Errorf("pixel %d is %v, want %v", k, got, want)
		}
	}
	refuses(t, "training part: image 3, pixel 0: the value 243; the brightest is 242", olivetti(), 400, 0,
		map[string][]byte{"olivettifaces.mat": faces(400, func(i, y, x int) byte { return byte(240 + i) })})
	refuses(t, "faces has dimensions [4096 399], expected 4096 x 400", olivetti(), 400, 0,
		map[string][]byte{"olivettifaces.mat": faces(399, shade)})
}

func superclass(m *Images, p datasets.Part, row int) string {
	return m.Coarse[int(p.Extra[datasets.Superclass][row])]
}
