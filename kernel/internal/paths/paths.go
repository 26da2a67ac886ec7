// Package paths returns the folders of the program: where it keeps its own files, and
// where its sources are.
package paths

import (
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// EnvHome is the environment variable that names the folder for the program's own files.
const EnvHome = files.EnvHome

// Home returns the folder for the program's own files.
func Home() (string, error) { return files.Home() }

// IsOff reports whether the value of an environment variable means "off".
func IsOff(v string) bool {
	switch strings.ToLower(v) {
	case "off", "0", "no", "false":
		return true
	}
	return false
}
