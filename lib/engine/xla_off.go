//go:build !cgo || noxla || !(xla || (linux && (amd64 || arm64)))

// What a program without XLA says when it is asked for XLA.

package engine

import "fmt"

// WithXLA reports whether this program was built with XLA.
const WithXLA = false

// openXLA returns an error in a program without XLA.
func openXLA(spec string, _ Precision) (*Engine, error) {
	return nil, fmt.Errorf("engine: %s: this program was built without XLA; %s", spec, HowToBuild())
}
