// Tests of kernel.go.

package kernel

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// lethe runs a command line in this process.
func lethe(t *testing.T, args ...string) clitest.Result {
	return clitest.Run(t.Context(), newRoot(), "", args...)
}

var fails = clitest.Fails

// commands lists all commands that people see.
func commands(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			out = append(out, commands(sub)...)
		}
	}
	return out
}

func TestEveryCommandHasHelpWithExamplesThatParse(t *testing.T) {
	for _, c := range commands(newRoot()) {
		t.Run(c.CommandPath(), func(t *testing.T) {
			words := strings.Fields(c.CommandPath())[1:]
			r := lethe(t, append(words, "--help")...)
			if r.Code != cli.ExitOK || r.Stderr != "" || !strings.Contains(r.Out, "Usage:") {
				t.Errorf("help: exit code %d, stderr %q", r.Code, r.Stderr)
			}
			if c.Short == "" || c.Example == "" && c.HasParent() {
				t.Errorf("no short description or no example")
			}
			for line := range strings.Lines(c.Example) {
				_, line, found := strings.Cut(line, "lethe ")
				if !found {
					t.Errorf("example without lethe: %q", line)
				}
				line, _, _ = strings.Cut(line, "  ")
				root := newRoot()
				sub, rest, err := root.Find(strings.Fields(line))
				if err != nil {
					t.Errorf("example %q: %v", line, err)
					continue
				}
				if err := sub.ParseFlags(rest); err != nil {
					t.Errorf("example %q: %v", line, err)
				}
				if err := sub.ValidateArgs(sub.Flags().Args()); err != nil {
					t.Errorf("example %q: %v", line, err)
				}
			}
		})
	}
}

func TestTyposAreUsageErrorsWithASuggestion(t *testing.T) {
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"audti", []string{`"audti"`, "did you mean audit?", "try: lethe --help"}},
		{"federated losse", []string{"federated", "try: lethe federated --help"}},
		{"audit --only rulr", []string{"--only rulr", "ruler", "try: lethe audit --help"}},
		{"data lst", []string{"did you mean", "list"}},
		{"runs prun", []string{"did you mean prune?"}},
		{"list metod", []string{"did you mean methods?"}},
		{"zzzzzz", []string{"there are", "audit", "table", "try"}},
		{"audit --only scores --membrs x", []string{"--membrs", "did you mean --members?", "try: lethe audit --help"}},
		{"audit --only scores --x", []string{"--x", "try: lethe audit --help"}},
		{"audit --only scores", []string{"members", "nonmembers", "lethe audit --only scores --help"}},
		{"audit --only scores --members", []string{"--members"}},
		{"score --members a --nonmembers b c", []string{`"c"`}},
		{"data get adlt", []string{"adlt", "did you mean adult?"}},
		{"data get", []string{"at least 1"}},
		{"table ruler 1 --scale quik", []string{"--scale quik", "quick, hour, large, standard, paper"}},
		{"table ruler 1 --format yaml", []string{"--format yaml", "text, md, json"}},
		{"table ruler 99", []string{`"99"`, "table1"}},
		{"figure ruler 99", []string{`"99"`, "there are figure5, figure6, figure7"}},
		{"table ruler 1 --out nowhere/x.md", []string{"--out", "nowhere"}},
		{"table ruler 1 --out kernel.go/sub", []string{"--out", "kernel.go"}},
		{"table ruler 1 3 --out x.md", []string{"--out", "folder"}},
		{"table ruler 1 --workers -1", []string{"--workers -1"}},
		{"table nobody 1", []string{`"nobody"`, "ruler"}},
		{"table lenses --scale huge", []string{"--scale huge", "quick, standard, paper"}},
		{"table lenses 1", []string{`"1"`}},
		{"bench --rounds 0", []string{"--rounds 0"}},
		{"bench x", []string{`"x"`}},
	} {
		t.Run(c.args, func(t *testing.T) { fails(t, lethe(t, strings.Fields(c.args)...), cli.ExitUsage, c.words...) })
	}
}

func TestGroupsAloneShowTheirHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"data"}, {"sweep"}, {"table"}} {
		if r := lethe(t, args...); r.Code != cli.ExitOK || !strings.Contains(r.Out, "Usage:") || r.Stderr != "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestCompletionKnowsNamesAndFlagValues(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"__complete data get ad", "adult"},
		{"__complete table ruler 1 --scale ", "quick"},
		{"__complete figure ruler ", "5"},
		{"completion bash", "__start_lethe"},
	} {
		args := strings.Split(c.args, " ")
		if r := lethe(t, args...); r.Code != cli.ExitOK || !strings.Contains(r.Out, c.want) {
			t.Errorf("%s: exit code %d, %q not in %.200q", c.args, r.Code, c.want, r.Out)
		}
	}
}

func TestHelpTextsUseTheFieldsTerms(t *testing.T) {
	for _, c := range commands(newRoot()) {
		if c.Name() == "judgements" {
			continue // the hidden name of lethe list audit-lenses, which scripts use
		}
		for _, text := range []string{c.Use, c.Short, c.Long, c.Example, c.Flags().FlagUsages()} {
			for _, word := range clitest.FindPrivateWords(text) {
				t.Errorf("%s: %s", c.CommandPath(), word)
			}
		}
	}
}
