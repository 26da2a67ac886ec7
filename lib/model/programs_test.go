// Tests of programs.go.

package model

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
)

// TestTheOldestProgramGoes fills the cache, and runs a program that was evicted.
func TestTheOldestProgramGoes(t *testing.T) {
	e, err := engine.Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	r := &Runner{Engine: e}
	ask := func(k int) *Exec {
		t.Helper()
		exec, err := r.Program(fmt.Sprint(k), func(in []*Node) []*Node { return []*Node{AddScalar(in[0], float64(k))} })
		if err != nil {
			t.Fatal(err)
		}
		return exec
	}
	first, second := ask(0), ask(1)
	for k := 2; k < maxPrograms; k++ {
		ask(k)
	}
	if ask(0) != first || ask(1) != second {
		t.Error("a program was compiled again while there was room")
	}
	ask(maxPrograms)
	if ask(1) != second {
		t.Error("a second program went with the oldest")
	}
	if len(r.programs.made) != maxPrograms || len(r.programs.order) != maxPrograms {
		t.Errorf("%d programs in %d places, want %d", len(r.programs.made), len(r.programs.order), maxPrograms)
	}
	out, err := first.Call(tensors.FromScalar(float32(5)))
	if err != nil || tensors.ToScalar[float32](out[0]) != 5 {
		t.Errorf("the program that went gives %v (%v)", out, err)
	}
	if ask(0) == first {
		t.Error("the oldest has not gone")
	}
}
