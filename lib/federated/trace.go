package federated

import (
	"context"
	"time"
)

// Trace is called with the wall-clock time that a user's part of a round took.
type Trace func(t UserRound, took time.Duration)

type traceKey struct{}

// WithTrace returns a context with which every federated run reports its user rounds to
// tell. It does not change what they compute.
func WithTrace(ctx context.Context, tell Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, tell)
}

// reportTime reports the time since began to the context's Trace, if any.
func reportTime(ctx context.Context, t UserRound, began time.Time) {
	if tell, is := ctx.Value(traceKey{}).(Trace); is {
		tell(t, time.Since(began))
	}
}
