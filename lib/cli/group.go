package cli

import "github.com/spf13/cobra"

// Group makes c a command with sub-commands. An unknown word is an error. Alone, c prints
// its help, or runs its own RunE if it has one.
func Group(c *cobra.Command) *cobra.Command {
	alone := c.RunE
	c.Args = cobra.ArbitraryArgs
	c.SuggestionsMinimumDistance = 2
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return UnknownCommand(cmd, args[0])
		case alone != nil:
			return alone(cmd, nil)
		}
		return cmd.Help()
	}
	return c
}
