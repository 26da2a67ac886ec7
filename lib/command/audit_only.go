// lethe audit --only: some lenses on a folder, or one measure on single arrays.

package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// single is a measure on arrays that flags name one by one.
type single struct {
	name    string // after --only
	before  string // the words that it had: "verify sde"
	command *cobra.Command
	run     func(cmd *cobra.Command, args []string) error
}

// newSingles returns every measure on single arrays.
func newSingles() (out []single) {
	add := func(before string, c *cobra.Command) { out = append(out, single{c.Name(), before, c, c.RunE}) }
	add("score", newScores())
	add("attack losses", newAttackLosses())
	add("attack features", newAttackFeatures())
	add("attack shadows", newAttackShadows())
	add("verify ruler", newVerifyRuler())
	add("verify sde", newVerifySDE())
	return out
}

// SingleNames returns the names of the measures on single arrays: lethe audit --only NAME.
func SingleNames() (out []string) {
	for _, s := range newSingles() {
		out = append(out, s.name)
	}
	return out
}

// oldWords returns the commands that singles were before. They are hidden, do the same, and name
// the new words.
func oldWords(all []single) (out []*cobra.Command) {
	groups := map[string]*cobra.Command{}
	for _, s := range all {
		s.command.Hidden = true
		s.command.RunE = func(cmd *cobra.Command, args []string) error {
			fmt.Fprintf(cmd.ErrOrStderr(), "lethe: \"lethe %s\" is now \"lethe audit --only %s\"; the old words will go\n", s.before, s.name)
			return s.run(cmd, args)
		}
		group, _, grouped := strings.Cut(s.before, " ")
		if !grouped {
			s.command.Use = strings.Replace(s.command.Use, s.name, s.before, 1)
			out = append(out, s.command)
			continue
		}
		if groups[group] == nil {
			groups[group] = &cobra.Command{Use: group, Short: "The old words of lethe audit --only", Hidden: true,
				Example: "  lethe audit --only " + s.name + " --help"}
			out = append(out, groups[group])
		}
		groups[group].AddCommand(s.command)
	}
	for _, g := range groups {
		cli.Group(g)
	}
	return out
}

// onlyFlag adds --only and the flags of singles, which its help does not list.
func onlyFlag(c *cobra.Command, all []single) *[]string {
	names := SingleNames()
	for _, s := range all {
		s.command.Flags().VisitAll(func(f *pflag.Flag) {
			if c.Flags().Lookup(f.Name) == nil {
				c.Flags().AddFlag(&pflag.Flag{Name: f.Name, Usage: f.Usage, NoOptDefVal: f.NoOptDefVal, Hidden: true, Value: &verbatim{kind: f.Value.Type()}})
			}
		})
	}
	only := c.Flags().StringSlice("only", nil, "lenses of the report; without a folder one of "+cli.List(names))
	cobra.CheckErr(c.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(append(names, lensFlags()...), cobra.ShellCompDirectiveNoFileComp)))
	help := c.HelpFunc()
	c.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if k := slices.IndexFunc(all, func(s single) bool { return len(*only) == 1 && s.name == (*only)[0] }); k >= 0 {
			all[k].help(cmd.OutOrStdout())
			return
		}
		help(cmd, args)
	})
	return only
}

// verbatim holds the values of a flag as they were given.
type verbatim struct {
	kind   string
	values []string
}

// String, Set and Type implement pflag.Value.
func (v *verbatim) String() string { return strings.Join(v.values, ",") }

func (v *verbatim) Set(s string) error {
	v.values = append(v.values, s)
	return nil
}

func (v *verbatim) Type() string { return v.kind }

// runSingle runs a measure on the arrays that the flags of cmd name.
func runSingle(cmd *cobra.Command, all []single, only []string) error {
	names := SingleNames()
	if len(only) != 1 {
		return cli.Usagef("--only %s: name a folder of arrays, or one of %s", strings.Join(only, ","), cli.List(names))
	}
	if slices.Contains(lensFlags(), only[0]) {
		return cli.Usagef("--only %s: this lens reads a folder of arrays: lethe audit FOLDER --only %[1]s", only[0])
	}
	if err := cli.OneOf("only", only[0], names...); err != nil {
		return err
	}
	s := all[slices.Index(names, only[0])]
	args, err := s.arguments(cmd)
	if err != nil {
		return err
	}
	c := s.command
	c.SetContext(cmd.Context())
	if err := c.ParseFlags(args); err != nil {
		return cli.FlagError(c, err)
	}
	for _, check := range []func() error{c.ValidateRequiredFlags, c.ValidateFlagGroups} {
		if err := check(); err != nil {
			return cli.Usagef("--only %s: %w; lethe audit --only %[1]s --help lists its flags", s.name, err)
		}
	}
	if c.PreRunE != nil {
		if err := c.PreRunE(c, nil); err != nil {
			return err
		}
	}
	return s.run(c, nil)
}

// arguments are the flags that were given, for the measure's own command.
func (s single) arguments(cmd *cobra.Command) (args []string, err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch given, raw := f.Value.(*verbatim); {
		case f.Name == "only":
		case s.command.Flags().Lookup(f.Name) == nil:
			err = cli.Usagef("--%s: --only %s has no such flag; it has --%s", f.Name, s.name, strings.Join(s.flags(), ", --"))
		case raw:
			for _, v := range given.values {
				args = append(args, "--"+f.Name+"="+v)
			}
		default:
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	return args, err
}

func (s single) flags() (out []string) {
	s.command.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			out = append(out, f.Name)
		}
	})
	return out
}

// help prints the help of a measure.
func (s single) help(w io.Writer) {
	_, flags, _ := strings.Cut(s.command.Use, " ")
	fmt.Fprintf(w, "%s\n\nUsage:\n  lethe audit --only %s %s\n\nExamples:\n%s\n\nFlags:\n%s", s.command.Long, s.name, flags, s.command.Example,
		s.command.LocalFlags().FlagUsagesWrapped(helpColumns))
}

// lensFlags are the names of the lenses of a report, as --only takes them.
func lensFlags() []string { return namesOf(audit.FolderLenses(), lensFlag) }

// lensFlag is a lens's name without spaces.
func lensFlag(l audit.Lens) string { return strings.ReplaceAll(l.Name(), " ", "-") }

// checkNoSingles refuses flags of single arrays beside a folder.
func checkNoSingles(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, raw := f.Value.(*verbatim); raw {
			err = cli.Usagef("--%s is a flag of a measure on single arrays, --only and no folder", f.Name)
		}
	})
	return err
}

// lensesNamed returns the lenses of a report by their names, in the report's order; no names: nil.
func lensesNamed(names []string) ([]audit.Lens, error) {
	if len(names) == 0 {
		return nil, nil
	}
	for i, n := range names {
		names[i] = strings.ReplaceAll(n, " ", "-")
		switch {
		case slices.Contains(SingleNames(), n):
			return nil, cli.Usagef("--only %s measures single arrays: leave out the folder; lenses of a folder are %s", n, cli.List(lensFlags()))
		case !slices.Contains(lensFlags(), names[i]) && slices.Contains(namesOf(audit.CaseLenses(), lensFlag), names[i]):
			return nil, cli.Usagef("--only %s: this lens needs a model and its data; lenses of arrays are %s", n, cli.List(lensFlags()))
		}
	}
	if _, err := selectByName("only", audit.FolderLenses(), lensFlag, names); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(audit.FolderLenses(), func(l audit.Lens) bool { return !slices.Contains(names, lensFlag(l)) }), nil
}
