package cli

import "github.com/spf13/cobra"

// Group makes a command out of one that only has sub-commands: a word that it
// does not know is an error, and alone it prints its help or does what it does.
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
