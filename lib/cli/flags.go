package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// JSONFlag adds --json, which leaves standard output to one JSON value.
func JSONFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON and nothing else on standard output")
}

// OneOf refuses a flag's value that is not among those known.
func OneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return Usagef("--%s %s: there are %s", flag, value, List(known))
}
