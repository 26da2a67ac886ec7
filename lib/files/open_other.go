//go:build !unix

package files

import "errors"

// openNonblock and openNoLink are nothing where the system has no such flags; what lies at
// a path is looked at before and after it is opened.
const (
	openNonblock = 0
	openNoLink   = 0
)

// errNoReader is what the system says of a pipe that nobody reads: it has none.
var errNoReader error = errors.New("a pipe that nobody reads")
