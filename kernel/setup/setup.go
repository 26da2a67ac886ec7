// Package setup prepares a machine for notebooks: the tools of the Go kernel, JupyterLab,
// a filled build cache and the kernelspecs. It writes into one folder, does each step
// once, and can be interrupted at any point and called again.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
)

// Module is the path of the library's module.
const Module = paths.Module

// EnvCompletion is the environment variable whose value "off" sets Options.NoCompletion.
const EnvCompletion = "LETHE_COMPLETION"

// Kernel names.
const (
	KernelGo   = "lethe-go"   // "Lethe (Go)"
	KernelXLA  = "lethe-xla"  // "Lethe (Go, XLA)"
	KernelCUDA = "lethe-cuda" // "Lethe (Go, CUDA)"
)

// AllKernels are the names of all kernels.
var AllKernels = []string{KernelGo, KernelXLA, KernelCUDA}

// Options say what to prepare. The zero value is for `lethe lab` in the working directory.
type Options struct {
	Home         string    // folder for what is made; empty: paths.Home()
	Folder       string    // folder of the notebooks, made where it is missing; empty: the working directory
	Module       string    // a clone that cells import from, wherever the notebooks are; empty: see locate
	Out          io.Writer // notes and progress; nil: nothing is printed
	NoCompletion bool      // kernels without gopls, which can take 600 MB each
	Notebooks    fs.FS     // unpacked where there is no clone; a clone's own are used instead; nil: none, only the kernel is wanted
	Copies       bool      // inside a clone, serve copies of its notebooks, which git does not see

	disk func(folder string) (free int64, known bool) // nil: freeDisk
}

// Ready describes a machine on which cells run.
type Ready struct {
	Home         string   // folder of everything that was made
	Root         string   // folder of the module that cells import from: the clone, or a generated module
	Clone        bool     // Root is a clone of the library
	Notebooks    string   // folder that JupyterLab opens
	Unpacked     string   // folder of the unpacked notebooks: Notebooks, or a folder in it; empty: none were unpacked
	Python       string   // interpreter with nbclient and nbconvert
	Lab          string   // Python module of the server: "jupyterlab", or "notebook" where the machine only has that
	BorrowedFrom string   // says whose Jupyter it is where it is not our own
	Kernel       string   // name of the kernel: KernelGo
	XLA          bool     // there is a KernelXLA too
	CUDA         bool     // there is a KernelCUDA too
	Kernels      string   // folder of the kernelspecs
	Env          []string // environment for Jupyter and Python processes
}

// Prepare does the missing steps and describes the machine. If nothing is missing it prints
// nothing. Its error names what is missing and how to get it, or is that of ctx.
func Prepare(ctx context.Context, o Options) (*Ready, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("the notebook kernel needs Linux or macOS; on Windows, run lethe inside WSL (wsl --install)")
	}
	m, err := newMachine(o)
	if err != nil {
		return nil, err
	}
	return m.prepare(ctx)
}

func (m *machine) prepare(ctx context.Context) (*Ready, error) {
	defer m.unlock()
	m.lock.fullSetup = true
	// What a user can mend comes before what takes minutes: no library, no Go tool, a folder
	// that cannot be written.
	for _, part := range []func(context.Context) error{
		m.locate, m.findGo, m.unpack, m.buildTools, m.makePython, m.buildRelay, m.warm, m.warmCompletion, m.writeSpecs, m.configure,
	} {
		if err := part(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, err
		}
	}
	return m.ready(), nil
}

// machine is the state of the set-up.
type machine struct {
	options     Options
	named       bool   // Options.Folder was given
	built       build  // what this program was built from
	home        string // folder of the kernel's things, in Options.Home
	reporter    *reporter
	lock        *setupLock
	location    location
	tool        goTool
	tools       string // folder of gonb, goimports and gopls
	buildDir    string // folder of what was built from place.root
	py          python
	spec        string   // JUPYTER_PATH with the kernelspecs
	more        []string // the kernels besides KernelGo
	inspectOnly bool     // only look: a step that is not done is an error
	stale       bool     // looking, a step was seen that was done with other inputs
}

func newMachine(o Options) (*machine, error) {
	if o.Home == "" {
		home, err := paths.Home()
		if err != nil {
			return nil, err
		}
		o.Home = home
	}
	named := o.Folder != ""
	absolute := []*string{&o.Home, &o.Folder}
	if o.Module != "" {
		absolute = append(absolute, &o.Module)
	}
	for _, path := range absolute {
		abs, err := filepath.Abs(*path) // of "" it is the working directory
		if err != nil {
			return nil, err
		}
		*path = abs
	}
	if strings.ContainsAny(o.Home, ",:\n") {
		return nil, fmt.Errorf("the folder %q has a comma or a colon in its name, which the Go kernel cannot pass on: set %s to "+
			"another folder", o.Home, paths.EnvHome)
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if paths.IsOff(os.Getenv(EnvCompletion)) {
		o.NoCompletion = true
	}
	home := filepath.Join(o.Home, "kernel")
	say := newReporter(o.Out)
	return &machine{options: o, named: named, built: thisBuild(), home: home, reporter: say, lock: newLock(home, say)}, nil
}

func (m *machine) unlock() { m.lock.release() }

func (m *machine) ready() *Ready {
	return &Ready{
		Home: m.options.Home, Root: m.location.root, Clone: m.location.clone, Notebooks: m.location.notebooks, Unpacked: m.location.unpacked,
		Python: m.py.path, Lab: m.py.lab, BorrowedFrom: m.py.borrowedFrom, Kernel: KernelGo,
		XLA: slices.Contains(m.more, KernelXLA), CUDA: slices.Contains(m.more, KernelCUDA),
		Kernels: filepath.Join(m.spec, "kernels"), Env: m.environment(),
	}
}
