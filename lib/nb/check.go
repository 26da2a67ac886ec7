// Errors and interrupts of a cell: how it ends, and with which message.

package nb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// Context returns a context that ends when the cell is interrupted (the square button, or
// Control-C in a terminal), so that trainings can save their state. The kernel then kills
// the cell after five seconds. While Interact draws, it is the context of that drawing: a control
// that a reader moves ends a training that the drawing called for.
func Context() context.Context { return std.context() }

var background = sync.OnceValue(func() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends a program that does not listen
	return ctx
})

// Check ends the cell with a one-line message when err is not nil. For an interruption the
// message says how to resume. Run All then stops. While Interact draws for a control that a
// reader has moved, Check ends that drawing only, and the message stands in its place.
func Check(err error) { std.check(err) }

// Try is Check for calls that also return a value:
//
//	model := nb.Try(train.Fit(nb.Context(), ...))
func Try[T any](v T, err error) T {
	std.check(err)
	return v
}

func (s *outputTarget) check(err error) {
	if err == nil {
		return
	}
	s.endDrawing(err)
	if s.notebook {
		s.drain()
	}
	if errors.Is(err, context.Canceled) {
		why := strings.TrimSuffix(err.Error(), ": "+context.Canceled.Error())
		s.printLine(s.err, "Interrupted: %s.\nRun this cell again to go on; what was saved is not computed twice.", why)
	} else {
		s.printLine(s.err, "%s", "This did not work: "+fmt.Sprint(err))
	}
	s.closeAndExit(1)
}
