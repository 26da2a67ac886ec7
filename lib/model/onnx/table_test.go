package onnx

import (
	"slices"
	"strings"
	"testing"
)

// The table says of each operator and opset one thing, in types that are read.
func TestTheTableIsWellMade(t *testing.T) {
	for key, list := range rules {
		for i, row := range list {
			if i > 0 && list[i-1].since == row.since {
				t.Errorf("%v has two rows from opset %d on", key, row.since)
			}
			if row.since > newest[key[0]] || row.least > row.most || row.most > 0 && strings.Trim(row.types, "fniabt=<") != "" {
				t.Errorf("%v from opset %d on: %d to %d inputs of types %q", key, row.since, row.least, row.most, row.types)
			}
			for name, s := range row.known {
				if s.kind != "any" && kinds[s.kind] == 0 {
					t.Errorf("%v from opset %d on: attribute %s is of type %q", key, row.since, name, s.kind)
				}
				if s.fallback != "" && len(s.values) > 0 && !slices.Contains(s.values, s.fallback) {
					t.Errorf("%v from opset %d on: attribute %s falls back to %s, which is not implemented", key, row.since, name, s.fallback)
				}
			}
		}
	}
	if n := len(rules); n < 150 {
		t.Errorf("%d operators", n)
	}
}
