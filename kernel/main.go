// Package kernel is the command line of lethe: one file per sub-command, and
// nothing numerical. Results go to standard output; progress, notes and errors
// go to standard error.
package kernel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lethe-ml/lethe/kernel/cli"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

var errInterrupted = errors.New("interrupted")

// Main runs the program with the process's arguments and streams and returns
// its exit code. The first interrupt lets the command save its work and stop,
// the second ends the process at once.
func Main() int {
	cli.KeepSlack()
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop(errInterrupted)
		fmt.Fprintln(os.Stderr, "lethe: stopping; once more ends it at once")
		<-signals
		os.Exit(exitInterrupted)
	}()
	return Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Run runs one command line, without the name of the program, and returns the
// exit code: 0, 1 for a failure, 2 for wrong usage, 130 where ctx was ended by
// an interrupt.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		fmt.Fprintln(stderr, "lethe: interrupted:", cli.Printable(err.Error()))
		return exitInterrupted
	}
	fmt.Fprintln(stderr, "lethe:", cli.Printable(err.Error()))
	if cli.IsUsage(err) {
		fmt.Fprintf(stderr, "try: %s --help\n", cmd.CommandPath())
		return exitUsage
	}
	return exitFailure
}
