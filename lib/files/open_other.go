//go:build !unix

package files

import "errors"

// patient and direct are nothing where the system has no such flags; what lies at
// a path is looked at before and after it is opened.
const (
	patient = 0
	direct  = 0
)

// unread is what the system says of a pipe that nobody reads: it has none.
var unread error = errors.New("a pipe that nobody reads")
