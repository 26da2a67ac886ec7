//go:build !xla

package engine

import "fmt"

// openAuto opens Lethe's own engine in a program without the build tag xla.
func openAuto() (*Engine, error) {
	return openLethe("built without the tag xla"), nil
}

// openXLA returns an error in a program without the build tag xla.
func openXLA(spec string) (*Engine, error) {
	return nil, fmt.Errorf("engine: %s: this program was built without XLA; build it with: go build -tags xla "+
		"(needs cgo and a PJRT plugin)", spec)
}
