// Standard input of cells when no user is there to type.

package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// headlessEnv is set when no user sits in front of the notebook (nb.HeadlessEnv). A cell
// that reads standard input then gets end of file; otherwise it would wait for ever,
// because gonb keeps the pipe open.
const headlessEnv = "LETHE_HEADLESS"

func headless() bool { return os.Getenv(headlessEnv) != "" }

// noInput is a file of every cell's program. Its name sorts before main.go, so that its
// declarations are initialised first. Its import has a name that no cell declares.
const noInput = `package main

import letheOS "os"

// No user is there to type: standard input is at its end.
var _ = func() (err error) {
	_ = letheOS.Unsetenv("BASH_ENV")
	_ = letheOS.Stdin.Close()
	letheOS.Stdin, err = letheOS.Open(letheOS.DevNull)
	return err
}()
`

// noInputForShell gives end of file to the shells that gonb starts for lines with !. It
// does not affect their children, nor shells that read a script from standard input
// (%%bash), which were not started with -c.
const noInputForShell = `case $- in *c*) exec < /dev/null;; esac
`

// withoutInput returns the environment of a gonb whose shells get end of file. It writes
// the file that they read first into folder.
func withoutInput(env []string, folder string) ([]string, error) {
	file, restored := filepath.Join(folder, "no-input.sh"), "unset BASH_ENV\n"
	for _, e := range env {
		if theirs, is := strings.CutPrefix(e, "BASH_ENV="); is {
			restored = "export BASH_ENV=" + shellQuote(theirs) + "\nif [ -r \"$BASH_ENV\" ]; then . \"$BASH_ENV\"; fi\n"
		}
	}
	if err := os.WriteFile(file, []byte(noInputForShell+restored), 0o600); err != nil {
		return nil, err
	}
	return append(env, "BASH_ENV="+file), nil
}

// shellQuote quotes a word for the shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// programsWithoutInput puts noInput beside the cells' programs in gonb's folder.
func programsWithoutInput(temp string) error {
	if temp == "" {
		return errors.New("gonb does not say where its temporary files are")
	}
	return os.WriteFile(filepath.Join(temp, "a_no_input.go"), []byte(noInput), 0o600)
}
