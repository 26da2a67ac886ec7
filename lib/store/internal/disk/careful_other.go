//go:build !unix

package disk

// careful is nothing where the system has no such flags; what lies at a path
// is looked at before and after it is opened.
const careful = 0
