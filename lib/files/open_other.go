//go:build !unix

package files

import "errors"

// openNonblock and openNoLink are 0 where the system has no such flags; the kind of a
// file is checked before and after it is opened.
const (
	openNonblock = 0
	openNoLink   = 0
)

// errNoReader stands for the system's error for a pipe without a reader, which this system
// does not have.
var errNoReader error = errors.New("a pipe without a reader")
