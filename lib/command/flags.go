// Flags and set-up that several commands share: store, engine, environment.

package command

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"

	"github.com/spf13/cobra"
)

func storeFlag(c *cobra.Command) *string {
	return c.Flags().String("store", "", "folder of computed results (default: LETHE_STORE, or lethe/runs in the user's cache folder)")
}

// openStore opens the store in dir, or the default one, and creates it if necessary.
func openStore(cmd *cobra.Command, dir string) (*store.Store, error) {
	dir, err := storeDir(dir)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	s.OnWarning = func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), "lethe:", cli.Printable(text)) }
	s.OnWait = func(_ store.Key, otherStore bool) {
		if otherStore {
			fmt.Fprintln(cmd.ErrOrStderr(), "lethe: waiting for a run that another process is computing")
		}
	}
	return s, nil
}

// existingStore opens the store in dir, or returns nil if there is none, so that listing a
// store does not create one. A store named by a flag must exist.
func existingStore(cmd *cobra.Command, dir string) (*store.Store, error) {
	path, err := storeDir(dir)
	if err != nil {
		return nil, err
	}
	if !store.Exists(path) && dir != "" {
		return nil, fmt.Errorf("there is no store in %s", path)
	}
	if !store.Exists(path) {
		fmt.Fprintf(cmd.ErrOrStderr(), "lethe: there is no store in %s yet\n", cli.Printable(path))
		return nil, nil
	}
	return openStore(cmd, path)
}

// precisionFlag adds --precision.
func precisionFlag(c *cobra.Command, to *string) {
	f := c.Flags()
	f.StringVar(to, "precision", "", "of products: "+cli.List(engine.Precisions())+" (default: float32; others need xla)")
	cobra.CheckErr(c.RegisterFlagCompletionFunc("precision", cobra.FixedCompletions(engine.Precisions(), cobra.ShellCompDirectiveNoFileComp)))
}

// withPrecision returns the engine's spec with the precision of --precision.
func withPrecision(spec, precision string) (string, error) {
	spec, err := engine.WithPrecision(spec, precision)
	if err != nil {
		return "", cli.Usagef("--precision: %w", err)
	}
	return spec, nil
}

// openEnv opens the store and the engine for recipes. The caller closes the engine.
func openEnv(cmd *cobra.Command, dir, spec string) (*paper.Env, error) {
	shift, err := engine.SeedShift()
	if err != nil {
		return nil, err
	}
	s, err := openStore(cmd, dir)
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(spec)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "lethe:", e)
	return &paper.Env{Engine: e, Store: s, Shift: shift, Program: cmd.Root().Name()}, nil
}

func storeDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	return store.DefaultDir()
}
