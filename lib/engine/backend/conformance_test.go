package backend_test

import (
	"testing"

	"github.com/gomlx/compute/support/backendtest"

	"github.com/lethe-ml/lethe/lib/engine/backend"
)

// TestGoMLXsOwnSuite runs what GoMLX asks of a backend.
func TestGoMLXsOwnSuite(t *testing.T) { backendtest.RunAll(t, backend.Open(2), nil) }
