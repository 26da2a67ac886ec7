// Package datatest finds real data for tests and holds the conformance suite of sets of cells.
package datatest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

// Dir returns the folder of real data and sets LETHE_DATA to it during the test: the folder that
// LETHE_DATA already names, else shared/data beside the checkout. If there is neither it skips the
// test.
func Dir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(datasets.EnvDir); dir != "" {
		return dir
	}
	root, err := moduleRoot()
	if err != nil {
		t.Skipf("no real data: %s is not set and the checkout was not found: %v", datasets.EnvDir, err)
	}
	dir := filepath.Join(filepath.Dir(root), "shared", "data")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Skipf("no real data: %s is not set and there is no folder shared/data beside the checkout", datasets.EnvDir)
	}
	t.Setenv(datasets.EnvDir, dir)
	return dir
}

// moduleRoot walks up from the test's working directory to go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", os.ErrNotExist
		}
		dir = up
	}
}
