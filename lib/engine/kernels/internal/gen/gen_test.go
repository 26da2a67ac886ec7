package gen

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

//go:generate go test -run TestGeneratedFilesAreWhatTheGeneratorWrites -args -write

var write = flag.Bool("write", false, "write the generated files")

// It stands here and not in package kernels, which may not build before it has written.
func TestGeneratedFilesAreWhatTheGeneratorWrites(t *testing.T) {
	for name, text := range Files() {
		path := filepath.Join("..", "..", name)
		if *write {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != text {
			t.Errorf("%s is not what the generator writes: go generate ./lib/engine/kernels/...", name)
		}
	}
}
