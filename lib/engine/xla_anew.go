//go:build xla

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gomlx/go-xla/pjrt"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// XLA's plugin for the CPU hands large products to XNNPACK, lays out the right operand
// for it where that is an input, and finds what it laid out again by the operand's
// address: a batch that comes to lie where another lay is multiplied as that other one.
// Every step of a training from its second on may be on records of another, without a
// word. The flag turns XNNPACK off; a plugin that does not know a flag ends the process,
// which the help text beside it rules out.
const (
	keepsOperands     = "xla_cpu_use_xnnpack"
	keepsOperandsHelp = "Use XNNPACK for supported operations."
)

// ErrStale is the error of a plugin that computes with inputs of executions before.
var ErrStale = errors.New("a product is that of the input before: this plugin would train on records of other batches")

// withoutKeeping sets XLA's flag for a plugin that knows it, unless the user has set it,
// and returns what sets the flags back: a plugin reads them once, and programs that are
// started from here may have another one.
func withoutKeeping(plugin string) (back func()) {
	flags, there := os.LookupEnv("XLA_FLAGS")
	path := plugin
	if !strings.ContainsAny(plugin, `/\`) {
		path = pjrt.AvailablePlugins()[plugin]
	}
	if strings.Contains(flags, keepsOperands) || !holds(path, keepsOperandsHelp) {
		return func() {}
	}
	os.Setenv("XLA_FLAGS", strings.TrimSpace(flags+" --"+keepsOperands+"=false"))
	return func() {
		if !there {
			os.Unsetenv("XLA_FLAGS")
			return
		}
		os.Setenv("XLA_FLAGS", flags)
	}
}

// sure is the name of a plugin for the CPU that read its inputs anew, and how it does:
// another one than that of before, of which some results in a store are wrong.
func sure(kernel string) string {
	if strings.Contains(os.Getenv("XLA_FLAGS"), keepsOperands+"=false") {
		return kernel + " without XNNPACK"
	}
	return kernel + ", checked"
}

// holds tells whether a file holds a text; one that cannot be read does not.
func holds(path, text string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	buffer, kept := make([]byte, 1<<20), 0
	for {
		n, err := io.ReadFull(f, buffer[kept:])
		if bytes.Contains(buffer[:kept+n], []byte(text)) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buffer, buffer[len(buffer)-len(text):])
	}
}

// readsAnew multiplies two inputs that lie at one address and returns ErrStale where the
// second product is not the second input's. The sizes are of the kind that XLA's plugin
// for the CPU got wrong.
func (e *Engine) readsAnew() error {
	const rows, inner, columns = 1024, 2048, 256
	exec, err := graph.NewExec(e.backend, func(w, x *graph.Node) *graph.Node { return graph.Dot(w, x).Product() })
	if err != nil {
		return err
	}
	defer exec.Finalize()
	w, err := e.filled(1, rows, inner)
	if err != nil {
		return err
	}
	defer w.FinalizeAll()
	x, err := e.Zeros(inner, columns)
	if err != nil {
		return err
	}
	defer x.FinalizeAll()
	for _, value := range []float32{1, 2} {
		if err := fill(x, value); err != nil {
			return err
		}
		if err := isProduct(exec, w, x, value*inner); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) filled(value float32, dims ...int) (*tensors.Tensor, error) {
	t, err := e.Zeros(dims...)
	if err != nil {
		return nil, err
	}
	return t, fill(t, value)
}

func fill(t *tensors.Tensor, value float32) error {
	return tensors.MutableFlatData(t, func(flat []float32) {
		for i := range flat {
			flat[i] = value
		}
	})
}

func isProduct(exec *graph.Exec, w, x *tensors.Tensor, want float32) error {
	out, err := exec.Call(w, x)
	if err != nil {
		return err
	}
	defer out[0].FinalizeAll()
	wrong := 0
	err = tensors.ConstFlatData(out[0], func(flat []float32) {
		for _, v := range flat {
			if v != want {
				wrong++
			}
		}
	})
	if err == nil && wrong > 0 {
		return fmt.Errorf("%w (%d of %d numbers)", ErrStale, wrong, out[0].Size())
	}
	return err
}
