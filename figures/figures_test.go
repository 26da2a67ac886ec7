package figures

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Every committed table and figure is in the program, and the values behind them are not.
func TestEveryTableAndFigureIsCarried(t *testing.T) {
	carried := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, string(filepath.Separator)) {
			return err
		}
		_, missing := fs.Stat(Files, filepath.ToSlash(path))
		if runs := strings.HasSuffix(path, ".runs.csv"); runs != (missing != nil) {
			t.Errorf("%s: carried %v", path, missing == nil)
		}
		carried++
		return nil
	})
	if err != nil || carried < 180 {
		t.Errorf("%d files, %v", carried, err)
	}
}
