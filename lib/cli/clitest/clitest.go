// Package clitest runs command lines in the test's own process and checks what they say.
package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
)

// Result is what one command line printed and returned.
type Result struct {
	Code        int
	Out, Stderr string
}

// Run runs a command line with the given standard input.
func Run(ctx context.Context, root *cobra.Command, stdin string, args ...string) Result {
	var out, stderr bytes.Buffer
	code := cli.Run(ctx, root, args, strings.NewReader(stdin), &out, &stderr)
	return Result{code, out.String(), stderr.String()}
}

// Fails checks that a command line ended with the code, printed nothing on standard output,
// and has each of the words on standard error.
func Fails(t *testing.T, r Result, code int, words ...string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("exit code %d, want %d; stderr: %s", r.Code, code, r.Stderr)
	}
	if r.Out != "" {
		t.Errorf("standard output is not empty: %q", r.Out)
	}
	for _, w := range words {
		if !strings.Contains(r.Stderr, w) {
			t.Errorf("standard error %q does not say %q", r.Stderr, w)
		}
	}
}

// Decoded checks that standard output is exactly one JSON value and standard error empty,
// and returns the value.
func Decoded[T any](t *testing.T, r Result) T {
	t.Helper()
	var v T
	if r.Code != cli.ExitOK || r.Stderr != "" {
		t.Fatalf("exit code %d, stderr %q", r.Code, r.Stderr)
	}
	dec := json.NewDecoder(strings.NewReader(r.Out))
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("no JSON: %v in %q", err, r.Out)
	}
	if dec.More() {
		t.Fatalf("more than one JSON value: %q", r.Out)
	}
	return v
}
