//go:build !unix

package kernels

import "time"

var began = time.Now()

func busy() time.Duration { return time.Since(began) }
