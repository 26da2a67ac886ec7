package nn

import "fmt"

// NotFinite is the error of a number that is NaN or infinite. It is a result of the
// training, not a defect of the program.
type NotFinite struct {
	Tensor string // name of the tensor; "" for a loss
	what   string
}

// Error implements error.
func (e *NotFinite) Error() string { return e.what }

// NotFinitef returns a NotFinite error about a tensor ("": none) with a formatted text.
func NotFinitef(tensor, format string, args ...any) *NotFinite {
	return &NotFinite{tensor, fmt.Sprintf(format, args...)}
}
