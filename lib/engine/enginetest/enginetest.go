// Package enginetest opens the engine that tests run on.
package enginetest

import (
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/store"
)

// Variable is the environment variable that selects the engine of tests; its values are
// those of --engine.
const Variable = "LETHE_TEST_ENGINE"

// Open opens the engine named by LETHE_TEST_ENGINE, or Lethe's own. There is no fallback: an
// engine that does not open is an error.
func Open() (*engine.Engine, error) {
	if spec := os.Getenv(Variable); spec != "" {
		return engine.Open(spec)
	}
	return engine.Open("lethe")
}

// OpenDevice opens an engine with loops in graphs as one with separate memory: the engine
// named by LETHE_TEST_ENGINE, or GoMLX's Go backend.
func OpenDevice() (*engine.Engine, error) {
	spec := os.Getenv(Variable)
	if spec == "" || spec == "lethe" {
		spec = "go"
	}
	e, err := engine.Open(spec)
	if err != nil {
		return nil, err
	}
	return e.WithSeparateMemory(), nil
}

// WithStore opens that engine and an empty store for a test. The test finds no data files.
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
