package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// headlessEnv is set where nobody sits in front of the notebook (lib/nb.HeadlessEnv).
// Then a cell that reads standard input finds its end: gonb keeps the pipe to a cell's
// program open, and nobody would ever write to it.
const headlessEnv = "LETHE_HEADLESS"

func headless() bool { return os.Getenv(headlessEnv) != "" }

// noInput is a file of every cell's program. Its name is before main.go's, so that what
// it declares comes first. The import has a name that no cell declares.
const noInput = `package main

import letheOS "os"

// Nobody is there to type: standard input is at its end.
var _ = func() (err error) {
	_ = letheOS.Unsetenv("BASH_ENV")
	_ = letheOS.Stdin.Close()
	letheOS.Stdin, err = letheOS.Open(letheOS.DevNull)
	return err
}()
`

// noInputForShell has the shells that gonb starts for lines with ! find the end of
// standard input, and no shell below them. Those that gonb gives a script by standard
// input (%%bash) were not started with -c.
const noInputForShell = `case $- in *c*) exec < /dev/null;; esac
`

// withoutInput is the environment of a gonb whose shells find the end of standard
// input; the file that they read first is written into folder.
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

// shellQuote is a text as one word of the shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// programsWithoutInput puts noInput beside the cells' programs in gonb's folder.
func programsWithoutInput(temp string) error {
	if temp == "" {
		return errors.New("gonb does not say where its temporary files are")
	}
	return os.WriteFile(filepath.Join(temp, "a_no_input.go"), []byte(noInput), 0o600)
}
