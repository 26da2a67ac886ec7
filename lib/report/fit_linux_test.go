package report

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A terminal has the width that it reports; COLUMNS, if it is a number, overrides it.
func TestATerminalSaysItsWidth(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	defer terminal.Close()
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 97}); err != nil {
		t.Skipf("a pseudo terminal without a size: %v", err)
	}
	for columns, want := range map[string]int{"": 97, "61": 61, "0": 97, "-4": 97, "wide": 97} {
		t.Setenv("COLUMNS", columns)
		if got := terminalWidth(terminal); got != want {
			t.Errorf("COLUMNS=%q: %d characters, want %d", columns, got, want)
		}
	}
}
