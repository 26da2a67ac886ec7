// Tests of escaping.go.

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// hostile has what steers a terminal: escape sequences of one byte and of C1, a bell, a
// carriage return, a deletion, a right-to-left override, and bytes that are no text.
const hostile = "a\x1b[2J\x1b]0;owned\x07\u009b31m\r\x7f\u202eb\xff\xfe"

func steers(s string) bool {
	return strings.ContainsAny(s, "\x1b\x07\r\x7f\u009b\u202e") || strings.Contains(s, "\xff")
}

func TestNothingThatACommandPrintsSteersTheTerminal(t *testing.T) {
	root := func(run func(cmd *cobra.Command) error) *cobra.Command {
		return &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd) }}
	}
	for name, run := range map[string]func(cmd *cobra.Command) error{
		"standard output": func(cmd *cobra.Command) error { _, err := fmt.Fprint(cmd.OutOrStdout(), hostile); return err },
		"standard error":  func(cmd *cobra.Command) error { _, err := fmt.Fprint(cmd.ErrOrStderr(), hostile); return err },
		"an error":        func(*cobra.Command) error { return errors.New(hostile) },
		"byte by byte": func(cmd *cobra.Command) error {
			for _, b := range []byte(hostile) {
				if _, err := cmd.OutOrStdout().Write([]byte{b}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		var out, stderr bytes.Buffer
		Run(context.Background(), root(run), nil, nil, &out, &stderr)
		if all := out.String() + stderr.String(); steers(all) || !strings.Contains(all, `\x1b[2J`) || !strings.Contains(all, `\u009b31m`) {
			t.Errorf("%s: %q", name, all)
		}
	}
}

// Text stays as it is, whatever pieces it comes in, and JSON is JSON of the same strings.
func TestWhatIsNoOrderIsPrintedAsItIs(t *testing.T) {
	const text = "näme\t日本 ✓\n\u00a0█░ \U0001F600 end\n"
	for size := 1; size < 9; size++ {
		var out bytes.Buffer
		s := &escapingWriter{w: &out}
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := s.Write(rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
		}
		if s.flush(); out.String() != text {
			t.Errorf("in pieces of %d: %q", size, out.String())
		}
	}
	var out bytes.Buffer
	s := &escapingWriter{w: &out}
	want := map[string]string{"name": strings.TrimSuffix(hostile, "\xff\xfe")}
	if err := WriteJSON(s, want); err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["name"] != want["name"] || steers(out.String()) {
		t.Errorf("%v, %q", err, out.String())
	}
}
