// Flags that commands share, and what their help shows.

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// JSONFlag adds --json, which prints one JSON value and nothing else on standard output.
func JSONFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON and nothing else on standard output")
}

// manyNames is the number of names from which on they are not all listed where one of them may have been meant.
const manyNames = 16

// OneOf refuses a flag's value that is none of the known ones.
func OneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	near, did := similar(value, known), ""
	if len(near) > 0 {
		did = "did you mean " + strings.Join(near, " or ") + "?"
		if len(known) >= manyNames {
			return Usagef("--%s %s: %s", flag, value, did)
		}
		did = "; " + did
	}
	return Usagef("--%s %s: there are %s%s", flag, value, List(known), did)
}

// similar returns the names that a word of two letters or more may have been meant for.
func similar(word string, names []string) []string {
	if len(word) < 2 {
		return nil
	}
	// Cobra knows which names of commands look alike.
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return all.SuggestionsFor(word)
}

// ShortHelp makes the help of a command list only the flags named. --help-all lists every flag.
func ShortHelp(c *cobra.Command, common ...string) {
	all, help := c.Flags().Bool("help-all", false, "help with every flag"), c.HelpFunc()
	c.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			f.Hidden = f.Hidden || !*all && !slices.Contains(common, f.Name) && f.Name != "help" && f.Name != "help-all"
		})
		help(cmd, args)
	})
	c.PreRunE = func(*cobra.Command, []string) error {
		if *all {
			return pflag.ErrHelp
		}
		return nil
	}
}
