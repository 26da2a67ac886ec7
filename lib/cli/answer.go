package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Answer is what a command found out.
type Answer struct {
	Value any                   // with --json
	Text  func(io.Writer) error // without, such as the method of a table
	Err   error                 // fails the command, but only when the rest is said
}

// AnswerWith lets a command print what it finds, with --json as JSON.
func AnswerWith(c *cobra.Command, find func(cmd *cobra.Command, args []string) (Answer, error)) {
	asJSON := JSONFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		a, err := find(cmd, args)
		switch {
		case err != nil:
			return err
		case *asJSON:
			err = WriteJSON(cmd.OutOrStdout(), a.Value)
		default:
			err = a.Text(cmd.OutOrStdout())
		}
		if err == nil {
			err = a.Err
		}
		return err
	}
}

// PrintText prints a text that is made.
func PrintText(text fmt.Stringer) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text.String())
		return err
	}
}
