//go:build unix

package twin

import (
	"fmt"
	"syscall"
)

// become replaces this process by the program at path.
func become(path string, args, env []string) error {
	return fmt.Errorf("starting %s: %w", path, syscall.Exec(path, args, env))
}
