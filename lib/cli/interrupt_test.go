// Interrupts of a real process.

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// deaf asks this test's binary to be a program whose commands hear no interrupt.
const deaf = "LETHE_TEST_DEAF"

func TestMain(m *testing.M) {
	if os.Getenv(deaf) == "" {
		os.Exit(m.Run())
	}
	wait := func(cmd *cobra.Command, _ []string) error {
		fmt.Fprintln(cmd.OutOrStdout(), "waiting")
		time.Sleep(time.Minute)
		return nil
	}
	root, judge := &cobra.Command{Use: "test"}, &cobra.Command{Use: "judge"}
	judge.AddCommand(&cobra.Command{Use: "one", RunE: wait})
	root.AddCommand(judge, &cobra.Command{Use: "train", RunE: wait})
	MarkInterruptible(judge)
	os.Exit(Main(root))
}

// TestAnInterruptEndsACommandThatSavesNothing sends interrupts to commands that do not
// look at their context, as one that reads a long file.
func TestAnInterruptEndsACommandThatSavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("uses signals")
	}
	for line, interrupts := range map[string]int{"judge one": 1, "train": 2} {
		cmd := exec.Command(os.Args[0], strings.Fields(line)...)
		cmd.Env = append(os.Environ(), deaf+"=yes")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Process.Kill()
		bufio.NewScanner(out).Scan() // it is waiting
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for range interrupts {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatalf("%s: ended after an interrupt too few: %v", line, err)
			}
			time.Sleep(grace + grace/2)
		}
		select {
		case err = <-ended:
		case <-time.After(20 * grace):
			t.Fatalf("%s goes on", line)
		}
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != ExitInterrupted {
			t.Errorf("%s: %v", line, err)
		}
	}
}
