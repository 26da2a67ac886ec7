//go:build !cgo || noxla || !(xla || (linux && (amd64 || arm64)))

// What a program without XLA says when it is asked for XLA.

package engine

import (
	"fmt"
	"runtime"
)

// openXLA returns an error in a program without XLA.
func openXLA(spec string, _ Precision) (*Engine, error) {
	how := "build it with cgo: install a C compiler (Debian and Ubuntu: apt install gcc libc6-dev), then CGO_ENABLED=1 go build"
	if runtime.GOOS != "linux" {
		how = "it is in programs for Linux that were built with cgo; CGO_ENABLED=1 go build -tags xla puts it into this one, untried"
	}
	return nil, fmt.Errorf("engine: %s: this program was built without XLA; %s", spec, how)
}
