// Which errors are failures of a device.

package engine

import (
	"errors"

	"github.com/lethe-ml/lethe/lib/engine/backend"
)

// Reserve checks that this process can take n bytes of the host's memory that the caller is about to
// take, and keeps them from other callers until taken is called.
func Reserve(n int64) (taken func(), err error) { return backend.Reserve(n) }

// IsOutOfMemory reports whether an execution failed because the device's memory is too small.
func IsOutOfMemory(err error) bool { return errors.Is(Explain(err), ErrMemory) }

// HasFailed reports whether an execution failed because the device's memory is too small or the
// device itself has failed.
func HasFailed(err error) bool { return IsOutOfMemory(err) || errors.Is(Explain(err), ErrCard) }
