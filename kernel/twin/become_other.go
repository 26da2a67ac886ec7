//go:build !unix

package twin

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// become runs the program at path with this process's streams and exits with
// its exit code. An interrupt from the keyboard reaches the child by itself.
func become(path string, args, env []string) error {
	cmd := exec.Command(path)
	cmd.Args, cmd.Env = args, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return fmt.Errorf("starting %s: %w", path, err)
}
