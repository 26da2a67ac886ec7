//go:build !unix

// Systems on which no program is detached, because there is no kernel for notebooks.

package detach

import (
	"errors"
	"os"
)

var child *os.File

// Begin splits the program if its kernel can let it go on; here none can.
func Begin() {}

// KernelPID returns the process of the kernel.
func KernelPID() int { return os.Getppid() }

// Detach ends the cell while the program goes on; here it cannot.
func (l *Link) Detach() error { return errors.New("programs are detached on Unix only") }
