package panics

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAPanicIsAnErrorWithItsLine(t *testing.T) {
	if err := Catch("the task", func() error { return io.EOF }); err != io.EOF {
		t.Errorf("an error of its own is %v", err)
	}
	if err := Catch("the task", func() error { return nil }); err != nil {
		t.Error(err)
	}
	err := Catch("the task", func() error { panic(io.ErrShortWrite) })
	if !errors.Is(err, io.ErrShortWrite) || !strings.Contains(err.Error(), "the task panicked at panics_test.go:") {
		t.Error(err)
	}
	var list []int
	err = Catch("the task", func() error { list[3] = 1; return nil })
	if err == nil || !strings.Contains(err.Error(), "panicked at panics_test.go:") || !strings.Contains(err.Error(), "index out of range") {
		t.Error(err)
	}
}
