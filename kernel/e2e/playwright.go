package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lethe-ml/lethe/kernel/setup"
)

// testModule runs the steps.
const testModule = "@playwright/test"

// playwright installs what the steps import, at the pinned version, into a
// folder below dir, and returns the folder of modules.
func (m machine) playwright(ctx context.Context, dir string) (string, error) {
	lock, err := driveFiles.ReadFile("drive/package-lock.json")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	home := filepath.Join(dir, hex.EncodeToString(sum[:6]))
	modules := filepath.Join(home, "node_modules")
	if _, err := os.Stat(filepath.Join(modules, testModule, "package.json")); err == nil {
		return modules, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("there is no npm on PATH, which installs %s: install it (on Debian: apt-get install npm)", testModule)
	}
	fmt.Fprintf(m.notes, "lethe: installing %s %s, once\n", testModule, pinned(lock, testModule))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := installModules(ctx, npm, work); err != nil {
		return "", fmt.Errorf("%s cannot be installed; the npm registry has to be reachable once: %w", testModule, err)
	}
	if err := os.RemoveAll(home); err != nil { // what an interrupted removal left
		return "", err
	}
	return modules, os.Rename(work, home)
}

// Remove takes away what a test has installed in home, and returns the folder
// and what it held.
func Remove(home string) (dir string, size int64, err error) {
	dir = installedIn(home)
	size = setup.Size(dir)
	return dir, size, os.RemoveAll(dir)
}

func installedIn(home string) string { return filepath.Join(home, "e2e") }

// installModules lets npm install what the lock file says and nothing else. npm
// checks the hash of what it gets.
func installModules(ctx context.Context, npm, dir string) error {
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := driveFiles.ReadFile("drive/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	cache := filepath.Join(dir, "npm-cache")
	if err := run(ctx, dir, []string{"npm_config_cache=" + cache}, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return err
	}
	return os.RemoveAll(cache)
}

// pinned is the version of a module in a lock file.
func pinned(lock []byte, module string) string {
	var file struct {
		Packages map[string]struct{ Version string }
	}
	_ = json.Unmarshal(lock, &file)
	return file.Packages["node_modules/"+module].Version
}
