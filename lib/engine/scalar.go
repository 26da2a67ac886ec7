package engine

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/cpu"
)

// warnings is where the line of Training goes; tests have their own.
var warnings io.Writer = os.Stderr

var said sync.Once

// Training is told that a training begins. Once per process it says on standard
// error that the scalar kernel does it, where the program could have been built
// with a faster one for this processor.
func (e *Engine) Training() {
	if e.info.Kind != "go" || SIMDBuild || !cpu.X86.HasAVX2 {
		return
	}
	said.Do(func() {
		fmt.Fprintln(warnings, "lethe: training with scalar matrix products, up to 18 times slower than with SIMD: build with GOEXPERIMENT=simd")
	})
}
