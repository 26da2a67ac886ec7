package kernels

import (
	"flag"
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/kernels/internal/gen"
)

//go:generate go test -run TestGeneratedFilesAreWhatTheGeneratorWrites -args -write

var write = flag.Bool("write", false, "write the generated files")

func TestGeneratedFilesAreWhatTheGeneratorWrites(t *testing.T) {
	for name, text := range gen.Files() {
		if *write {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != text {
			t.Errorf("%s is not what internal/gen writes: go generate ./lib/engine/kernels", name)
		}
	}
}
