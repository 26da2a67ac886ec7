// Which errors are failures of a device.

package engine

import "errors"

// IsOutOfMemory reports whether an execution failed because the device's memory is too small.
func IsOutOfMemory(err error) bool { return errors.Is(Explain(err), ErrMemory) }

// HasFailed reports whether an execution failed because the device's memory is too small or the
// device itself has failed.
func HasFailed(err error) bool { return IsOutOfMemory(err) || errors.Is(Explain(err), ErrCard) }
