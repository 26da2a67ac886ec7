package nn

import (
	"strings"
	"testing"
)

func TestFirstFaults(t *testing.T) {
	wrong := strings.Split("abcdefghij", "")
	for n, want := range map[int]string{0: "", 2: "a; b", 8: "a; b; c; d; e; f; g; h", 10: "a; b; c; d; e; f; g; h; and 2 more"} {
		if got := FirstFaults(wrong[:n]); got != want {
			t.Errorf("%d faults: %q", n, got)
		}
	}
}
