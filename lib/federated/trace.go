package federated

import (
	"context"
	"time"
)

// Trace is told how long a user's part of a round took, by the wall clock.
type Trace func(t UserRound, took time.Duration)

type traceKey struct{}

// WithTrace has every federation that is run with the context tell its turns, whoever
// runs it and however deep. It changes nothing of what they compute.
func WithTrace(ctx context.Context, tell Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, tell)
}

// reportTime tells the trace, where there is one, what a turn took since it began.
func reportTime(ctx context.Context, t UserRound, began time.Time) {
	if tell, is := ctx.Value(traceKey{}).(Trace); is {
		tell(t, time.Since(began))
	}
}
