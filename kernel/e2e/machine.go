// The programs that the test needs: a browser, Node.js, npm.

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// EnvChromium is the variable that names a Chromium that is not on PATH.
const EnvChromium = "LETHE_CHROMIUM"

// browserNames are the supported browsers on PATH.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// macChrome is the path of Chrome on macOS.
const macChrome = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

// host is the machine on which the test installs what is missing.
type host struct {
	notes  io.Writer
	system string
	root   bool // may install packages
}

// ensureBrowser finds a Chromium, or installs Debian's.
func (m host) ensureBrowser(ctx context.Context) (string, error) {
	if named := os.Getenv(EnvChromium); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s names no program: %w", EnvChromium, err)
		}
		return path, nil
	}
	if path, ok := m.findBrowser(); ok {
		return path, nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil || !m.root {
		return "", fmt.Errorf("the test needs Chromium or Chrome: install one (on Debian: apt-get install chromium), or name the program in %s", EnvChromium)
	}
	fmt.Fprintln(m.notes, "lethe: installing chromium, once, about a minute")
	if err := m.install(ctx, "chromium"); err != nil {
		return "", fmt.Errorf("chromium cannot be installed: %w", err)
	}
	if path, ok := m.findBrowser(); ok {
		return path, nil
	}
	return "", errors.New("apt-get installed chromium, and there is still none on PATH")
}

func (m host) findBrowser() (string, bool) {
	names := browserNames
	if m.system == "darwin" {
		names = append([]string{macChrome}, names...)
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// install installs a Debian package, after an update of the package list if necessary.
func (m host) install(ctx context.Context, name string) error {
	install := []string{"apt-get", "install", "-y", "--no-install-recommends", name}
	if runCommand(ctx, "", nil, install...) == nil {
		return nil
	}
	if err := runCommand(ctx, "", nil, "apt-get", "update"); err != nil {
		return err
	}
	return runCommand(ctx, "", nil, install...)
}

// oldestNode is the version that the pinned Playwright needs.
const oldestNode = 20

// findNode finds Node.js and npm.
func (m host) findNode(ctx context.Context) (string, error) {
	const how = "install Node.js %d or newer with npm (on Debian: apt-get install nodejs npm)"
	path, err := exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("the steps in the browser are a Node script, and there is no node on PATH: "+how, oldestNode)
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	var major int // of v20.1.2; 0 of anything else
	if _, _ = fmt.Sscanf(string(out), "v%d.", &major); major < oldestNode {
		return "", fmt.Errorf("%s is version %s: "+how, path, strings.TrimSpace(string(out)), oldestNode)
	}
	return path, nil
}

func runCommand(ctx context.Context, dir string, env []string, argv ...string) error {
	return proc.Task{Dir: dir, Env: slices.Concat(os.Environ(), []string{"DEBIAN_FRONTEND=noninteractive"}, env), Argv: argv}.Run(ctx)
}
