// The Python environment with JupyterLab.

package setup

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

//go:embed requirements.txt
var requirements string

// oldestPython is the oldest minor version of Python 3 that the requirements support.
const oldestPython = 10

// python is an interpreter with Jupyter.
type python struct {
	path         string
	lab          string // "jupyterlab" or "notebook"
	borrowedFrom string // where it is not our own
}

type candidate struct {
	Path     string            // as found on PATH
	Version  [2]int            // 3, 11
	Base     string            // the interpreter behind virtual environments and version managers
	Venv     bool              // can make a virtual environment with pip
	Packages map[string]string // versions of what we could borrow
}

// probeScript is the Python code that describes an interpreter.
const probeScript = `
import importlib.util as u, json, os, sys
found = {}
for name in ("jupyterlab", "notebook", "nbclient", "nbconvert", "jupyter_client"):
    try:
        if u.find_spec(name):
            from importlib import metadata
            found[name] = metadata.version(name)
    except Exception:
        pass
print(json.dumps({"Version": sys.version_info[:2], "Base": os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable),
    "Venv": bool(u.find_spec("venv") and u.find_spec("ensurepip")), "Packages": found}))
`

// candidates describes the interpreters on PATH.
func candidates(ctx context.Context) ([]candidate, error) {
	names := []string{"python3", "python"}
	for minor := 20; minor >= oldestPython; minor-- {
		names = append(names, fmt.Sprintf("python3.%d", minor))
	}
	var out []candidate
	seen := map[string]bool{}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		c := candidate{Path: path}
		text, err := proc.Task{Dir: os.TempDir(), Env: os.Environ(), Argv: []string{path, "-c", probeScript}}.Output(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && json.Unmarshal([]byte(text), &c) == nil && c.Version[0] == 3 {
			out = append(out, c)
		}
	}
	return out, nil
}

// makePython makes the virtual environment with JupyterLab, or uses an installed Jupyter if
// pip cannot download.
func (m *machine) makePython(ctx context.Context) error {
	venv := filepath.Join(m.home, "python-"+hashOf(requirements)[:12])
	values, err := m.run(ctx, step{
		stamp: venv + ".json", inputs: []string{requirements, "1"},
		intact: pythonUnchanged,
		do:     func(ctx context.Context) (map[string]string, error) { return m.installPython(ctx, venv) },
	})
	if err != nil {
		return err
	}
	m.py = python{values["python"], values["lab"], values["lender"]}
	if m.py.borrowedFrom != "" {
		m.reporter.note("using %s; lethe clean --all, and lethe lab again, tries pip again", m.py.borrowedFrom)
	}
	return nil
}

// pythonUnchanged reports whether the interpreter is still the one that was set up: a new
// version of Python breaks a virtual environment.
func pythonUnchanged(values map[string]string) bool {
	if !isFile(values["python"]) || fileIdentity(values["base"]) != values["identity"] {
		return false
	}
	until, err := time.Parse(time.RFC3339, values["until"])
	return values["until"] == "" || err == nil && time.Now().Before(until)
}

// fileIdentity returns a text that changes when the file at path is replaced.
func fileIdentity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "gone"
	}
	return fmt.Sprintf("%d %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
}

// borrowFor is how long an installed Jupyter is used before pip is tried again.
const borrowFor = 7 * 24 * time.Hour

func (m *machine) installPython(ctx context.Context, venv string) (map[string]string, error) {
	all, err := candidates(ctx)
	if err != nil {
		return nil, err
	}
	base, refused := choosePython(all)
	if refused == nil {
		if refused = m.makeVenv(ctx, venv, base); refused == nil {
			prune(venv, func(dir string) string { return dir + ".json" })
			path := filepath.Join(venv, "bin", "python")
			return map[string]string{"python": path, "lab": "jupyterlab", "base": base.Base, "identity": fileIdentity(base.Base)}, nil
		}
		_ = os.RemoveAll(venv)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	lender, lab, ok := chooseBorrowed(all)
	if !ok {
		return nil, fmt.Errorf("%w; and no Python on PATH has JupyterLab or notebook together with nbclient, which would do instead", refused)
	}
	m.reporter.note("%v", refused)
	return map[string]string{
		"python": lender.Path, "lab": lab, "base": lender.Base, "identity": fileIdentity(lender.Base),
		"lender": fmt.Sprintf("%s %s of %s", lab, lender.Packages[lab], lender.Path),
		"until":  time.Now().Add(borrowFor).UTC().Format(time.RFC3339),
	}, nil
}

// choosePython chooses the first interpreter that is new enough and can make a virtual
// environment.
func choosePython(all []candidate) (candidate, error) {
	var old, bare string
	for _, c := range all {
		switch {
		case c.Version[1] < oldestPython:
			old = fmt.Sprintf("%s is Python 3.%d", c.Path, c.Version[1])
		case !c.Venv && bare == "":
			bare = fmt.Sprintf("%s (Python 3.%d) cannot make virtual environments: %s", c.Path, c.Version[1], venvHint(c.Version[1]))
		case c.Venv:
			return c, nil
		}
	}
	switch {
	case bare != "":
		return candidate{}, errors.New(bare)
	case old != "":
		return candidate{}, fmt.Errorf("JupyterLab needs Python 3.%d or newer, and %s: %s", oldestPython, old, pythonHint())
	}
	return candidate{}, fmt.Errorf("JupyterLab needs Python 3.%d or newer, and there is no python3 on PATH: %s", oldestPython, pythonHint())
}

func pythonHint() string {
	if runtime.GOOS == "darwin" {
		return "install it with: brew install python"
	}
	for _, c := range [][2]string{{"apt-get", "python3 python3-venv"}, {"dnf", "python3"}, {"zypper", "python3"}} {
		if _, err := exec.LookPath(c[0]); err == nil {
			return "install it with: sudo " + c[0] + " install " + c[1]
		}
	}
	return "install it from https://www.python.org/downloads/"
}

func venvHint(minor int) string {
	if _, err := exec.LookPath("apt-get"); err == nil {
		return fmt.Sprintf("install what is missing with: sudo apt-get install python3.%d-venv", minor)
	}
	return "install its modules venv and ensurepip, or another Python from https://www.python.org/downloads/"
}

// chooseBorrowed chooses an interpreter with a Jupyter server and nbclient.
func chooseBorrowed(all []candidate) (candidate, string, bool) {
	for _, lab := range []string{"jupyterlab", "notebook"} {
		for _, c := range all {
			if c.Packages[lab] != "" && c.Packages["nbclient"] != "" && c.Packages["jupyter_client"] != "" {
				return c, lab, true
			}
		}
	}
	return candidate{}, "", false
}

// makeVenv makes the virtual environment in its final folder, because it cannot be moved.
// The step's stamp marks it as complete.
func (m *machine) makeVenv(ctx context.Context, venv string, base candidate) error {
	m.reporter.begin("installing JupyterLab with "+base.Path, "about a minute, 100 MB")
	defer m.reporter.end()
	if err := os.RemoveAll(venv); err != nil {
		return err
	}
	env := m.pipEnvironment()
	if err := (proc.Task{Env: env, Dir: m.home, Argv: []string{base.Path, "-m", "venv", venv}}).Run(ctx); err != nil {
		return fmt.Errorf("%s cannot make a virtual environment in %s: %w; %s", base.Path, venv, err, venvHint(base.Version[1]))
	}
	list := filepath.Join(venv, "requirements.txt")
	if err := os.WriteFile(list, []byte(requirements), 0o644); err != nil {
		return err
	}
	python := filepath.Join(venv, "bin", "python")
	argv := append([]string{python, "-m", "pip", "install", "--no-warn-script-location"}, pipOptions(list)...)
	err := proc.Task{Dir: m.home, Env: env, Line: m.pipProgress(requirements), Argv: argv}.Run(ctx)
	return pipError("JupyterLab", err)
}

// pipOptions are the options of every download: only listed packages, checked by hash.
func pipOptions(list string) []string {
	return []string{"--require-hashes", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--retries", "2", "--timeout", "20", "-r", list}
}

func (m *machine) pipEnvironment() []string {
	env := unsetEnv(os.Environ(), "PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX")
	return setEnv(env, "PIP_CACHE_DIR="+filepath.Join(m.home, "pip-cache"), "PIP_DISABLE_PIP_VERSION_CHECK=1")
}

// pipProgress counts the packages that pip has collected.
func (m *machine) pipProgress(requirements string) func(string) {
	total := 0
	for line := range strings.Lines(requirements) {
		if strings.Contains(line, "==") && !strings.HasPrefix(line, " ") {
			total++
		}
	}
	collected := 0
	return func(line string) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Collecting "):
			collected++
			m.reporter.progress("%d of about %d packages", collected, total)
		case strings.HasPrefix(line, "Installing collected"):
			m.reporter.progress("unpacking %d packages", collected)
		}
	}
}

// pipError explains why pip failed to install something.
func pipError(what string, err error) error {
	var failed *proc.Failure
	if !errors.As(err, &failed) {
		return err
	}
	line := failed.LineWith("NewConnectionError", "Could not find a version", "Max retries", "ConnectTimeout", "ReadTimeout", "ProxyError",
		"Temporary failure in name resolution", "SSLError", "403 Client Error")
	if line != "" {
		return fmt.Errorf("pip cannot download %s: connect this machine to the network, or set PIP_INDEX_URL to a package "+
			"index that it can reach, and start this again (%s)", what, shorten(line))
	}
	for _, line := range slices.Backward(failed.Lines) {
		if line, found := strings.CutPrefix(line, "ERROR: "); found {
			return fmt.Errorf("pip cannot install %s: %s", what, shorten(line))
		}
	}
	return fmt.Errorf("pip cannot install %s: %s", what, failed.Message())
}

func shorten(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > 200 {
		line = line[:200] + "..."
	}
	return line
}
