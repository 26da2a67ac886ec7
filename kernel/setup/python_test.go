// Tests of python.go.

package setup

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestWithoutPythonTheCureIsSaid(t *testing.T) {
	w := newTestMachine(t)
	w.program("python3", "#!/bin/sh\nexit 127\n")
	w.program("apt-get", "#!/bin/sh\n")
	w.fails("needs Python 3.10 or newer", "there is no python3 on PATH", "no Python on PATH has JupyterLab")
}

func TestAnOldPythonIsNamed(t *testing.T) {
	w := newTestMachine(t)
	w.python(3, 8, true, nil)
	w.fails("python3 is Python 3.8", "needs Python 3.10 or newer")
}

func TestWithoutVenvTheDebianPackageIsNamed(t *testing.T) {
	w := newTestMachine(t)
	w.program("apt-get", "#!/bin/sh\n")
	w.python(3, 11, false, nil)
	w.fails("cannot make virtual environments", "sudo apt-get install python3.11-venv")
	w.python(3, 11, true, nil)
	w.ready()
}

func TestOfflineWithoutAJupyterTheReasonIsSaidOnce(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("offline", "")
	w.fails("pip cannot download JupyterLab", "PIP_INDEX_URL", "NewConnectionError", "no Python on PATH has JupyterLab")
	venvs, err := filepath.Glob(filepath.Join(w.home, "kernel", "python-*"))
	if err != nil || len(venvs) != 0 {
		t.Errorf("left %v, %v", venvs, err)
	}
	w.remove("offline")
	w.calls()
	w.ready()
	for _, call := range w.calls() {
		if strings.Contains(call, goimportsPath) {
			t.Errorf("done twice: %q", call)
		}
	}
}

func TestOfflineTheJupyterOfTheMachineIsBorrowed(t *testing.T) {
	for lab, packages := range map[string]map[string]string{
		"jupyterlab": {"jupyterlab": "4.0.1", "notebook": "6.4.12", "nbclient": "0.7.2", "jupyter_client": "7.4.9"},
		"notebook":   {"notebook": "6.4.12", "nbclient": "0.7.2", "jupyter_client": "7.4.9"},
	} {
		t.Run(lab, func(t *testing.T) {
			w := newTestMachine(t)
			w.writeFile("offline", "")
			w.python(3, 11, true, packages)
			r := w.ready()
			if r.Lab != lab || r.Python != filepath.Join(w.dir, "bin", "python3") || !strings.Contains(r.BorrowedFrom, lab+" "+packages[lab]) {
				t.Errorf("%+v", r)
			}
			if said := w.printed(); !strings.Contains(said, "pip cannot download") || !strings.Contains(said, "using "+r.BorrowedFrom) {
				t.Errorf("said %q", said)
			}
			w.calls()
			w.ready()
			if calls := w.calls(); len(calls) != 0 {
				t.Errorf("pip is tried at every start: %q", calls)
			}
		})
	}
}

func TestANotebookWithoutNbclientIsNotBorrowed(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("offline", "")
	w.python(3, 11, true, map[string]string{"notebook": "6.4.12", "jupyter_client": "7.4.9"})
	w.fails("no Python on PATH has JupyterLab")
}

func TestAnotherPythonUnderTheEnvironmentMakesItAnew(t *testing.T) {
	w := newTestMachine(t)
	w.ready()
	w.calls()
	w.program("python3", fakePython+"# version 3.13\n")
	w.ready()
	if calls := w.calls(); len(calls) != 2 || !strings.Contains(calls[0], "-m venv") {
		t.Errorf("calls %q", calls)
	}
}

func TestPipIsAskedForHashes(t *testing.T) {
	w := newTestMachine(t)
	w.ready()
	for _, call := range w.calls() {
		if strings.Contains(call, "-m pip") {
			for _, flag := range []string{"--require-hashes", "--no-input", "--disable-pip-version-check"} {
				if !strings.Contains(call, flag) {
					t.Errorf("%q has no %s", call, flag)
				}
			}
		}
	}
}

func TestEveryRequirementIsPinnedWithHashes(t *testing.T) {
	pin := regexp.MustCompile(`^([a-z0-9-]+)==[0-9][0-9a-z.]*( ;.*)? \\$`)
	names, hashes := map[string]bool{}, 0
	for line := range strings.Lines(requirements) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "    --hash=sha256:"):
			hashes++
		case strings.HasPrefix(strings.TrimSpace(line), "#"), line == "":
		default:
			m := pin.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("not pinned: %q", line)
				continue
			}
			if len(names) > 0 && hashes == 0 {
				t.Errorf("no hash before %q", line)
			}
			names[m[1]], hashes = true, 0
		}
	}
	asked, err := os.ReadFile("requirements.in")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(asked)) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "#") && !names[name] {
			t.Errorf("%s is asked for in requirements.in and not in requirements.txt", name)
		}
	}
	if len(names) < 50 {
		t.Errorf("only %d packages", len(names))
	}
}
