// Out of memory on a device.

package engine

import "strings"

// IsOutOfMemory reports whether an execution failed because the device's memory is too small.
func IsOutOfMemory(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "RESOURCE_EXHAUSTED") || strings.Contains(err.Error(), "Out of memory"))
}
