//go:build unix

package e2e

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	if pinned(b, driverModule) == "" {
		t.Errorf("%s has no version", driverModule)
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-") || p.Resolved != "") {
			t.Errorf("%s: want a version, a sha512 and no registry's name, have %+v", name, p)
		}
	}
}

// npm installs one file, and leaves something in its cache.
const npm = `echo "$*" >> "$(dirname "$0")/calls"
test -f package-lock.json && mkdir -p node_modules/playwright-core "$npm_config_cache" || exit 1
echo {} > node_modules/playwright-core/package.json`

func TestTheDriverIsInstalledOnceAndTakenAwayAgain(t *testing.T) {
	bin := onlyPrograms(t, map[string]string{"npm": npm})
	home := t.TempDir()
	write(t, filepath.Join(home, "kernel", "mine"), "", 0o644)
	first, err := debian(false).driver(t.Context(), installedIn(home))
	if err != nil {
		t.Fatal(err)
	}
	read(t, filepath.Join(first, driverModule, "package.json"))
	again, err := debian(false).driver(t.Context(), installedIn(home))
	if err != nil || again != first {
		t.Errorf("the second time: %q, %v; want %q", again, err, first)
	}
	if got, want := read(t, filepath.Join(bin, "calls")), "ci --ignore-scripts --no-audit --no-fund\n"; got != want {
		t.Errorf("npm was called with %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(first, "..", "npm-cache")); !os.IsNotExist(err) {
		t.Errorf("npm's cache is still there: %v", err)
	}
	if dir, size, err := Remove(home); dir != installedIn(home) || size == 0 || err != nil {
		t.Errorf("Remove returned %q, %d, %v", dir, size, err)
	}
	if left, _ := os.ReadDir(home); len(left) != 1 {
		t.Errorf("after Remove there is %v", left)
	}
}

func TestAFailedInstallationLeavesNothing(t *testing.T) {
	onlyPrograms(t, map[string]string{"npm": "mkdir -p node_modules/playwright-core; echo npm error ENOTFOUND; exit 1"})
	home := t.TempDir()
	_, err := debian(false).driver(t.Context(), home)
	if err == nil || !strings.Contains(err.Error(), "ENOTFOUND") || !strings.Contains(err.Error(), "registry") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMissingNpmSaysWhatToInstall(t *testing.T) {
	onlyPrograms(t, nil)
	if _, err := debian(false).driver(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "apt-get install npm") {
		t.Errorf("got %v", err)
	}
}

func TestStepsAreThoseOfTheScriptsInTheirOrder(t *testing.T) {
	names := map[string]string{} // by the name of their constant
	err := fs.WalkDir(driveFiles, "drive/steps", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := driveFiles.ReadFile(path)
		if err != nil {
			return err
		}
		if found := regexp.MustCompile(`export const (\w+) = \{\s+name: "([\w-]+)"`).FindSubmatch(b); found != nil {
			names[string(found[1])] = string(found[2])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	index, err := driveFiles.ReadFile("drive/steps/index.mjs")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)steps = \[(.*)\]`).FindSubmatch(index)
	if list == nil {
		t.Fatal("index.mjs has no list of steps")
	}
	var got []string
	for _, constant := range regexp.MustCompile(`\w+`).FindAllString(string(list[1]), -1) {
		got = append(got, names[constant])
	}
	if !slices.Equal(got, Steps) || len(names) != len(Steps) {
		t.Errorf("the scripts have %q, Steps has %q", got, Steps)
	}
}
