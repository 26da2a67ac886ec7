//go:build !xla

package engine

import "fmt"

func openAuto() (*Engine, error) {
	return openLethe("built without the tag xla"), nil
}

func openXLA(spec string) (*Engine, error) {
	return nil, fmt.Errorf("engine: %s was asked for, but this program was built without XLA; build it with: go build -tags xla "+
		"(needs cgo and a PJRT plugin)", spec)
}
