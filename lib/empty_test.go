// Tests of labs and cases that somebody left empty.

package lethe_test

import (
	"strings"
	"testing"

	lethe "github.com/lethe-ml/lethe/lib"
)

// An empty lab and an empty case say how they are made.
func TestAnEmptyLabIsAnError(t *testing.T) {
	if _, err := (&lethe.Lab{}).Case(t.Context(), lethe.Setting{}); err == nil || !strings.Contains(err.Error(), "make it with Open") {
		t.Errorf("%v", err)
	}
	if _, err := (&lethe.Case{}).Compare(t.Context()); err == nil || !strings.Contains(err.Error(), "make it with Lab.Case") {
		t.Errorf("%v", err)
	}
}
