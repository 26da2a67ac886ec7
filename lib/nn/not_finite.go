package nn

import "fmt"

// NotFinite is the error of a number that left the range of numbers: NaN or
// infinite. It is an error of its own because it says something about the
// training and not about the program.
type NotFinite struct {
	Tensor string // whose gradient or weights they are; "" for a loss
	what   string
}

// Error implements error.
func (e *NotFinite) Error() string { return e.what }

// NotFinitef is such an error about a tensor, which may be "", with its text.
func NotFinitef(tensor, format string, args ...any) *NotFinite {
	return &NotFinite{tensor, fmt.Sprintf(format, args...)}
}
