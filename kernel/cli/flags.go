package cli

import "github.com/spf13/cobra"

// NeedsEngine marks the commands that compute with the engine, and so go on in
// the SIMD build of the program.
const NeedsEngine = "needs-engine"

// WithEngine are the annotations of such a command.
func WithEngine() map[string]string { return map[string]string{NeedsEngine: "true"} }

// JSONFlag adds --json, which leaves standard output to one JSON value.
func JSONFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON and nothing else on standard output")
}

// OneOf refuses a flag's value that is not among those known.
func OneOf(flag, value string, known ...string) error {
	for _, k := range known {
		if value == k {
			return nil
		}
	}
	return Usagef("--%s %s: there are %s", flag, value, List(known))
}
