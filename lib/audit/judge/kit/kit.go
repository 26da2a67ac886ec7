// Package kit holds what writes an audit's folder in other frameworks: one Python
// file for each, to be copied beside the reader's own program, with an example that
// runs by itself.
package kit

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed lethe_*.py
var files embed.FS

// Frameworks are the names of what there is a kit for.
func Frameworks() []string { return []string{"pytorch", "jax", "sklearn"} }

// Text is the Python file for a framework.
func Text(framework string) (string, error) {
	text, err := files.ReadFile("lethe_" + framework + ".py")
	if err != nil {
		return "", fmt.Errorf("there is no kit for %q; there are %s", framework, strings.Join(Frameworks(), ", "))
	}
	return string(text), nil
}
