// Package enginetest opens the engine that tests run on.
package enginetest

import (
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/store"
)

// Variable names the environment variable that puts tests on another engine
// than Lethe's own: what a user may write after --engine.
const Variable = "LETHE_TEST_ENGINE"

// Open opens the engine named by LETHE_TEST_ENGINE, or Lethe's own. It has no fallback: an
// engine that was asked for and does not open is an error.
func Open() (*engine.Engine, error) {
	if spec := os.Getenv(Variable); spec != "" {
		return engine.Open(spec)
	}
	return engine.Open("lethe")
}

// WithStore opens that engine and an empty store for a test, which finds no data
// files: only what is generated or built in.
func WithStore(t testing.TB) (*engine.Engine, *store.Store) {
	t.Helper()
	t.Setenv("LETHE_DATA", t.TempDir())
	e, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}
