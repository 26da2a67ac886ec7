package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"golang.org/x/term"
)

// WriteJSON writes one indented JSON value.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Finite is v for JSON, which has no NaN and no infinity: null stands for them.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// IsTerminal reports whether w, or r, is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Bytes prints a size for people, in powers of 1000.
func Bytes(n int64) string {
	v, unit := float64(n), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

// List names things in one line.
func List(words []string) string { return strings.Join(words, ", ") }
