// Out of memory on a device.

package engine

import "errors"

// IsOutOfMemory reports whether an execution failed because the device's memory is too small.
func IsOutOfMemory(err error) bool { return errors.Is(Explain(err), ErrMemory) }
