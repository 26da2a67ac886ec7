//go:build unix

// The Go code of the browser steps compiles.

package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// template is a text between backquotes that holds the Go code of a cell.
var template = regexp.MustCompile("(?s)`(import .*?)`")

// TestCellsOfTheStepsCompile keeps the steps up with the library, which nobody
// else compiles them against before a browser is there.
func TestCellsOfTheStepsCompile(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil || testing.Short() {
		t.Skip("compiles programs, with the go tool")
	}
	for _, file := range []string{"drive/training.mjs", "drive/steps/07-vega.mjs"} {
		b, err := driveFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := template.FindSubmatch(b)
		if found == nil {
			t.Fatalf("%s holds no cell", file)
		}
		code := regexp.MustCompile(`\$\{\w+\}`).ReplaceAllString(string(found[1]), "1")
		code = strings.ReplaceAll(code, `\\`, `\`)
		declared, main, _ := strings.Cut(code, "\n%%\n")
		path := filepath.Join(t.TempDir(), "main.go")
		write(t, path, "package main\n\n"+declared+"\n\nfunc main() {\n"+main+"\n}\n", 0o644)
		if out, err := exec.Command(tool, "vet", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
