package main

import (
	"go/parser"
	"go/token"
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
