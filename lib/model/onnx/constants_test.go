package onnx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine/backend"
)

// translated returns a builder that has translated these operations, and what refused one.
func translated(b *builder, nodes ...*node) (refused string) {
	b.m, b.g = &Model{file: &file{}}, graph.NewGraph(backend.Open(1), "test")
	b.opsets, b.nodes = map[string]int64{"": 17}, map[*value]*graph.Node{}
	b.weights = &weights{values: b.values}
	defer func() {
		if r := recover(); r != nil {
			refused = fmt.Sprint(r)
		}
	}()
	for _, n := range nodes {
		b.step(n)
	}
	return ""
}

func operation(name, inputs, output string) *node {
	return &node{call: call{name: name}, inputs: strings.Fields(inputs), outputs: []string{output}}
}

// Constants that are computed during translation stay in memory, so that their sizes are added up.
func TestConstantsAreCounted(t *testing.T) {
	one := func(v int64) *value { return knownValue(int64s, []int64{v}) }
	for _, c := range []struct {
		what  string
		n     *node
		bytes int64
	}{
		{"a range", operation("Range", "zero thousand one", "r"), 8000},
		{"a sum", operation("Add", "list list", "r"), 800},
		{"a view of a list", operation("Expand", "one shape", "r"), 8 * 50 * 100},
		{"the numbers of an operand", operation("Reshape", "list shape2", "r"), 0},
		{"what is too large, and becomes part of the graph", operation("Expand", "one large", "r"), 0},
	} {
		b := &builder{values: map[string]*value{"zero": one(0), "one": one(1), "thousand": one(1000),
			"list": knownValue(int64s, make([]int64, 100), 100), "shape": knownValue(int64s, []int64{50, 100}, 2),
			"shape2": knownValue(int64s, []int64{2, 50}, 2), "large": knownValue(int64s, []int64{maxFoldedBytes/8 + 1}, 1)}}
		if refused := translated(b, c.n); refused != "" || b.constants != c.bytes {
			t.Errorf("%s: %d bytes, want %d %s", c.what, b.constants, c.bytes, refused)
		}
		if known := b.values["r"].known; known != (c.n.inputs[1] != "large") {
			t.Errorf("%s: computed at once: %v", c.what, known)
		}
	}
	b := &builder{constants: maxBytes - 7999, values: map[string]*value{"zero": one(0), "one": one(1), "thousand": one(1000)}}
	if refused := translated(b, operation("Range", "zero thousand one", "r")); !strings.Contains(refused, "the values of one execution are too large (at most 4 GiB)") {
		t.Errorf("constants of 4 GiB and one byte: %q", refused)
	}
}
