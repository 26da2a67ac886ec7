//go:build !xla

package engine

import (
	"strings"
	"testing"
)

func TestXLAWithoutTheBuildTagIsAClearError(t *testing.T) {
	for _, spec := range []string{"xla", "xla:cuda", "xla:/path/to/plugin.so"} {
		_, err := Open(spec)
		if err == nil {
			t.Errorf("%s opened", spec)
			continue
		}
		for _, want := range []string{spec, "without XLA", "-tags xla"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not say %q", spec, err, want)
			}
		}
	}
}

func TestAutoSaysWhyItIsLethesOwn(t *testing.T) {
	e, err := Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Info().Kind != "lethe" || !strings.Contains(e.Info().Why, "without the tag xla") {
		t.Errorf("%+v", e.Info())
	}
}
