// Package engine opens the GoMLX backend that everything numerical runs on,
// hands out named random streams, and holds the few graph helpers whose library
// versions are wrong or slow on the pure-Go backend.
//
// Default: Lethe's own backend (package backend), which needs no cgo, no plugin, no
// build flag and no download, and gives the same bits on every processor (amd64 was
// tried, with AVX-512, with AVX2 and with neither, and arm64 under an emulator). XLA is
// there under the build tag "xla" and a PJRT plugin. GoMLX's Go backend is there to
// be compared with: it is many times slower.
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
)

// Info says what an engine is; it is part of every result's provenance,
// because the last bits of a float32 result depend on the matmul kernel.
type Info struct {
	Kind   string `json:"kind"`   // "go", "xla" or "lethe"
	Kernel string `json:"kernel"` // of Lethe's own the version of its arithmetic; for XLA the platform or plugin; of GoMLX's Go backend "scalar"
	Why    string `json:"-"`      // one clause: why this engine was opened
}

// String returns the short form used in store keys and captions: "go/avx512".
func (i Info) String() string { return i.Kind + "/" + i.Kernel }

// EnvPlugin is the environment variable with the path of a PJRT plugin to use
// where none is found by name.
const EnvPlugin = "LETHE_XLA_PLUGIN"

// Engine is an open backend. It is safe for use by several goroutines.
type Engine struct {
	backend        compute.Backend
	info           Info
	chunk          int
	slots          chan struct{}
	separateMemory bool // see Apart
}

// Open opens the engine that spec names:
//
//	auto                     what xla opens, or else lethe; without the build tag "xla" simply lethe
//	lethe                    Lethe's own backend: see package backend
//	go                       GoMLX's Go backend, to compare with
//	xla                      CUDA's PJRT plugin, the CPU's, or the file that LETHE_XLA_PLUGIN names
//	xla:cuda, xla:cpu        a PJRT plugin found by name
//	xla:/path/to/plugin.so   exactly this plugin
//
// The empty spec reads the environment variable LETHE_ENGINE and falls back to
// auto. Open never downloads anything and never panics; what auto could not
// open is named in Info.Why.
func Open(spec string) (*Engine, error) {
	spec = cmp.Or(spec, os.Getenv("LETHE_ENGINE"))
	switch {
	case spec == "" || spec == "auto":
		return openAuto()
	case spec == "go":
		return openGo("asked for by name")
	case spec == "lethe":
		return openLethe("asked for by name"), nil
	case spec == "xla" || strings.HasPrefix(spec, "xla:"):
		return openXLA(spec)
	}
	return nil, fmt.Errorf("engine: %q is not one of auto, lethe, go, xla, xla:cuda, xla:/path/to/plugin.so", spec)
}

// chunkRows keeps one chunk's activations of a small network inside the second-level
// cache, where elementwise kernels are fast.
const chunkRows = 512

var stdoutMu sync.Mutex

func openGo(why string) (*Engine, error) {
	// Graph nodes run one after the other and every kernel on one thread: with
	// the backend's own worker pool, nodes that hold a slot while they wait for
	// another deadlock. Lethe uses the cores by running chunks side by side.
	backend, err := openSilently(func() (compute.Backend, error) {
		return gobackend.New("ops_sequential,parallelism=0")
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

// openLethe opens Lethe's own backend. An execution takes all cores by itself, and may run
// beside others.
func openLethe(why string) *Engine {
	workers := runtime.GOMAXPROCS(0)
	return &Engine{
		backend: backend.Open(workers),
		info:    Info{Kind: backend.Name, Kernel: backend.Version, Why: why},
		chunk:   chunkRows,
		slots:   make(chan struct{}, workers),
	}
}

// openSilently turns a panic of the backend's constructor into an error and keeps
// its chatter off standard output, which belongs to the program's own results.
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

// Info says what was opened.
func (e *Engine) Info() Info { return e.info }

// String describes the engine in one line for people.
func (e *Engine) String() string {
	s := fmt.Sprintf("engine %s: ", e.info.Kind)
	switch {
	case e.info.Kind == backend.Name:
		s += fmt.Sprintf("own kernels (%s) on %d cores", kernels.Best(), cap(e.slots))
	case e.info.Kind != "go":
		s += "XLA on " + e.info.Kernel
	default:
		s += "GoMLX's Go backend with scalar arithmetic, to compare with"
	}
	return s + " (" + e.info.Why + ")"
}

// ChunkRows is the number of rows that one execution should hold: work on more
// rows is cut into chunks of this size, whose sums are added in a fixed order.
func (e *Engine) ChunkRows() int { return e.chunk }

// WithChunkRows returns an engine on the same backend and the same cores that
// cuts work into chunks of another size. Results differ in the last bits only.
func (e *Engine) WithChunkRows(rows int) *Engine {
	other := *e
	other.chunk = max(1, rows)
	return &other
}

// SeparateMemory tells whether the engine computes in memory of its own, to which and from which
// numbers have to travel.
func (e *Engine) SeparateMemory() bool { return e.separateMemory }

// WithSeparateMemory returns the engine as one that is apart, for tests of what is done there.
func (e *Engine) WithSeparateMemory() *Engine {
	other := *e
	other.separateMemory = true
	return &other
}

// Close releases the backend.
func (e *Engine) Close() { e.backend.Finalize() }

// Parallel runs task(0) ... task(n-1), at most one per core at a time over all
// callers of this engine, and returns the error of the lowest-numbered task
// that failed. Tasks must not call Parallel themselves.
func (e *Engine) Parallel(n int, task func(i int) error) error {
	errs := make([]error, n)
	if n == 1 {
		e.slots <- struct{}{}
		defer func() { <-e.slots }()
		return task(0)
	}
	var wg sync.WaitGroup
	for i := range n {
		e.slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-e.slots; wg.Done() }()
			errs[i] = task(i)
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

// Cores is the number of executions that run side by side.
func (e *Engine) Cores() int { return cap(e.slots) }
