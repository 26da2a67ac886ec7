// Writing outputs and activations for an audit.

package outside

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Written is a file of activations.
type Written struct {
	Path string
	// Value is the network's name of what the file holds.
	Value   string
	Records int
	Width   int
}

// Write runs the network and writes its values for every record into a folder, under the
// names that an audit looks for:
//
//	outputs.npy            Output
//	embedding.npy          Embedding, where there is one
//	activations/NAME.npy   the requested layers
//
// NAME is the value's name with a dash for every character that a file name should not
// have. Nothing is written where a value is not finite; the error names it and the record.
// Nothing is written either if the folder holds such a file that this call does not write:
// it may belong to another network, and an audit would take it for this one's.
func Write(ctx context.Context, m Network, e *engine.Engine, x array.Rows, dir string, layers ...string) ([]Written, error) {
	files := ExpectedFiles(m, dir, layers...)
	if err := checkUnexpectedFiles(files, dir); err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Value)
	}
	slices.Sort(names)
	ctx, task := progress.Start(ctx, "running the network", 0)
	defer task.Done()
	found, err := m.Run(ctx, e, x, slices.Compact(names)...)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := found[f.Value].Check(fmt.Sprintf("value %q", f.Value)); err != nil {
			return nil, fmt.Errorf("%s is not written: %w", f.Path, err)
		}
	}
	for i, f := range files {
		files[i].Records, files[i].Width = found[f.Value].Rows, found[f.Value].Cols
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return nil, err
		}
		if err := npy.Write(f.Path, found[f.Value]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// checkUnexpectedFiles returns an error for a file of activations in dir that this call
// does not write.
func checkUnexpectedFiles(files []Written, dir string) error {
	there := []string{filepath.Join(dir, "outputs.npy"), filepath.Join(dir, "embedding.npy")}
	layers, err := os.ReadDir(filepath.Join(dir, "activations"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, l := range layers {
		if strings.HasSuffix(l.Name(), ".npy") {
			there = append(there, filepath.Join(dir, "activations", l.Name()))
		}
	}
	for _, path := range there {
		if slices.ContainsFunc(files, func(f Written) bool { return f.Path == path }) {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists already and is not one of the files to write: an audit would take it for this network's; "+
				"name its layer too, take it away or choose another folder", path)
		}
	}
	return nil
}

// ExpectedFiles returns the files that Write will write, without their sizes.
func ExpectedFiles(m Network, dir string, layers ...string) []Written {
	files := []Written{{Path: filepath.Join(dir, "outputs.npy"), Value: m.Output()}}
	if name, ok := m.Embedding(); ok {
		files = append(files, Written{Path: filepath.Join(dir, "embedding.npy"), Value: name})
	}
	var taken []string
	for _, layer := range layers {
		name := fileName(layer, taken)
		taken = append(taken, name)
		files = append(files, Written{Path: filepath.Join(dir, "activations", name+".npy"), Value: layer})
	}
	return files
}

var unsafeChars = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// fileName returns a file name for a value, different from those taken.
func fileName(value string, taken []string) string {
	name := strings.Trim(unsafeChars.ReplaceAllString(value, "-"), "-.")
	if name == "" {
		name = "value"
	}
	for i, base := 2, name; slices.Contains(taken, name); i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	return name
}
