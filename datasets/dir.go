// The data folder.

package datasets

import (
	"fmt"
	"os"
	"path/filepath"
)

// EnvDir is the environment variable that names the data folder.
const EnvDir = "LETHE_DATA"

// Dir returns the data folder: $LETHE_DATA if it is set, else lethe/data in the user's cache
// folder. It holds one folder per data set with the publisher's files, plain or as .gz. Dir does
// not create it.
func Dir() (string, error) {
	if dir := os.Getenv(EnvDir); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("datasets: no folder for data: set %s (%w)", EnvDir, err)
	}
	return filepath.Join(cache, "lethe", "data"), nil
}
