// Package panics turns panics of code that comes from anywhere into errors. In a goroutine of ours a panic would end the
// program, and with it what was already computed.
package panics

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Catch calls f and returns its error, or an error that names what panicked and the line of the code that did.
func Catch(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = asError(what, v)
		}
	}()
	return f()
}

func asError(what string, v any) error {
	at, callers := "", make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for panicked := false; ; {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicked && !inRuntime {
			at = fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
			break
		}
		panicked = panicked || inRuntime
		if !more {
			break
		}
	}
	if err, is := v.(error); is {
		return fmt.Errorf("%s panicked%s: %w", what, at, err)
	}
	return fmt.Errorf("%s panicked%s: %v", what, at, v)
}
