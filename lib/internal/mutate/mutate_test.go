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

func allFaults(t *testing.T) []Fault {
	t.Helper()
	faults, err := readFaults()
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// A text is taken as it is, with its tabs, quotes and empty lines; what is no fault is refused by
// file and line.
func TestFaultsAreReadAsTheyStand(t *testing.T) {
	got, err := parseFaults("a.txt", []byte("# The first.\n\nfile a.go\nprotects one\n-\tif a {\n-\n+\tif \"b\" {\n+\n\n"+
		"file b.go\nprotects two\ntests ./a ./b\nrun X|Y\n-gone"))
	want := []Fault{
		{File: "a.go", Old: "\tif a {\n", New: "\tif \"b\" {\n", Protects: "one"},
		{File: "b.go", Old: "gone", Protects: "two", Tests: "./a ./b", Run: "X|Y"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for text, line := range map[string]string{
		"file a.go\nprotects one\n+new":                         "a.txt:4",
		"protects one\n-old\n\nfile a.go":                       "a.txt:3",
		"file a.go\nprotects one\n-old\n+new\n-old":             "a.txt:5",
		"file a.go\nfile b.go\nprotects one\n-old":              "a.txt:2",
		"file a.go\nprotects one\nbecause of something\n-old\n": "a.txt:3",
	} {
		if _, err := parseFaults("a.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: %v, want %s", text, err, line)
		}
	}
}

// A list of faults is worth something only while each of them can be planted.
func TestEveryFaultFitsItsFileAndParses(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	faults := allFaults(t)
	if len(faults) < 400 {
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
	for _, f := range allFaults(t) {
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
