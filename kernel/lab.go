// lethe lab: JupyterLab with the notebooks.

package kernel

import (
	"cmp"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/notebooks"

	"github.com/spf13/cobra"
)

// startNotebook is the notebook that is opened first.
const startNotebook = "start/00-forgetting-in-five-minutes.ipynb"

// notebookFiles are the notebooks embedded in this program.
var notebookFiles fs.FS = notebooks.Files

func newLab() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab [FOLDER]",
		Short: "JupyterLab with the notebooks; the first start sets everything up",
		Long: `Start JupyterLab with the notebooks.

The first start builds and downloads what is missing, which takes some minutes; later
starts need no network. What it makes is in the folder that LETHE_HOME names, by default
lethe in the user's cache folder. An interrupted start resumes.

The notebooks are copies, so that you can change them and still update. They are written
into FOLDER, which is made where it is missing. In a folder with other files they are in
its sub-folder lethe-notebooks. Without FOLDER they are in lethe-notebooks in the clone
of Lethe that you are in, which git ignores, and outside a clone in the working
directory. A new version replaces notebooks that you have not edited (outputs do not
count); edited ones are never overwritten, and you are told. In a clone, a FOLDER with
files in it is opened as it is: lethe lab notebooks opens the originals.

Cells import the library of the clone that FOLDER or the working directory is in, or
that --module names. Outside a clone they import the library at the version of this
program, which the go tool fetches once.

If pip cannot download, an installed JupyterLab or notebook is used. The address is
printed on standard output; Ctrl-C ends JupyterLab and its kernels.`,
		Example: `  lethe lab
  lethe lab my-notebooks           in a folder of your choice
  lethe lab --port 9000 --no-browser
  lethe lab --no-completion        saves up to 0.6 GB of memory per notebook`,
		Args: cobra.MaximumNArgs(1),
	}
	ip := c.Flags().String("ip", "", "address to listen on, 0.0.0.0 for all, as in a container (default: 127.0.0.1)")
	port := c.Flags().Int("port", 0, "port of the server (default: the first free one from 8888)")
	noBrowser := c.Flags().Bool("no-browser", false, "do not open a browser")
	noCompletion, module := noCompletionFlag(c), moduleFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if *port < 0 || *port > 65535 {
			return cli.Usagef("--port %d is no port", *port)
		}
		if *ip != "" && net.ParseIP(*ip) == nil {
			return cli.Usagef("--ip %s is no address", *ip)
		}
		o := setup.Options{
			Out: cmd.ErrOrStderr(), NoCompletion: *noCompletion, Module: *module, Notebooks: notebookFiles, Copies: len(args) == 0,
		}
		if len(args) > 0 {
			o.Folder = args[0]
		}
		return openLab(cmd, o, setup.ServerOptions{IP: *ip, Port: *port, Browser: !*noBrowser})
	}
	cli.MarkQuiet(c)
	return c
}

func noCompletionFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("no-completion", false, "kernels without code completion, for machines with little memory (also: "+setup.EnvCompletion+"=off)")
}

// moduleFlag adds --module, which says where cells import the library from.
func moduleFlag(c *cobra.Command) *string {
	return c.Flags().String("module", "", "cells import the library from the clone of Lethe in this `folder` (default: the clone that you are in, or the version of this program)")
}

func openLab(cmd *cobra.Command, o setup.Options, server setup.ServerOptions) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP)
	defer stop()
	if o.Folder != "" {
		if info, err := os.Stat(o.Folder); err == nil && !info.IsDir() {
			return cli.Usagef("%s is no folder", o.Folder)
		}
	}
	ready, err := setup.Prepare(ctx, o)
	if err != nil {
		return err
	}
	server.Open = openFirst(ready)
	s, err := ready.Serve(ctx, server)
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), s.URL)
	fmt.Fprintf(cmd.ErrOrStderr(), "lethe: JupyterLab serves %s at the address above; Ctrl-C ends it; its messages are in %s\n", ready.Notebooks, s.Log)
	return s.Wait(ctx)
}

// openFirst returns the start notebook, relative to the folder that JupyterLab opens, or "" if
// it is not there.
func openFirst(ready *setup.Ready) string {
	path := filepath.Join(cmp.Or(ready.Unpacked, ready.Notebooks), filepath.FromSlash(startNotebook))
	rel, err := filepath.Rel(ready.Notebooks, path)
	if _, missing := os.Stat(path); missing != nil || err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}
