package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

var errInterrupted = errors.New("interrupted")

// Main runs a program with the process's arguments and streams and returns its
// exit code. The first interrupt lets the command save its work and stop, the second
// ends the process at once.
func Main(root *cobra.Command) int {
	KeepSlack()
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop(errInterrupted)
		fmt.Fprintln(os.Stderr, "lethe: stopping; once more ends it at once")
		<-signals
		os.Exit(ExitInterrupted)
	}()
	return Run(ctx, root, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Run runs one command line, without the name of the program, and returns the
// exit code: 0, 1 for a failure, 2 for wrong usage, 130 where ctx was ended by
// an interrupt. What a command prints gives no orders to a terminal: see Printable.
func Run(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	shown, said := &screen{w: stdout}, &screen{w: stderr}
	defer shown.end()
	defer said.end()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(shown)
	root.SetErr(said)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		fmt.Fprintln(said, "lethe: interrupted:", err)
		return ExitInterrupted
	}
	fmt.Fprintln(said, "lethe:", err)
	if IsUsage(err) {
		fmt.Fprintf(said, "try: %s --help\n", cmd.CommandPath())
		return ExitUsage
	}
	return ExitFailure
}
