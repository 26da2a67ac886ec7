// Output helpers: JSON, sizes, terminals.

package cli

import (
	"encoding/json"
	"io"
	"math"
	"strings"

	"golang.org/x/term"

	"github.com/lethe-ml/lethe/lib/progress"
)

// WriteJSON writes v as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Finite returns &v, or nil for NaN and infinities, which JSON does not have.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Bytes formats a number of bytes in powers of 1000: "1.5 MB".
func Bytes(n int64) string { return progress.FormatBytes(n) }

// List joins words with commas.
func List(words []string) string { return strings.Join(words, ", ") }
