// Package engine opens the GoMLX backend that runs all numerical work, and provides named
// random streams and exact graph sums.
//
// The default is Lethe's own backend (package backend). It needs no cgo, plugin, build flag
// or download, and gives the same bits on every processor (tested on amd64 with AVX-512,
// AVX2 and neither, and on arm64 in an emulator). XLA needs a program built with cgo, which
// every Linux program is if there is a C compiler, and a PJRT plugin. GoMLX's Go backend is
// there for comparison; it is much slower.
package engine

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"

	"github.com/lethe-ml/lethe/lib/engine/backend"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/engine/plugin"
	"github.com/lethe-ml/lethe/lib/internal/panics"
)

// Info describes an engine. It is part of every result's provenance, because the last bits
// of a float32 result depend on the engine.
type Info struct {
	Kind   string `json:"kind"`   // "go", "xla" or "lethe"
	Kernel string `json:"kernel"` // for Lethe's backend the version of its arithmetic; for XLA the platform or plugin; for GoMLX's Go backend "scalar"
	Why    string `json:"-"`      // why this engine was opened
	Device Device `json:"-"`      // what XLA computes on; not part of keys
}

// Device describes what XLA computes on, for provenance. What is not known is empty.
type Device struct {
	Name   string // name of the card: "NVIDIA H100 80GB HBM3"
	Driver string // version of the driver: "580.65.06"
	Plugin string // the plugin with its versions: "xla_cuda_plugin of JAX 0.11.2, PJRT 0.115"
	Flags  string // the flags that it was opened with, and NVIDIA_TF32_OVERRIDE; without paths
}

// String returns the device in one line, "" if nothing is known.
func (d Device) String() string {
	var parts []string
	for _, part := range [][2]string{{"", d.Name}, {"driver ", d.Driver}, {"plugin ", d.Plugin}, {"flags ", d.Flags}} {
		if part[1] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	return strings.Join(parts, "; ")
}

// String returns the short form used in store keys and captions: "go/avx512".
func (i Info) String() string { return i.Kind + "/" + i.Kernel }

// EnvEngine is the environment variable with the engine where none is named.
const EnvEngine = "LETHE_ENGINE"

// EnvPlugin is the environment variable with the path of a PJRT plugin to use if none is
// found by name.
const EnvPlugin = "LETHE_XLA_PLUGIN"

// Engine is an open backend. It is safe for concurrent use.
type Engine struct {
	backend        compute.Backend
	info           Info
	chunk          int
	slots          chan struct{}
	separateMemory bool // see SeparateMemory
	precision      Precision
	plugin         xlaPlugin // nil for other engines
}

// xlaPlugin is what an engine asks of an open plugin.
type xlaPlugin interface {
	Interface() string // version of its PJRT interface
	Counts() plugin.Counts
	Device() plugin.Device
	Forget() // before its client ends
}

// Open opens the engine that spec names:
//
//	auto                     lethe: another engine has other last bits, so it is never chosen unasked
//	lethe                    Lethe's own backend, see package backend
//	go                       GoMLX's Go backend, for comparison
//	xla                      CUDA's PJRT plugin, the CPU's, or the file that LETHE_XLA_PLUGIN names
//	xla:cuda, xla:cpu        a PJRT plugin found by name, such as the one of lethe xla
//	xla:/path/to/plugin.so   exactly this plugin
//	xla:cuda,tf32            with a Precision: float32 (the default), tf32 or bf16
//
// The empty spec means the environment variable LETHE_ENGINE, or auto. Open never downloads
// anything and never panics.
func Open(spec string) (*Engine, error) {
	spec = cmp.Or(spec, os.Getenv(EnvEngine))
	name, precision, err := splitPrecision(spec)
	if err != nil {
		return nil, err
	}
	isXLA := name == "xla" || strings.HasPrefix(name, "xla:")
	if !isXLA && precision != Float32 {
		return nil, fmt.Errorf("engine: %s computes in float32 only; %s needs XLA, as in --engine xla:cuda --precision %s",
			cmp.Or(name, "lethe"), precision, precision)
	}
	switch {
	case name == "" || name == "auto":
		return openLethe("the default"), nil
	case name == "go":
		return openGo("asked for by name")
	case name == "lethe":
		return openLethe("asked for by name"), nil
	case isXLA:
		return openXLA(name, precision)
	}
	return nil, fmt.Errorf("engine: %q is not one of auto, lethe, go, xla, xla:cuda, xla:/path/to/plugin.so", name)
}

// chunkRows keeps the activations of one chunk of a small network in the second-level
// cache.
const chunkRows = 512

var stdoutMu sync.Mutex

func openGo(why string) (*Engine, error) {
	// Graph nodes run one after the other and every kernel on one thread, because the
	// backend's worker pool can deadlock. Lethe runs chunks in parallel instead.
	backend, err := openSilently(func() (compute.Backend, error) {
		b, err := gobackend.New("ops_sequential,parallelism=0")
		return closureBackend{b}, err
	})
	if err != nil {
		return nil, fmt.Errorf("engine: opening GoMLX's Go backend: %w", err)
	}
	workers := runtime.GOMAXPROCS(0)
	return &Engine{
		backend: backend,
		info:    Info{Kind: "go", Kernel: "scalar", Why: why},
		chunk:   chunkRows,
		slots:   make(chan struct{}, workers),
	}, nil
}

// openLethe opens Lethe's own backend. An execution uses all cores and may run in parallel
// with others.
func openLethe(why string) *Engine {
	workers := runtime.GOMAXPROCS(0)
	return &Engine{
		backend: backend.Open(workers),
		info:    Info{Kind: backend.Name, Kernel: backend.Version, Why: why},
		chunk:   chunkRows,
		slots:   make(chan struct{}, workers),
	}
}

// openSilently turns a panic of the backend's constructor into an error and discards its
// standard output.
func openSilently(open func() (compute.Backend, error)) (b compute.Backend, err error) {
	stdoutMu.Lock()
	defer stdoutMu.Unlock()
	if null, e := os.OpenFile(os.DevNull, os.O_WRONLY, 0); e == nil {
		stdout := os.Stdout
		os.Stdout = null
		defer func() { os.Stdout = stdout; null.Close() }()
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the backend panicked: %v", r)
		}
	}()
	return open()
}

// Backend returns the GoMLX backend, for building executables.
func (e *Engine) Backend() compute.Backend { return e.backend }

// Info describes the open engine.
func (e *Engine) Info() Info { return e.info }

// String describes the engine in one line.
func (e *Engine) String() string {
	s := fmt.Sprintf("engine %s: ", e.info.Kind)
	switch {
	case e.info.Kind == backend.Name:
		s += fmt.Sprintf("own kernels (%s) on %d cores", kernels.Best(), cap(e.slots))
	case e.info.Kind != "go":
		s += "XLA on " + e.info.Kernel
	default:
		s += "GoMLX's Go backend with scalar arithmetic, for comparison"
	}
	return s + " (" + e.info.Why + ")"
}

// ChunkRows returns the number of rows of one execution. Work on more rows is cut into
// chunks of this size, whose sums are added in a fixed order.
func (e *Engine) ChunkRows() int { return e.chunk }

// WithChunkRows returns an engine on the same backend that cuts work into chunks of another
// size. Results differ in the last bits only.
func (e *Engine) WithChunkRows(rows int) *Engine {
	other := *e
	other.chunk = max(1, rows)
	return &other
}

// SeparateMemory reports whether the engine computes in device memory that is separate from
// the host's, so that data must be copied.
func (e *Engine) SeparateMemory() bool { return e.separateMemory }

// WithSeparateMemory returns the engine as one with separate memory, for tests.
func (e *Engine) WithSeparateMemory() *Engine {
	other := *e
	other.separateMemory = true
	return &other
}

// Precision returns the precision of products and convolutions.
func (e *Engine) Precision() Precision { return cmp.Or(e.precision, Float32) }

// DeviceMemory returns the bytes of the device's memory that are in use and that may be used, 0
// where they are not known.
func (e *Engine) DeviceMemory() (inUse, limit int64) {
	if e.plugin == nil {
		return 0, 0
	}
	d := e.plugin.Device()
	return d.InUse, d.Memory
}

// Programs returns how many programs XLA has compiled in this process, and how many were loaded
// from those that an earlier process has compiled.
func (e *Engine) Programs() (compiled, loaded int) {
	if e.plugin == nil {
		return 0, 0
	}
	c := e.plugin.Counts()
	return c.Compiled, c.Loaded
}

// HasWhile reports whether a graph on the engine can have a loop, so that an epoch of training
// can be one execution. (XLA's capabilities in go-xla v0.4.5 do not list the loop that it has.)
func (e *Engine) HasWhile() bool { return e.info.Kind != backend.Name }

// Close releases the backend.
func (e *Engine) Close() {
	if e.plugin != nil {
		e.plugin.Forget()
	}
	e.backend.Finalize()
}

// Parallel runs task(0) ... task(n-1), at most one per core at a time over all callers of
// the engine. It returns the error of the task with the lowest number that failed, or panicked.
// Tasks must not call Parallel.
func (e *Engine) Parallel(n int, task func(i int) error) error {
	errs := make([]error, n)
	if n == 1 {
		e.slots <- struct{}{}
		defer func() { <-e.slots }()
		return panics.Catch("a task", func() error { return task(0) })
	}
	var wg sync.WaitGroup
	for i := range n {
		e.slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-e.slots; wg.Done() }()
			errs[i] = panics.Catch("a task", func() error { return task(i) })
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Cores returns the number of executions that run in parallel.
func (e *Engine) Cores() int { return cap(e.slots) }
