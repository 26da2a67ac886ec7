// Package cli holds what all commands share: the main function with exit codes, usage
// errors, flags, answers as text or JSON, and progress.
package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UsageError is an error in the command line itself.
type UsageError struct{ error }

// Unwrap returns the underlying error.
func (e UsageError) Unwrap() error { return e.error }

// Usagef returns a formatted UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// failure is an error of a command that had begun its work.
type failure struct{ error }

func (e failure) Unwrap() error { return e.error }

// IsUsage reports whether the command line was wrong: a UsageError, or any error from
// before a command began.
func IsUsage(err error) bool {
	var usage UsageError
	var failed failure
	return errors.As(err, &usage) || !errors.As(err, &failed)
}

// MarkFailures marks the errors of a command and its sub-commands as failures, so that
// IsUsage can tell them from usage errors.
func MarkFailures(c *cobra.Command) {
	if run := c.RunE; run != nil {
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if err := run(cmd, args); err != nil {
				return failure{err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		MarkFailures(sub)
	}
}

// UnknownCommand returns the usage error for a word that is no sub-command of c, with
// suggestions.
func UnknownCommand(c *cobra.Command, word string) error {
	near := c.SuggestionsFor(word)
	if len(near) > 0 {
		return Usagef("unknown command %q for %s; did you mean %s?", word, c.CommandPath(), strings.Join(near, " or "))
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || c.Hidden && sub.Name() != "help" { // the words of a hidden group are hidden too
			names = append(names, sub.Name())
		}
	}
	return Usagef("unknown command %q for %s; there are %s", word, c.CommandPath(), strings.Join(names, ", "))
}

// FlagError adds similar flags to cobra's error about an unknown flag.
func FlagError(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if errors.As(err, &invalid) && errors.As(err, &number) {
		return Usagef("--%s %s: %s", invalid.GetFlag().Name, invalid.GetValue(), numberProblem(number.Err, invalid.GetFlag().Value.Type()))
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return UsageError{err}
	}
	name := strings.TrimLeft(unknown.GetSpecifiedName(), "-")
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	near := similar(name, flags)
	if len(near) == 0 {
		return UsageError{err}
	}
	return Usagef("%w; did you mean --%s?", err, strings.Join(near, " or --"))
}

// numberProblem says why a text is no value of a flag's type.
func numberProblem(err error, kind string) string {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "the number is too large"
	case strings.HasPrefix(kind, "float"):
		return "that is not a number"
	case strings.HasPrefix(kind, "bool"):
		return "that is neither true nor false"
	}
	return "that is not a whole number"
}
