//go:build !unix

package kernel

import "os"

// hangUp is the signal of a terminal that is closed; here there is none but the
// interrupt.
var hangUp = os.Interrupt
