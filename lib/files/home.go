// The folder for the program's own files.

package files

import (
	"fmt"
	"os"
	"path/filepath"
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
