// Package kit holds Python files that write an audit's folder from other frameworks, one file per
// framework. Each is copied next to the reader's own program and has an example that runs by
// itself.
package kit

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed lethe_*.py
var files embed.FS

// Frameworks returns the names of the frameworks that have a kit.
func Frameworks() []string { return []string{"pytorch", "jax", "sklearn", "transformers", "vllm"} }

// Text returns the Python file for a framework.
func Text(framework string) (string, error) {
	text, err := files.ReadFile("lethe_" + framework + ".py")
	if err != nil {
		return "", fmt.Errorf("there is no kit for %q; there are %s", framework, strings.Join(Frameworks(), ", "))
	}
	return string(text), nil
}
