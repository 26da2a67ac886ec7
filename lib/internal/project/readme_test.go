package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The program that README shows is one: it builds and passes go vet.
func TestTheProgramInTheReadmeBuilds(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(b)
	if shown == nil {
		t.Fatal("README shows no program")
	}
	path := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(path, shown[1], 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "vet", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A link of README to a file leads to one.
func TestTheReadmesLinksLeadSomewhere(t *testing.T) {
	for _, doc := range []string{"README.md", "docs/findings.md", "MANUAL.md", "CONTRIBUTING.md"} {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllSubmatch(b, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), string(m[1]))); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
		}
	}
}
