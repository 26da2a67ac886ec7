package engine

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/cpu"
)

func TestTheScalarKernelIsNamedOnce(t *testing.T) {
	var out bytes.Buffer
	before := warnings
	defer func() { warnings = before }()
	warnings, said = &out, sync.Once{}
	(&Engine{info: Info{Kind: "xla"}}).Training()
	if out.Len() > 0 {
		t.Errorf("of XLA it says %s", &out)
	}
	for range 3 {
		(&Engine{info: Info{Kind: "go"}}).Training()
	}
	want := 1
	if SIMDBuild || !cpu.X86.HasAVX2 {
		want = 0
	}
	if got := strings.Count(out.String(), "GOEXPERIMENT=simd"); got != want {
		t.Errorf("%d lines, want %d: %s", got, want, &out)
	}
}
