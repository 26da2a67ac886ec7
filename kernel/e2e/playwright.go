// Installing Playwright.

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/files"
)

const testModule = "@playwright/test"

// ensurePlaywright installs the pinned version of the steps' modules into a folder below
// dir, and returns the folder of modules.
func (m host) ensurePlaywright(ctx context.Context, dir string) (string, error) {
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
	fmt.Fprintf(m.notes, "lethe: installing %s, once\n", testModule)
	err = files.WriteFolder(home, func(work string) error { return installModules(ctx, npm, work) })
	if err != nil {
		return "", fmt.Errorf("%s cannot be installed; the npm registry has to be reachable once: %w", testModule, err)
	}
	return modules, nil
}

// Remove removes what a test has installed in home, and returns the folder and its former
// size.
func Remove(home string) (dir string, size int64, err error) {
	dir = installDir(home)
	size = setup.FolderSize(dir)
	return dir, size, os.RemoveAll(dir)
}

func installDir(home string) string { return filepath.Join(home, "e2e") }

// installModules installs with npm exactly what the lock file lists. npm checks the hashes.
func installModules(ctx context.Context, npm, dir string) error {
	drive, err := fs.Sub(driveFiles, "drive")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, drive); err != nil {
		return err
	}
	cache := filepath.Join(dir, "npm-cache")
	if err := runCommand(ctx, dir, []string{"npm_config_cache=" + cache}, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return err
	}
	return os.RemoveAll(cache)
}
