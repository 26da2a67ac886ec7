//go:build !unix

package files

// patient and direct are nothing where the system has no such flags; what lies at
// a path is looked at before and after it is opened.
const (
	patient = 0
	direct  = 0
)
