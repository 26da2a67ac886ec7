// Package e2e tests the notebooks in JupyterLab, started by lethe lab, in a real browser.
// The steps are Playwright scripts in the folder drive, one file each; this package
// installs what they need, runs them, and ends everything that they have started.
package e2e

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// driveFiles are the steps, Playwright's configuration, and its pinned version with hashes.
//
//go:embed drive
var driveFiles embed.FS

// Steps returns the names of the steps, in order. The file of a step is its number, a
// hyphen and its name.
func Steps() []string {
	var names []string
	files, _ := fs.Glob(driveFiles, "drive/steps/*.mjs") // sorted; the pattern is right
	for _, file := range files {
		_, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".mjs"), "-")
		names = append(names, name)
	}
	return names
}

// Options say what is tested. All fields but Only are required.
type Options struct {
	Program   string // the lethe program
	Root      string // the clone, which notebooks are compiled in
	Home      string // folder for what has to be installed
	Notebooks fs.FS  // copied, so that the repository's files stay as they are
	Shots     string // folder for the screenshots
	Only      []string
	Out       io.Writer // a line per step
	Notes     io.Writer // what is being installed or started; used by several goroutines
}

const (
	testTimeout = 17 * time.Minute // for Playwright, which has limits of its own
	stopTimeout = time.Minute      // for the browser, JupyterLab and its kernels to end
)

// cacheTimeout is the time for a language server to write its cache; tests wait less.
var cacheTimeout = 10 * time.Second

// Run runs the steps. Its error says that steps failed, or why none ran. Nothing that was
// started is running when it returns.
func Run(ctx context.Context, o Options) (err error) {
	m := host{notes: o.Notes, system: runtime.GOOS, root: os.Getuid() == 0}
	node, err := m.findNode(ctx)
	if err != nil {
		return err
	}
	browser, err := m.ensureBrowser(ctx)
	if err != nil {
		return err
	}
	modules, err := m.ensurePlaywright(ctx, installDir(o.Home))
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "lethe-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	w := testRun{Options: o, dir: work, mark: "LETHE_E2E=" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(work)}
	defer func() { err = errors.Join(err, endLeftovers(w.mark, cacheTimeout)) }()
	if err := w.prepare(modules); err != nil {
		return err
	}
	return w.run(ctx, node, browser)
}

// testRun is one run: a temporary folder, and processes that have a mark in their
// environment.
type testRun struct {
	Options
	dir  string
	mark string
}

func (w testRun) path(name string) string { return filepath.Join(w.dir, name) }

// prepare fills the folder: notebooks, steps, modules, and folders for screenshots and
// temporary files.
func (w testRun) prepare(modules string) error {
	if err := os.CopyFS(w.path("notebooks"), w.Notebooks); err != nil {
		return err
	}
	if err := os.CopyFS(w.dir, driveFiles); err != nil {
		return err
	}
	if err := os.Symlink(modules, w.path("node_modules")); err != nil {
		return err
	}
	for _, dir := range []string{w.path("tmp"), w.Shots} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	old, err := filepath.Glob(filepath.Join(w.Shots, "*.png"))
	for _, shot := range old {
		err = errors.Join(err, os.Remove(shot))
	}
	return err
}

func (w testRun) run(ctx context.Context, node, browser string) error {
	config, err := json.Marshal(map[string]string{"program": w.Program, "folder": w.path("notebooks"), "browser": browser, "shots": w.Shots})
	if err != nil {
		return err
	}
	cmd := exec.Command(node, w.path("node_modules/@playwright/test/cli.js"), "test", "--config", w.path("drive/playwright.config.mjs"))
	for _, name := range w.Only {
		cmd.Args = append(cmd.Args, `/\d+-`+name+`\.mjs$`)
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.Root, w.Out, w.Notes
	cmd.Env = append(w.environment(), "LETHE_E2E_GIVEN="+string(config), "FORCE_COLOR=0")
	cmd.WaitDelay = 5 * time.Second
	test, err := proc.Start(cmd)
	if err != nil {
		return err
	}
	late := time.NewTimer(testTimeout)
	defer late.Stop()
	select {
	case <-test.Done:
	case <-late.C:
		err = fmt.Errorf("the test in the browser is not done after %v", testTimeout)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		proc.Interrupt(test.Process.Pid) // which Playwright listens to
		test.Ended(stopTimeout)
	}
	test.Stop(0)
	if err == nil && test.Err != nil {
		err = fmt.Errorf("the test in the browser failed (%w); screenshots are in %s", test.Err, w.Shots)
	}
	return err
}

// environment returns the user's environment with the mark, without settings that change
// the notebooks' behaviour, and with an empty folder for temporary files and one for
// results.
func (w testRun) environment() []string {
	ours := []string{"TMPDIR=" + w.path("tmp"), "LETHE_STORE=" + w.path("runs"), w.mark}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"LETHE_HEADLESS", "LETHE_COMPLETION", "LETHE_STORE", "TMPDIR"}, name)
	})
	return append(env, ours...)
}
