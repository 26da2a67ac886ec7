package images

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
)

// cifar10JPEG returns all of CIFAR-10 in a lossy copy, sorted by class: 5,000 training and 1,000
// test images per class. Within a class the order is that of the published batches, as far as the
// first 4,000 records show; the difference of the pixels was measured on these.
//
// The pixels depend on the JPEG decoder, so Images.Hash can change with the Go release that built
// the program; the archive's SHA-256 does not.
func cifar10JPEG() set {
	const name = "cifar10_jpegq_all60000.tar.gz"
	s := cifar10()
	s.info.Name, s.info.Title = "cifar10_jpeg", "CIFAR-10, a lossy copy"
	s.info.Description = "All 60,000 images of CIFAR-10 as JPEG files, sorted by class: for runs without the published files."
	s.info.Reading = []string{
		"Lossy: the pixels differ from the published ones by 8.5 of 255 grey levels (root mean square over the first 4,000 images). " +
			"State this with every result.",
		"Sorted by class, so that row numbers differ from those of cifar10.",
	}
	s.info.Files = []datasets.File{{Name: name, Size: 19433624, Compressed: true,
		SHA256: "dc2212603ce62dc04b4a84dada32ec649057a99bd2675a80c2bcbc2eb5a016c4"}}
	s.caveat = "A lossy JPEG copy of CIFAR-10: the pixels differ from the published ones by 8.5 of 255 grey levels (root mean square " +
		"over the first 4,000 images)."
	s.open = func(r *loader) (*content, error) { return openJPEGFolders(r, name) }
	return s
}

// maxJPEG bounds one compressed image; those of the published sets have a few KB.
const maxJPEG = 1 << 20

// openJPEGFolders reads an archive of {train,test}/<class>/<nnnn>.jpg, numbered
// from 0 without a gap, equally many per class.
func openJPEGFolders(r *loader, name string) (*content, error) {
	entry := func(folder, class string, k int) string { return fmt.Sprintf("%s/%s/%04d.jpg", folder, class, k) }
	classes := len(r.info.Classes)
	rows := map[string]int{"train": r.info.Rows - r.info.TestRows, "test": r.info.TestRows}
	wanted := map[string]bool{}
	for folder, n := range rows {
		for i := range n {
			wanted[entry(folder, r.info.Classes[i/(n/classes)], i%(n/classes))] = true
		}
	}
	path, files, err := r.tarball(name, func(entry string) (int64, bool) { return -maxJPEG, wanted[entry] })
	if err != nil {
		return nil, err
	}
	folder := func(folder string) part {
		n := rows[folder]
		return part{rows: n, read: func(row int, pixels []byte) (int, int, error) {
			y := row / (n / classes)
			file := entry(folder, r.info.Classes[y], row%(n/classes))
			b, ok := files[file]
			if !ok {
				return 0, 0, fmt.Errorf("%s: no entry %q", path, file)
			}
			if err := decodeJPEG(pixels, b, r.info.Shape); err != nil {
				return 0, 0, fmt.Errorf("%s: %s: %w", path, file, err)
			}
			return y, 0, nil
		}}
	}
	return &content{train: folder("train"), test: folder("test")}, nil
}
