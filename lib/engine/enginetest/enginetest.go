// Package enginetest opens the engine that tests run on.
package enginetest

import (
	"os"

	"github.com/lethe-ml/lethe/lib/engine"
)

// Variable names the environment variable that puts tests on another engine
// than pure Go: what a user may write after --engine.
const Variable = "LETHE_TEST_ENGINE"

// Open opens the engine named by LETHE_TEST_ENGINE, or Go. It has no fallback: an
// engine that was asked for and does not open is an error.
func Open() (*engine.Engine, error) {
	if spec := os.Getenv(Variable); spec != "" {
		return engine.Open(spec)
	}
	return engine.Open("go")
}
