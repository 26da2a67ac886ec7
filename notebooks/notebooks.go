// Package notebooks carries the notebooks inside the program, so that lethe can
// unpack them where there is no clone of the repository.
package notebooks

import "embed"

// Files are the notebooks, in one folder per subject.
//
//go:embed start ruler sde fishing blindu audit language
var Files embed.FS
