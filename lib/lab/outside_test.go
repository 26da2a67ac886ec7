// Results of code from another module are stored under its build.

package lab_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program in another module has a method, a network, a loss, a goal, an optimiser, data,
// a lens, an attack and a measurement of its own. With the same code everything is found in
// the store; with other code under the same names everything is recomputed, except what is
// this module's own.
func TestCodeFromOutsideIsKeptUnderItsBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program twice; not with -short")
	}
	dir, stored := t.TempDir(), t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	writeProgram(t, dir)
	buildProgram(t, dir, "0.9", first)
	buildProgram(t, dir, "-1.0", second)
	before, again, after := runProgram(t, first, stored), runProgram(t, first, stored), runProgram(t, second, stored)
	empty := runProgram(t, second, t.TempDir())
	if len(before) < 21 {
		t.Fatalf("the program says %v", before)
	}
	for kind, was := range before {
		if again[kind] != was {
			t.Errorf("%s: %s, and with the same code %s", kind, was, again[kind])
		}
		if kind == "runs" {
			continue
		}
		if after[kind] != empty[kind] {
			t.Errorf("%s: %s out of a store with results of other code, %s out of an empty one", kind, after[kind], empty[kind])
		}
		if own := strings.HasPrefix(kind, "lethe's own"); own != (after[kind] == was) {
			t.Errorf("%s: %s, and with other code %s", kind, was, after[kind])
		}
	}
	// Two trainings and an unlearning are Lethe's own: the original, the retrained model of
	// the lens, and gradient ascent.
	var n, all int
	fmt.Sscan(before["runs"], &n)
	fmt.Sscan(after["runs"], &all)
	if all != 2*n-3 {
		t.Errorf("%d runs by the first program, %d by both", n, all)
	}
}

// writeProgram makes a module of the program in testdata that requires this checkout.
func writeProgram(t *testing.T, dir string) {
	t.Helper()
	root := strings.TrimSpace(goOutput(t, ".", "list", "-m", "-f", "{{.Dir}}"))
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module github.com/lethe-ml/lethe", "module outside", 1) +
		fmt.Sprintf("\nrequire github.com/lethe-ml/lethe v0.0.0\n\nreplace github.com/lethe-ml/lethe => %s\n", root)
	for name, b := range map[string][]byte{
		"go.mod": []byte(text), "go.sum": sums, "main.go": read(t, "testdata/outside/main.go.txt"), "parts/parts.go": read(t, "testdata/outside/parts/parts.go.txt"),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// buildProgram builds it with a number in the bodies.
func buildProgram(t *testing.T, dir, number, to string) {
	t.Helper()
	body := strings.Replace(string(read(t, "testdata/outside/parts/parts.go.txt")), "= NUMBER", "= "+number, 1)
	if err := os.WriteFile(filepath.Join(dir, "parts", "parts.go"), []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	goOutput(t, dir, "build", "-o", to, ".")
}

// runProgram returns what the program prints for every kind.
func runProgram(t *testing.T, program, store string) map[string]string {
	t.Helper()
	out, err := exec.Command(program, store).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		i := strings.LastIndex(line, " ")
		said[line[:i]] = line[i+1:]
	}
	return said
}

func goOutput(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
