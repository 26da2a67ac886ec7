package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// ShortHelp makes the help of a command list only the flags named. --help-all lists every flag.
func ShortHelp(c *cobra.Command, common ...string) {
	all := c.Flags().Bool("help-all", false, "help with every flag")
	help := c.HelpFunc()
	c.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != c || *all {
			help(cmd, args)
			return
		}
		var hidden []*pflag.Flag
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !slices.Contains(common, f.Name) && f.Name != "help" && f.Name != "help-all" {
				hidden = append(hidden, f)
			}
		})
		setHidden(hidden, true)
		defer setHidden(hidden, false)
		help(cmd, args)
	})
	run := c.PersistentPreRunE
	c.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if *all {
			return pflag.ErrHelp
		}
		if run == nil {
			run = cmd.Root().PersistentPreRunE
		}
		return run(cmd, args)
	}
}

func setHidden(flags []*pflag.Flag, hidden bool) {
	for _, f := range flags {
		f.Hidden = hidden
	}
}
