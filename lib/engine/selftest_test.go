// Tests of selftest.go.

package engine

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestAnEngineTestsItself(t *testing.T) {
	spec := "lethe"
	if v := os.Getenv("LETHE_TEST_ENGINE"); v != "" {
		spec = v
	}
	e, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got, err := e.SelfTest(t.Context(), 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Repeats || got.Product <= 0 || got.Step <= 0 || got.Compile <= 0 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(got.String(), "same bits") || strings.Contains(SelfTest{}.String(), "same bits") {
		t.Errorf("%s and %s", got, SelfTest{})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.SelfTest(ended, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: %v", err)
	}
}
