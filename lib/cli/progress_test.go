// Progress of commands.

package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
)

// stamped is a display that writes where the command writes.
type stamped struct{ out *bytes.Buffer }

func (s stamped) Draw(of progress.State) { fmt.Fprintf(s.out, "[%s]", of.Name()) }
func (s stamped) Erase()                 { fmt.Fprint(s.out, "[erased]") }
func (s stamped) End(progress.State)     { fmt.Fprint(s.out, "[end]") }

func TestEveryCommandIsShown(t *testing.T) {
	var out bytes.Buffer
	t.Cleanup(progress.Show(stamped{&out}, progress.Timing{Every: time.Hour}))
	root, gc := &cobra.Command{Use: "lethe"}, &cobra.Command{Use: "gc NAME"}
	gc.RunE = func(cmd *cobra.Command, args []string) error {
		fmt.Fprint(cmd.OutOrStdout(), "first")
		_, task := progress.Start(cmd.Context(), "deleting", 0)
		defer task.Done()
		fmt.Fprint(cmd.ErrOrStderr(), "second")
		return nil
	}
	root.AddCommand(gc)
	if code := Run(t.Context(), root, []string{"gc", "all"}, nil, &out, &out); code != 0 {
		t.Fatal(code)
	}
	if want := "[lethe gc][erased]first[deleting][erased]second[end]"; out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

func TestQuietCommandsShowOnlyTheirWork(t *testing.T) {
	shown := progresstest.Record(t)
	root, lab := &cobra.Command{Use: "lethe"}, &cobra.Command{Use: "lab"}
	lab.RunE = func(cmd *cobra.Command, _ []string) error {
		if len(shown.States()) > 0 {
			t.Errorf("shown: %v", shown.States())
		}
		_, task := progress.Start(cmd.Context(), "installing", 0)
		task.Done()
		return nil
	}
	MarkQuiet(lab)
	root.AddCommand(lab)
	for _, line := range []string{"lab", "unknown"} {
		Run(t.Context(), root, strings.Fields(line), nil, &bytes.Buffer{}, &bytes.Buffer{})
	}
	if !shown.HasNamed("installing") || shown.HasNamed("unknown") {
		t.Errorf("shown: %v", shown.States())
	}
}
