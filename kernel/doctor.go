// lethe doctor: checks of everything that notebooks need.

package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/command"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/backend"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/train/bits"

	"github.com/spf13/cobra"
)

func newDoctor() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that notebooks need, and print what to do",
		Long: `Check everything that notebooks need: one line per item, with "ok" or with what to do.
It runs a cell in a real kernel. Nothing is installed or changed.

With an NVIDIA card it says what --engine xla:cuda needs, or tests it for about five
seconds in a process of its own.

With --bits it trains networks of every kind for three steps on Lethe's own backend
instead, and compares a hash of their weights with the known one: it should be the
same on every processor. With --engine it only tests that engine: its device, memory,
driver, plugin and flags, the speed of products, and whether two trainings have the
same bits.

The exit code is 1 if something necessary is broken, or a hash differs.`,
		Example: "  lethe doctor\n  lethe doctor --json\n  lethe doctor --bits\n  lethe doctor --engine xla:cuda",
		Args:    cobra.NoArgs,
	}
	onlyBits := c.Flags().Bool("bits", false, "only compare the weights of trained networks with the known ones, bit for bit")
	spec := c.Flags().String("engine", "", "only test this engine, as xla:cuda")
	c.MarkFlagsMutuallyExclusive("bits", "engine")
	module := moduleFlag(c)
	cli.AnswerWith(c, func(cmd *cobra.Command, _ []string) (cli.Answer, error) {
		switch {
		case *onlyBits:
			return compareBits(cmd.Context())
		case *spec != "":
			return showFindings(testEngine(cmd.Context(), *spec)), context.Cause(cmd.Context())
		}
		all, err := allFindings(cmd.Context(), *module)
		return showFindings(all), err
	})
	return c
}

// showFindings returns findings as an answer, which fails if one is broken.
func showFindings(all []setup.Finding) cli.Answer {
	var text strings.Builder
	var broken []string
	for _, f := range all {
		fmt.Fprintf(&text, "%-7s %-16s %s\n", f.State, f.Thing, f.Detail)
		if f.State == setup.StateBroken {
			broken = append(broken, f.Thing)
		}
	}
	a := cli.Answer{Value: all, Text: cli.PrintText(&text)}
	if len(broken) > 0 {
		a.Err = errors.New("broken: " + cli.List(broken))
	}
	return a
}

// compareBits trains every network for three steps and compares the hashes of the weights
// with the known ones.
func compareBits(ctx context.Context) (cli.Answer, error) {
	e, err := engine.Open(backend.Name)
	if err != nil {
		return cli.Answer{}, err
	}
	defer e.Close()
	all, err := bits.Read(ctx, e)
	var text strings.Builder
	a, here := cli.Answer{Value: all, Text: cli.PrintText(&text)}, fmt.Sprintf("%s/%s with %s", runtime.GOOS, runtime.GOARCH, kernels.Best())
	for _, r := range all {
		state := "ok"
		if !r.OK() {
			state, a.Err = "differs", fmt.Errorf("the weights of %s differ from the known ones, on %s", r.Network, here)
		}
		fmt.Fprintf(&text, "%-7s %-20s %s\n", state, r.Network, r.Hash)
	}
	fmt.Fprintf(&text, "three steps each, %s\n", here)
	return a, err
}

func allFindings(ctx context.Context, module string) ([]setup.Finding, error) {
	home, err := paths.Home()
	if err != nil {
		return nil, err
	}
	all, ready, err := setup.Inspect(ctx, setup.Options{Module: module})
	if err != nil {
		return nil, err
	}
	if ready != nil {
		f, err := cellFinding(ctx, ready)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	all = append(all, installedFindings()...)
	all = append(all, engineFinding())
	all = append(all, cardFindings(ctx, home)...)
	all = append(all, setup.FreeSpace(home)...)
	all = append(all, dataFinding(), leftoverFinding(home))
	return all, context.Cause(ctx)
}

// checkCell is the cell that the doctor runs, and checkCellOutput what it prints.
const (
	checkCell = `import (
	"fmt"
	"github.com/lethe-ml/lethe/lib/engine"
)
%%
e, err := engine.Open("auto")
if err != nil {
	panic(err)
}
fmt.Println(6*7, e.Info())`
	checkCellOutput = "42 lethe/"
)

// cellFinding runs checkCell twice, as a notebook.
func cellFinding(ctx context.Context, ready *setup.Ready) (setup.Finding, error) {
	f := setup.Finding{Thing: "one cell", State: setup.StateOK}
	nb, err := notebook.New(checkCell, checkCell)
	if err != nil {
		return f, err
	}
	var seconds []float64
	run := notebook.Run{Jupyter: jupyterOf(ready), Folder: os.TempDir(), Timeout: time.Minute}
	run.OnCell = func(s notebook.Step) { seconds = append(seconds, s.Seconds) }
	total, err := run.Execute(ctx, nb)
	printed := ""
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			printed += o.Text
		}
	}
	switch {
	case err != nil:
		f.State, f.Detail = setup.StateBroken, fmt.Sprintf("a kernel cannot run it: %v (lethe clean --all, and lethe lab, build the kernel anew)", err)
	case strings.Count(printed, checkCellOutput) != 2:
		f.State, f.Detail = setup.StateBroken, fmt.Sprintf("prints %q, expected %q", printed, checkCellOutput)
	default:
		f.Detail = fmt.Sprintf("kernel starts in %.1f s, first cell with the library %.1f s, the same again %.1f s", total.Start, seconds[0], seconds[1])
	}
	return f, nil
}

func engineFinding() setup.Finding {
	e, err := engine.Open("auto")
	if err != nil {
		return setup.Finding{Thing: "engine", State: setup.StateBroken, Detail: err.Error()}
	}
	defer e.Close()
	return setup.Finding{Thing: "engine", State: setup.StateOK, Detail: e.String()}
}

// dataFinding reports which data sets can be loaded; no command needs all of them.
func dataFinding() setup.Finding {
	f := setup.Finding{Thing: "data sets", State: setup.StateOK}
	here, missing := 0, []string{}
	for _, info := range command.DataSets() {
		if info.Embedded || info.Synthetic || info.Present() {
			here++
		} else if info.Published() {
			missing = append(missing, info.Name)
		}
	}
	f.Detail = fmt.Sprintf("%d of %d here", here, here+len(missing))
	if len(missing) > 0 {
		f.State, f.Detail = setup.StateNote, f.Detail+"; to get the others: lethe data get "+strings.Join(missing, " ")
	}
	return f
}

// installedFindings checks that the kernels installed by lethe install for this user point
// to existing files.
func installedFindings() []setup.Finding {
	data, err := userData()
	if err != nil {
		return nil
	}
	var out []setup.Finding
	for _, name := range setup.AllKernels {
		dir := filepath.Join(data, "kernels", name)
		if !setup.Owned(dir) {
			continue
		}
		f := setup.Finding{Thing: "installed kernel", State: setup.StateOK, Detail: dir}
		if missing := setup.MissingFile(dir); missing != "" {
			f.State, f.Detail = setup.StateNote, dir+" needs "+missing+", which is gone: lethe install writes it anew, lethe uninstall removes it"
		}
		out = append(out, f)
	}
	return out
}

func leftoverFinding(home string) setup.Finding {
	f := setup.Finding{Thing: "leftovers", State: setup.StateOK, Detail: "none"}
	left, err := setup.FindLeftovers(home)
	switch {
	case err != nil:
		f.State, f.Detail = setup.StateNote, err.Error()
	case len(left.Processes)+len(left.Folders) > 0:
		f.State = setup.StateNote
		f.Detail = fmt.Sprintf("%d processes and %d temporary folders of kernels that are gone: lethe clean", len(left.Processes), len(left.Folders))
	}
	return f
}
