// Commands that read files named by flags.

package command

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/files"

	"github.com/spf13/cobra"
)

// inputs are the files that a command reads, each named by a flag.
type inputs struct {
	c        *cobra.Command
	distinct []string // flags that must not name one file
	all      []input
}

// memberFlags are the flags of members and non-members.
var memberFlags = []string{"members", "nonmembers"}

type input struct {
	flag string
	path *string
	read func() error
}

// addFile adds a flag for a file whose content goes to a variable. Without the flag the
// variable stays unchanged.
func addFile[T any](in *inputs, to *T, flag, about string, read func(path string) (T, error)) {
	path := in.c.Flags().String(flag, "", about)
	in.all = append(in.all, input{flag, path, func() (err error) {
		*to, err = read(*path)
		return err
	}})
}

// read reads the given files and returns their flags, for messages. An error names the flag
// and the file.
func (in *inputs) read() (flags string, err error) {
	if err := in.checkDistinct(); err != nil {
		return "", err
	}
	var words []string
	for _, f := range in.all {
		if !in.c.Flags().Changed(f.flag) {
			continue
		}
		if err := f.read(); err != nil {
			return "", fmt.Errorf("--%s: %w", f.flag, err)
		}
		words = append(words, "--"+f.flag+" "+*f.path)
	}
	return strings.Join(words, ", "), nil
}

// checkDistinct refuses the same file for two roles, such as members and non-members.
func (in *inputs) checkDistinct() error {
	paths := map[string]string{}
	for _, f := range in.all {
		paths[f.flag] = *f.path
	}
	for k, one := range in.distinct {
		for _, other := range in.distinct[k+1:] {
			if files.SameFile(paths[one], paths[other]) {
				return cli.Usagef("--%s and --%s: %s is the same file", one, other, paths[one])
			}
		}
	}
	return nil
}

// answerWith makes the command read its files and print the answer of find. Errors name the
// files.
func (in *inputs) answerWith(find func(cmd *cobra.Command) (cli.Answer, error)) {
	cli.AnswerWith(in.c, func(cmd *cobra.Command, _ []string) (cli.Answer, error) {
		defer collectEarly()()
		flags, err := in.read()
		if err != nil {
			return cli.Answer{}, err
		}
		a, err := find(cmd)
		if err != nil {
			err = fmt.Errorf("%s: %w", flags, err)
		}
		return a, err
	})
}

// collectEarly lets the garbage collector run early, until restore is called: beside arrays
// of gigabytes its default overhead would be most of the memory.
func collectEarly() (restore func()) {
	before := debug.SetGCPercent(10)
	return func() { debug.SetGCPercent(before) }
}

// readFinite refuses a matrix with NaN or infinity, by file, row and column.
func readFinite[M interface{ Check(name string) error }](read func(string) (M, error)) func(string) (M, error) {
	return func(path string) (M, error) {
		m, err := read(path)
		if err == nil {
			err = m.Check(path)
		}
		return m, err
	}
}

// requireFlags marks required flags.
func requireFlags(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		cobra.CheckErr(c.MarkFlagRequired(name)) // fails only for a flag that is not defined
	}
}

// selectByName returns the things that a flag names, and refuses an unknown name.
func selectByName[T any](flag string, all []T, nameOf func(T) string, names []string) (out []T, err error) {
	for _, name := range names {
		if err := cli.OneOf(flag, name, namesOf(all, nameOf)...); err != nil {
			return nil, err
		}
		for _, thing := range all {
			if nameOf(thing) == name {
				out = append(out, thing)
			}
		}
	}
	return out, nil
}

func namesOf[T any](all []T, nameOf func(T) string) []string {
	var names []string
	for _, thing := range all {
		names = append(names, nameOf(thing))
	}
	return names
}
