// Package e2e tests the notebooks as a reader meets them: JupyterLab, started by
// lethe lab, in a real browser. What the browser does stands in drive, one file
// per step; this package brings together what that needs, and ends all of it.
package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// Steps are the names of the steps, in their order.
var Steps = []string{"run-all", "reopen-untrusted", "sliders", "interrupt", "close-tab", "error", "vega", "complete", "sliders-ruler"}

// Options say what is tested. All fields but Only have to be set.
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
	together   = 6 * time.Minute  // for all steps
	startLab   = 2 * time.Minute  // for lethe lab, where all is set up
	stopDriver = 15 * time.Second // for the browser to be closed
	stopLab    = 30 * time.Second // for JupyterLab and its kernels to end
	endAfter   = 10 * time.Second // for a language server to write its cache
)

// Run runs the steps. Its error says how many failed, or why there are none.
// Nothing that was started is running when it returns.
func Run(ctx context.Context, o Options) (err error) {
	m := thisMachine(o.Notes)
	node, err := m.node(ctx)
	if err != nil {
		return err
	}
	browser, err := m.browser(ctx)
	if err != nil {
		return err
	}
	modules, err := m.driver(ctx, installedIn(o.Home))
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "lethe-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	w := world{Options: o, machine: m, dir: work, mark: markOf(work)}
	defer func() { err = errors.Join(err, leftRunning(w.mark, endAfter)) }()
	if err := w.lay(modules); err != nil {
		return err
	}
	return w.run(ctx, node, browser)
}

// world is one run: a folder that is gone afterwards, and the processes of which
// each has a mark in its environment.
type world struct {
	Options
	machine
	dir  string
	mark string
}

func (w world) path(name string) string { return filepath.Join(w.dir, name) }

// lay puts everything into its place: notebooks, the driver's files beside the
// modules that they import, and room for screenshots.
func (w world) lay(modules string) error {
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
	if err != nil {
		return err
	}
	for _, shot := range old {
		if err := os.Remove(shot); err != nil {
			return err
		}
	}
	return nil
}

func (w world) run(ctx context.Context, node, browser string) error {
	lab, address, err := startAndRead(ctx, w.lab(), startLab)
	if lab != nil {
		defer lab.Stop(stopLab)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Notes, "lethe: JupyterLab is there; screenshots go to %s\n", w.Shots)
	given, err := json.Marshal(map[string]any{
		"url": address, "folder": w.path("notebooks"), "browser": browser, "args": w.browserArgs(),
		"shots": w.Shots, "seconds": together.Seconds(), "only": append([]string{}, w.Only...),
	})
	if err != nil {
		return err
	}
	cmd := exec.Command(node, w.path("drive/main.mjs"), string(given))
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, w.Out, w.Notes
	cmd.Env = append(w.environment(), "TMPDIR="+w.path("tmp")) // of the browser's profile
	driver, err := proc.Start(cmd)
	if err != nil {
		return err
	}
	defer driver.Stop(stopDriver)
	return w.await(ctx, driver, lab)
}

// await returns when the steps are through, or cannot go on.
func (w world) await(ctx context.Context, driver, lab *proc.Child) error {
	late := time.NewTimer(together + stopDriver)
	defer late.Stop()
	select {
	case <-driver.Done:
		if driver.Err != nil {
			return fmt.Errorf("the test in the browser failed (%w); screenshots are in %s", driver.Err, w.Shots)
		}
		return nil
	case <-lab.Done:
		return fmt.Errorf("lethe lab ended during the test: %v", lab.Err)
	case <-late.C:
		return fmt.Errorf("the test in the browser is not done after %v", together)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lab is lethe lab, as a reader starts it, with a store of its own: what the
// test computes was never computed before.
func (w world) lab() *exec.Cmd {
	c := exec.Command(w.Program, "lab", w.path("notebooks"), "--no-browser")
	c.Dir, c.Stderr = w.Root, w.Notes
	c.Env = append(w.environment(), "LETHE_STORE="+w.path("runs"))
	return c
}

// environment is the reader's, with the mark and without what would make the
// notebooks behave otherwise.
func (w world) environment() []string {
	var out []string
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "LETHE_HEADLESS", "LETHE_COMPLETION", "LETHE_STORE":
		default:
			out = append(out, kv)
		}
	}
	return append(out, w.mark)
}

// markOf is the variable in the environment of every process of a run.
func markOf(dir string) string {
	return "LETHE_E2E=" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(dir)
}
