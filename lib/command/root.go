// Package command is the command line of the library: one file per sub-command, and no
// numerical code. Results go to standard output; progress, notes and errors go to
// standard error. The commands for notebooks are in package kernel.
package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Root returns the program lethe: the commands of this package, and others.
func Root(others ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   programName(),
		Short: "Has this model really forgotten? Experiments and audits of machine unlearning",
		Long: `Has this model really forgotten? lethe audits models from any framework, compares unlearning
methods on your data, and reproduces papers with the controls they lack. Results go to standard
output, all else to standard error. Exit: 0 success, 1 failure, 2 wrong usage, 130 interrupted.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkFlagValues(cmd) }
	singles := newSingles()
	measuring := append(oldWords(singles), newAudit(singles), newONNX(), newState(), newList(), newFederated(), newTry())
	cli.MarkInterruptible(measuring...)
	root.AddCommand(measuring...)
	root.AddCommand(newTable(), newFigure(), newExport(), newData(), newRuns(), newSweep())
	root.AddCommand(others...)
	cli.Group(root)
	cli.MarkFailures(root)
	groupCommands(root)
	return root
}

// programName is lethe, or of a program with papers of another module its own name: what a user types.
func programName() string {
	if len(added) == 0 {
		return "lethe"
	}
	return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
}

// helpColumns is the width of the lists of flags in help.
const helpColumns = 100

// commandGroups are the groups of the program's help, with their commands in order. Commands in
// none of them are hidden there; their own help is not.
var commandGroups = []struct{ title, commands string }{
	{"Start here:", "lab try audit list"},
	{"Results of papers:", "table figure run data runs export sweep"},
	{"Your own models:", "onnx state federated"},
	{"This machine:", "doctor install uninstall clean xla bench e2e"},
}

// Commands stand in help in the order in which they are added: cobra would sort them.
func init() { cobra.EnableCommandSorting = false }

func groupCommands(root *cobra.Command) {
	root.CompletionOptions.HiddenDefaultCmd = true
	place := map[string]int{}
	for i, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for k, name := range strings.Fields(g.commands) {
			place[name] = 100*(i+1) + k
		}
	}
	root.SetHelpCommandGroupID(commandGroups[0].title)
	// The program's own help has no line for running it without a command, and names the help command.
	root.SetUsageTemplate(strings.NewReplacer("LocalFlags.FlagUsages", fmt.Sprint("LocalFlags.FlagUsagesWrapped ", helpColumns),
		"{{if .Runnable}}", "{{if and .Runnable .HasParent}}",
		"{{if .HasAvailableSubCommands}}\n\nUse", "{{if and .HasParent .HasAvailableSubCommands}}\n\nUse").Replace(root.UsageTemplate()))
	all := root.Commands()
	slices.SortStableFunc(all, func(a, b *cobra.Command) int { return cmp.Compare(place[a.Name()], place[b.Name()]) })
	root.RemoveCommand(all...)
	for _, c := range all {
		if at := place[c.Name()]; at > 0 {
			c.GroupID = commandGroups[at/100-1].title
		} else {
			c.Hidden = true
		}
		root.AddCommand(c)
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// checkFlagValues refuses flags with an empty value, such as that of an unset shell
// variable: it would mean the default.
func checkFlagValues(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if v := f.Value.String(); v == "" || v == "[]" {
			err = cli.Usagef("--%s: its value is empty", f.Name)
		}
	})
	return err
}
