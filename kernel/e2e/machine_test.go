//go:build unix

// Tests of machine.go.

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFirstKnownBrowserOnPathIsTaken(t *testing.T) {
	dir := onlyPrograms(t, map[string]string{"google-chrome": "", "chromium-browser": "", "firefox": ""})
	got, err := debian(true).ensureBrowser(t.Context())
	if want := filepath.Join(dir, "chromium-browser"); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestTheNamedBrowserComesFirst(t *testing.T) {
	dir := onlyPrograms(t, map[string]string{"chromium": "", "mine": ""})
	mine := filepath.Join(dir, "mine")
	t.Setenv(EnvChromium, mine)
	if got, err := debian(false).ensureBrowser(t.Context()); err != nil || got != mine {
		t.Errorf("got %q, %v; want %q", got, err, mine)
	}
}

func TestANamedBrowserThatIsNotThereIsNotReplaced(t *testing.T) {
	onlyPrograms(t, map[string]string{"chromium": ""})
	t.Setenv(EnvChromium, "/nowhere/chrome")
	got, err := debian(false).ensureBrowser(t.Context())
	if err == nil || !strings.Contains(err.Error(), EnvChromium) || !strings.Contains(err.Error(), "/nowhere/chrome") {
		t.Errorf("got %q, %v", got, err)
	}
}

// aptGet installs chromium beside itself, once it has fetched its list.
const aptGet = `here=$(dirname "$0")
echo "$*" >> "$here/calls"
case $1 in
update) touch "$here/list" ;;
install)
	test -f "$here/list" || { echo "E: Unable to locate package chromium"; exit 100; }
	printf '#!/bin/sh\n' > "$here/chromium" && chmod +x "$here/chromium" ;;
esac`

func TestRootOnDebianGetsChromiumInstalled(t *testing.T) {
	dir := onlyPrograms(t, map[string]string{"apt-get": aptGet})
	got, err := debian(true).ensureBrowser(t.Context())
	if want := filepath.Join(dir, "chromium"); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	const install = "install -y --no-install-recommends chromium\n"
	if got, want := read(t, filepath.Join(dir, "calls")), install+"update\n"+install; got != want {
		t.Errorf("apt-get was called with\n%swant\n%s", got, want)
	}
}

func TestOnlyRootGetsPackagesInstalled(t *testing.T) {
	onlyPrograms(t, map[string]string{"apt-get": "touch $(dirname $0)/chromium"})
	_, err := debian(false).ensureBrowser(t.Context())
	if err == nil || !strings.Contains(err.Error(), "apt-get install chromium") || !strings.Contains(err.Error(), EnvChromium) {
		t.Errorf("the error does not say what to do: %v", err)
	}
	onlyPrograms(t, nil)
	if _, err := debian(true).ensureBrowser(t.Context()); err == nil || !strings.Contains(err.Error(), "Chrome") {
		t.Errorf("without apt-get: %v", err)
	}
}

func TestAFailedInstallationShowsAptsLastWords(t *testing.T) {
	onlyPrograms(t, map[string]string{"apt-get": "echo E: no space left; exit 100"})
	if _, err := debian(true).ensureBrowser(t.Context()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

func TestNodeHasToBeThereAndNewEnough(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
	}{
		{"new", "echo v20.1.0", ""},
		{"newer", "echo v101.0.0", ""},
		{"old", "echo v18.20.4", "version v18.20.4: install Node.js 20"},
		{"strange", "echo unknown", "version unknown"},
		{"broken", "exit 1", "--version"},
		{"missing", "", "no node on PATH: install Node.js 20"},
	} {
		scripts := map[string]string{}
		if c.script != "" {
			scripts["node"] = c.script
		}
		dir := onlyPrograms(t, scripts)
		got, err := debian(false).findNode(t.Context())
		if c.want == "" {
			if err != nil || got != filepath.Join(dir, "node") {
				t.Errorf("%s: got %q, %v", c.name, got, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", c.name, err, c.want)
		}
	}
}
