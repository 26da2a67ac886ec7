package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// JSONFlag adds --json, which prints one JSON value and nothing else on standard output.
func JSONFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON and nothing else on standard output")
}

// OneOf refuses a flag's value that is none of the known ones.
func OneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return Usagef("--%s %s: there are %s", flag, value, List(known))
}
