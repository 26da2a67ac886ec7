// Package paths says where the program keeps what it makes for itself, and what
// its own sources are.
package paths

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// EnvHome is the environment variable with the folder for what the program makes.
const EnvHome = "LETHE_HOME"

// Home returns the folder for what the program makes: LETHE_HOME, or lethe in the
// user's cache folder.
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

// IsOff reports whether a variable of the environment switches something off.
func IsOff(v string) bool {
	switch strings.ToLower(v) {
	case "off", "0", "no", "false":
		return true
	}
	return false
}
