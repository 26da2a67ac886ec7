// How a program gets XLA.

package engine

import "runtime"

// HowToBuild says how to build a program with XLA, in words that follow "it was built without".
func HowToBuild() string {
	if runtime.GOOS != "linux" {
		return "programs for Linux that are built with cgo have it; on this system CGO_ENABLED=1 go build -tags xla puts it in, untried"
	}
	return "install a C compiler (Debian and Ubuntu: apt install gcc libc6-dev) and build again with CGO_ENABLED=1"
}
