//go:build !cgo || noxla || !(xla || (linux && (amd64 || arm64)))

package engine

import (
	"strings"
	"testing"
)

func TestXLAInAProgramWithoutItIsAClearError(t *testing.T) {
	for _, spec := range []string{"xla", "xla:cuda", "xla:/path/to/plugin.so"} {
		_, err := Open(spec)
		if err == nil {
			t.Errorf("%s opened", spec)
			continue
		}
		for _, want := range []string{spec, "without XLA", "CGO_ENABLED=1"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not say %q", spec, err, want)
			}
		}
	}
}
