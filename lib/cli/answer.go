// Answers of commands, as text or JSON.

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Answer is the result of a command.
type Answer struct {
	Value any                   // with --json
	Text  func(io.Writer) error // without, such as the method of a table
	Err   error                 // fails the command after the answer is printed
}

// AnswerWith makes a command print the answer that find returns, with --json as JSON.
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

// PrintText returns the Text of an Answer that prints a finished text.
func PrintText(text fmt.Stringer) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text.String())
		return err
	}
}
