// Package paths returns the folders of the program: where it keeps its own files, and
// where its sources are.
package paths

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// EnvHome is the environment variable that names the folder for the program's own files.
const EnvHome = "LETHE_HOME"

// Home returns the folder for the program's own files: LETHE_HOME, or lethe in the user's
// cache folder.
func Home() (string, error) {
	if dir := os.Getenv(EnvHome); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep it in: set %s (%w)", EnvHome, err)
	}
	return filepath.Join(cache, "lethe"), nil
}

// IsOff reports whether the value of an environment variable means "off".
func IsOff(v string) bool {
	switch strings.ToLower(v) {
	case "off", "0", "no", "false":
		return true
	}
	return false
}
