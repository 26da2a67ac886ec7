//go:build unix

// Tests of playwright.go.

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheLockFilePinsEveryModuleByItsHash(t *testing.T) {
	b, err := driveFiles.ReadFile("drive/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity, Resolved string }
	}
	if err := json.Unmarshal(b, &lock); err != nil {
		t.Fatal(err)
	}
	if lock.Packages["node_modules/"+testModule].Version == "" {
		t.Errorf("%s has no version", testModule)
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-") || p.Resolved != "") {
			t.Errorf("%s: want a version, a sha512 and no registry's name, have %+v", name, p)
		}
	}
}

// npm installs one file, and leaves something in its cache.
const npm = `echo "$*" >> "$(dirname "$0")/calls"
test -f package-lock.json && mkdir -p node_modules/@playwright/test "$npm_config_cache" || exit 1
echo {} > node_modules/@playwright/test/package.json`

func TestPlaywrightIsInstalledOnceAndTakenAwayAgain(t *testing.T) {
	bin := onlyPrograms(t, map[string]string{"npm": npm})
	home := t.TempDir()
	write(t, filepath.Join(home, "kernel", "mine"), "", 0o644)
	first, err := debian(false).ensurePlaywright(t.Context(), installDir(home))
	if err != nil {
		t.Fatal(err)
	}
	read(t, filepath.Join(first, testModule, "package.json"))
	again, err := debian(false).ensurePlaywright(t.Context(), installDir(home))
	if err != nil || again != first {
		t.Errorf("the second time: %q, %v; want %q", again, err, first)
	}
	if got, want := read(t, filepath.Join(bin, "calls")), "ci --ignore-scripts --no-audit --no-fund\n"; got != want {
		t.Errorf("npm was called with %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(first, "..", "npm-cache")); !os.IsNotExist(err) {
		t.Errorf("npm's cache is still there: %v", err)
	}
	if dir, size, err := Remove(home); dir != installDir(home) || size == 0 || err != nil {
		t.Errorf("Remove returned %q, %d, %v", dir, size, err)
	}
	if left, _ := os.ReadDir(home); len(left) != 1 {
		t.Errorf("after Remove there is %v", left)
	}
}

func TestAFailedInstallationLeavesNothing(t *testing.T) {
	onlyPrograms(t, map[string]string{"npm": "mkdir -p node_modules/@playwright/test; echo npm error ENOTFOUND; exit 1"})
	home := t.TempDir()
	_, err := debian(false).ensurePlaywright(t.Context(), home)
	if err == nil || !strings.Contains(err.Error(), "ENOTFOUND") || !strings.Contains(err.Error(), "registry") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMissingNpmSaysWhatToInstall(t *testing.T) {
	onlyPrograms(t, nil)
	if _, err := debian(false).ensurePlaywright(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "apt-get install npm") {
		t.Errorf("got %v", err)
	}
}

func TestEveryStepHasANumberAndATitle(t *testing.T) {
	want := []string{"run-all", "reopen-untrusted", "sliders", "interrupt", "close-tab", "error", "vega", "complete", "sliders-ruler", "launcher", "audit", "sliders-meanwhile", "words", "controls", "own-data"}
	if got := Steps(); !slices.Equal(got, want) {
		t.Errorf("steps %q", got)
	}
	for i, name := range want {
		b, err := driveFiles.ReadFile(fmt.Sprintf("drive/steps/%02d-%s.mjs", i+1, name))
		if err != nil || strings.Count(string(b), "\ntest(") != 1 || !strings.Contains(string(b), "test.setTimeout(") {
			t.Errorf("%s is no step with a limit: %v", name, err)
		}
	}
}
