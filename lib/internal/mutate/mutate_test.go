package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A list of faults is worth something only while each of them can be planted.
func TestEveryFaultFitsItsFileAndParses(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) < 40 {
		t.Errorf("only %d faults", len(faults))
	}
	seen := map[string]bool{}
	for _, f := range faults {
		if seen[f.File+f.New] {
			t.Errorf("%s: %q is planted twice", f.File, f.New)
		}
		seen[f.File+f.New] = true
		text, err := f.mutant(root)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), f.File, text, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v", f.Protects, err)
		}
	}
}

// The pattern of a fault matches a test in its packages: go test passes where no test runs.
func TestEveryFaultRunsATest(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	names := map[string][]string{} // the tests of a package
	for _, f := range faults {
		var tests []string
		for _, folder := range f.packages() {
			if _, ok := names[folder]; !ok {
				files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
				if err != nil {
					t.Fatal(err)
				}
				names[folder] = []string{}
				for _, file := range files {
					text, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					for _, m := range function.FindAllSubmatch(text, -1) {
						names[folder] = append(names[folder], string(m[1]))
					}
				}
			}
			tests = append(tests, names[folder]...)
		}
		// After a slash stands the pattern of subtests, which only a run can check.
		pattern, _, _ := strings.Cut(f.Run, "/")
		if r, err := regexp.Compile(pattern); err != nil || !slices.ContainsFunc(tests, r.MatchString) {
			t.Errorf("%s (%s): no test of %s matches %q: %v", f.File, f.Protects, f.packages(), f.Run, err)
		}
	}
}

func TestAFaultThatDoesNotFitIsAnError(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"no such text", "return"} {
		err := checkQuotes(root, []Fault{{File: "lib/attack/score.go", Old: old, New: "x", Protects: "nothing"}})
		if err == nil || !strings.Contains(err.Error(), "not once") {
			t.Errorf("%q: %v", old, err)
		}
	}
}
