// docs/commands.md is made from the commands' help.

package kernel

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/lib/command"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/commands.md anew from the commands' help")

// commandsPage is the command reference, as it is committed.
const commandsPage = "../docs/commands.md"

// The command reference says what the commands' help says:
//
//	go test ./kernel -run CommandReference -update
func TestTheCommandReferenceIsTheHelp(t *testing.T) {
	t.Setenv("LETHE_SCALE", "")
	want := reference(newRoot())
	if *update {
		if err := os.WriteFile(commandsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the commands' help says: go test ./kernel -run CommandReference -update", commandsPage)
	}
}

// reference returns a Markdown page with the help of a program's commands.
func reference(root *cobra.Command) string {
	var out strings.Builder
	out.WriteString("# Commands\n\nThis page is made from the help of the program: `lethe COMMAND --help` prints the same." +
		" In a clone, `go run . COMMAND` runs a command.\n\n")
	out.WriteString(prose(root.Long) + "\n" + index(root))
	out.WriteString("\n`lethe completion SHELL` prints a completion script for bash, zsh, fish or PowerShell. Every command has `--help`.\n")
	for _, c := range documentedCommands(root) {
		out.WriteString(section(c))
		if c.Name() == "audit" {
			out.WriteString(singles())
		}
	}
	return out.String()
}

// singles returns the help of the measures on single arrays.
func singles() string {
	var out strings.Builder
	for _, name := range command.SingleNames() {
		root, help := newRoot(), &strings.Builder{}
		root.SetOut(help)
		root.SetArgs([]string{"audit", "--only", name, "--help"})
		if err := root.Execute(); err != nil {
			fmt.Fprintln(help, err)
		}
		fmt.Fprintf(&out, "\n### lethe audit --only %s\n\n```\n%s```\n", name, help)
	}
	return out.String()
}

// A screen, as a laptop's terminal shows it. A longer line takes two rows.
const screenRows, screenColumns = 40, 100

// Every help fits a screen. What does not is behind lethe try --help-all, in lethe list or in docs/.
func TestHelpFitsAScreen(t *testing.T) {
	t.Setenv("LETHE_SCALE", "")
	check := func(words ...string) {
		help, rows := lethe(t, append(words, "--help")...).Out, 0
		for line := range strings.Lines(help) {
			n := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
			rows += max(1, (n+screenColumns-1)/screenColumns)
			if len(words) == 0 && n > screenColumns {
				t.Errorf("lethe --help has a line of %d columns: %s", n, line)
			}
		}
		if rows > screenRows || rows < 5 {
			t.Errorf("lethe %s --help takes %d rows of a screen", strings.Join(words, " "), rows)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		check(strings.Fields(c.CommandPath())[1:]...)
		for _, sub := range documentedCommands(c) {
			walk(sub)
		}
	}
	walk(newRoot())
	for _, name := range command.SingleNames() {
		check("audit", "--only", name)
	}
}

// documentedCommands returns the commands directly below c that its help shows.
func documentedCommands(c *cobra.Command) (out []*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" && sub.Name() != "completion" {
			out = append(out, sub)
		}
	}
	return out
}

// index returns a table of the commands directly below c, "" where there are none.
func index(c *cobra.Command) string {
	rows := ""
	for _, sub := range documentedCommands(c) {
		rows += fmt.Sprintf("| [%s](#%s) | %s |\n", name(sub), anchor(sub), cell(sub.Short))
	}
	if rows == "" {
		return ""
	}
	return "\n| command | |\n|---|---|\n" + rows
}

// section returns the help of one command (text, usage, examples and flags), and then
// those of its sub-commands.
func section(c *cobra.Command) string {
	var out strings.Builder
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	fmt.Fprintf(&out, "\n%s %s\n\n%s\n", strings.Repeat("#", strings.Count(c.CommandPath(), " ")+1), name(c), prose(long))
	below, flags := index(c), flagRows(c.LocalFlags())
	if below == "" || flags != "" {
		fmt.Fprintf(&out, "\n```\n%s\n```\n", c.UseLine())
	}
	out.WriteString(below)
	if c.Example != "" {
		fmt.Fprintf(&out, "\nExamples:\n\n```\n%s\n```\n", dedented(c.Example))
	}
	if flags != "" {
		fmt.Fprintf(&out, "\n| flag | meaning |\n|---|---|\n%s", flags)
	}
	for _, sub := range documentedCommands(c) {
		out.WriteString(section(sub))
	}
	return out.String()
}

// name returns a command without the program: "sweep plan".
func name(c *cobra.Command) string {
	_, rest, _ := strings.Cut(c.CommandPath(), " ")
	return rest
}

// anchor returns the address that a heading with a command's name has on the page.
func anchor(c *cobra.Command) string { return strings.ReplaceAll(name(c), " ", "-") }

// ofThisMachine matches what the help says of the machine that it is printed on.
var ofThisMachine = regexp.MustCompile(`, \d+ here`)

// flagRows returns a row of a table for every flag but --help.
func flagRows(flags *pflag.FlagSet) string {
	var out strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		usage = ofThisMachine.ReplaceAllString(usage, "")
		if kind != "" {
			kind = " " + kind
		}
		if v := f.DefValue; v != "" && v != "false" && v != "0" && v != "[]" && v != "0s" && !strings.Contains(usage, "default") {
			usage += " (default " + v + ")"
		}
		fmt.Fprintf(&out, "| `--%s%s` | %s |\n", f.Name, kind, cell(usage))
	})
	return out.String()
}

// prose returns help as Markdown. Paragraphs with indented lines are laid out by hand and
// become blocks of code.
func prose(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if strings.Contains("\n"+p, "\n  ") {
			paragraphs[i] = "```\n" + dedented(p) + "\n```"
		} else {
			paragraphs[i] = escaped(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// dedented returns text without the spaces that all of its lines begin with.
func dedented(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	least := -1
	for _, line := range lines {
		if n := len(line) - len(strings.TrimLeft(line, " ")); strings.TrimSpace(line) != "" && (least < 0 || n < least) {
			least = n
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line[min(max(least, 0), len(line)):], " ")
	}
	return strings.Join(lines, "\n")
}

// special are characters that Markdown would take for its own.
var special = regexp.MustCompile("[*_<>`\\\\]")

func escaped(text string) string { return special.ReplaceAllString(text, `\$0`) }

// cell returns text as a cell of a Markdown table.
func cell(text string) string {
	return strings.ReplaceAll(escaped(strings.Join(strings.Fields(text), " ")), "|", `\|`)
}

func TestHelpBecomesMarkdown(t *testing.T) {
	root := &cobra.Command{Use: "lethe", Long: "What it *is*."}
	sub := &cobra.Command{Use: "cut FILE", Short: "Cut a_file", Long: "Cut.\n\nLike so:\n\n  a  b\n    c\n", Example: "  lethe cut x\n    more", Run: func(*cobra.Command, []string) {}}
	sub.Flags().Int("users", 3, "how many | users")
	sub.Flags().Bool("json", false, "print JSON")
	sub.Flags().String("secret", "", "hidden")
	if err := sub.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	hidden := &cobra.Command{Use: "worker", Hidden: true, Run: func(*cobra.Command, []string) {}}
	root.AddCommand(sub, hidden)
	got := reference(root)
	for _, want := range []string{
		"What it \\*is\\*.\n", "| [cut](#cut) | Cut a\\_file |\n", "\n## cut\n\nCut.\n\nLike so:\n\n```\na  b\n  c\n```\n",
		"```\nlethe cut FILE [flags]\n```\n", "```\nlethe cut x\n  more\n```\n", "| `--users int` | how many \\| users (default 3) |\n", "| `--json` | print JSON |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not on the page:\n%s", want, got)
		}
	}
	for _, bad := range []string{"worker", "secret"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is hidden and stands on the page", bad)
		}
	}
}
