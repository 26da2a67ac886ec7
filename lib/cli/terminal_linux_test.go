// Progress and interrupts of a program in a real terminal.

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lethe-ml/lethe/lib/progress/show"
)

// openTerminal returns the two ends of a terminal: ours, and the one for a program.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	if theirs, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(n)), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skip(err)
	}
	return ours, theirs
}

// lastLine returns what a terminal shows in its last line.
func lastLine(text string) string {
	text = text[strings.LastIndex(text, "\n")+1:]
	return text[strings.LastIndex(text, "\r\x1b[K")+len("\r\x1b[K"):]
}

func TestAnInterruptLeavesACleanLine(t *testing.T) {
	for line, interrupts := range map[string]int{"judge one": 1, "train": 2} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			ours, theirs := openTerminal(t)
			cmd := exec.Command(os.Args[0], strings.Fields(line)...)
			cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), deaf+"=yes", "TERM=xterm", show.Env+"="), theirs, theirs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			theirs.Close()
			var out bytes.Buffer
			read := func(until string) {
				b := make([]byte, 4096)
				for !strings.Contains(out.String(), until) {
					n, err := ours.Read(b)
					if out.Write(b[:n]); err != nil {
						return // the program has ended
					}
				}
			}
			bar := "test " + line + ", 2 s"
			read(bar)
			if got := lastLine(out.String()); !strings.HasPrefix(got, bar) {
				t.Fatalf("the line is %q of %q", got, out.String())
			}
			for range interrupts {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				time.Sleep(grace / 2)
			}
			read("what never comes")
			_ = cmd.Wait()
			text := out.String()
			if i := strings.LastIndex(text, "\n"); i+1 < len(text) && lastLine(text) != "" {
				t.Errorf("the terminal ends with %q", text[i+1:])
			}
			if !strings.Contains(text, "\r\x1b[Klethe: stopping;") {
				t.Errorf("the message stands behind the bar: %q", text)
			}
		})
	}
}
