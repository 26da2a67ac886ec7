// The main function of a program: signals, exit codes, streams.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/progress/show"
)

// Exit codes.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

var errInterrupted = errors.New("interrupted")

// grace is how long an interruptible command may take to stop by itself.
const grace = time.Second

// interruptibleAnnotation marks commands that have no work to save.
const interruptibleAnnotation = "lethe-saves-nothing"

// MarkInterruptible marks commands, with their sub-commands, that have no work to save. An
// interrupt ends them soon wherever they are, for instance while they read a long file.
func MarkInterruptible(commands ...*cobra.Command) {
	for _, c := range commands {
		annotate(c, interruptibleAnnotation)
	}
}

// quietAnnotation marks commands that show no progress of their own.
const quietAnnotation = "lethe-shows-no-progress"

// MarkQuiet marks commands, with their sub-commands, whose time says nothing: they wait for
// somebody else, or are workers of another process. What they do inside still shows.
func MarkQuiet(commands ...*cobra.Command) {
	for _, c := range commands {
		annotate(c, quietAnnotation)
	}
}

func annotate(c *cobra.Command, name string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[name] = "yes"
}

// hasAnnotation reports whether a command or one above it is marked.
func hasAnnotation(c *cobra.Command, name string) bool {
	for ; c != nil; c = c.Parent() {
		if c.Annotations[name] != "" {
			return true
		}
	}
	return false
}

// startCommand begins the task of the command that args name: whatever it does and however
// long that takes, a user sees that it is at work.
func startCommand(ctx context.Context, root *cobra.Command, args []string) (context.Context, *progress.Task) {
	c, _, err := root.Find(args)
	if err != nil || !c.Runnable() || hasAnnotation(c, quietAnnotation) {
		return ctx, nil
	}
	return progress.StartCommand(ctx, c.CommandPath())
}

// interruptTimeout returns how long the command that args name may run after an interrupt;
// 0 means without limit.
func interruptTimeout(root *cobra.Command, args []string) time.Duration {
	c, _, err := root.Find(args)
	if err == nil && hasAnnotation(c, interruptibleAnnotation) {
		return grace
	}
	return 0
}

// Main runs a program with the process's arguments and streams and returns its exit code.
// The first interrupt lets the command save its work and stop; a command marked by
// MarkInterruptible has one second for it. The second interrupt ends the process at once.
func Main(root *cobra.Command) int {
	LimitGCSlack()
	show.UseStderr()
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	limit := interruptTimeout(root, os.Args[1:])
	go func() {
		<-signals
		stop(errInterrupted)
		progress.PrintAbove(func() { fmt.Fprintln(os.Stderr, "lethe: stopping; a second interrupt ends it at once") })
		var late <-chan time.Time
		if limit > 0 {
			late = time.After(limit)
		}
		select {
		case <-signals:
			progress.Close()
		case <-late:
			progress.Close()
			fmt.Fprintln(os.Stderr, "lethe: interrupted")
		}
		os.Exit(ExitInterrupted)
	}()
	return Run(ctx, root, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Run runs one command line, given without the name of the program, and returns the exit
// code: 0, 1 for a failure, 2 for wrong usage, 130 if an interrupt ended ctx. Control
// characters in what a command prints are escaped: see Printable.
func Run(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out, errOut := &escapingWriter{w: stdout}, &escapingWriter{w: stderr}
	defer out.flush()
	defer errOut.flush()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(errOut)
	ctx, task := startCommand(ctx, root, args)
	cmd, err := root.ExecuteContextC(ctx)
	task.Done()
	if err == nil {
		return ExitOK
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		fmt.Fprintln(errOut, "lethe: interrupted:", err)
		return ExitInterrupted
	}
	fmt.Fprintln(errOut, "lethe:", err)
	if IsUsage(err) {
		fmt.Fprintf(errOut, "try: %s --help\n", cmd.CommandPath())
		return ExitUsage
	}
	return ExitFailure
}
