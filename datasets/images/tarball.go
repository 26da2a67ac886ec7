// Reading of a set's .tar.gz archive of images.

package images

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
)

// maxEntries is the largest number of entries of an archive; what is published stays far below.
const maxEntries = 200_000

// tarball returns the path and the requested entries of one of the set's .tar.gz files. wanted
// returns the size of an entry (negative: at most its absolute value) and false for an entry to
// skip. Nothing is written to disk, so names in an archive are harmless.
func (r *loader) tarball(name string, wanted func(entry string) (int64, bool)) (string, map[string][]byte, error) {
	file, source, err := datasets.OpenFile(r.ctx, r.info, name)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	r.sources = append(r.sources, source)
	files, err := datasets.ReadTarball(r.ctx, file, wanted)
	if err != nil {
		return file.Name(), nil, fmt.Errorf("datasets: %s: %w", file.Name(), err)
	}
	return file.Name(), files, nil
}
