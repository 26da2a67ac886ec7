// lethe bench blindu: the times of BlindU's methods.

package bench

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/paper/blindu"
	"github.com/lethe-ml/lethe/lib/progress"

	"github.com/spf13/cobra"
)

// blinduRun times the methods of BlindU's Figures 7 and 14.
type blinduRun struct {
	comparison
	data              string
	train             int // records
	epochs            int
	shares, betas     []float64
	methods           []string
	federation, local int // rounds, and a user's epochs per round
	figure            string
}

func newBlindU() *cobra.Command {
	var v blinduRun
	c := &cobra.Command{
		Use:   "blindu",
		Short: "Time BlindU's methods for several shares to forget and several betas",
		Long: `Time the methods of BlindU's Figures 7 (shares of the train part to forget) and 14 (betas), whole:
with the user's masking and encoding, the critic, and the tests of the stop criterion. A process
per share and beta trains the original; the methods alternate in it, and the first run of each is
not counted. Values are medians over the other runs.

A method stops when it has forgotten, so the table has its steps beside its seconds. The users of a
federation run one after another here; the table also has the mean seconds of one user, and the
seconds of all rounds if all users ran in parallel.

"program" is what BlindU's program would print for the same run: for VBU its steps times the mean
step of a training; for BlindU the steps of its model times twice that, without its critic; for
HBFU five times one user's ordinary round times the rounds less one; nothing for the others.`,
		Example: "  lethe bench blindu\n  lethe bench blindu --data mnist --shares 0.06 --betas 1e-4,1e-3,1e-2,1e-1,1 --figure figure14.png\n" +
			"  lethe bench blindu --records 600 --shares 0.04,0.06 --methods vbu,blindu-wo --turns 1 --json",
	}
	f := c.Flags()
	f.IntVar(&v.threads, "threads", runtime.NumCPU(), "threads")
	f.IntVar(&v.rounds, "turns", 3, "counted runs of each method")
	f.StringVar(&v.data, "data", "glyphs", "glyphs (generated), mnist or adult, if installed")
	f.IntVar(&v.train, "records", 0, "greatest number of records, 0: all")
	f.IntVar(&v.epochs, "epochs", 0, "epochs of the original and of retraining, 0: the paper's")
	f.Float64SliceVar(&v.shares, "shares", []float64{0.02, 0.04, 0.06, 0.08, 0.1}, "shares of the train part to forget, separated by commas")
	f.Float64SliceVar(&v.betas, "betas", []float64{1e-3}, "weights of the codes' divergence")
	f.StringSliceVar(&v.methods, "methods", timedMethodNames(), "by name")
	f.IntVar(&v.federation, "rounds", 20, "greatest number of rounds of a federation")
	f.IntVar(&v.local, "local-epochs", 10, "epochs of a user per round")
	f.StringVar(&v.engine, "engine", "lethe", "engine: lethe, go, xla, xla:/path/to/plugin.so; XLA takes all cores")
	f.StringVar(&v.figure, "figure", "", "draw the seconds to this file, .png or .svg")
	asJSON := cli.JSONFlag(c)
	c.Args = v.parse
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		v.stderr = cmd.ErrOrStderr()
		busy := paper.Load()
		cells, err := v.run(cmd.Context())
		if err != nil {
			return err
		}
		if v.figure != "" {
			if err := v.draw(v.newTimes(cells, busy)); err != nil {
				return err
			}
		}
		if *asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), cells)
		}
		t := v.newTimes(cells, busy).Table()
		t.Title = fmt.Sprintf("BlindU's methods on %s; %s; %s; %d runs each", v.data, cells[0].What, cells[0].Processor, v.rounds)
		return t.Text(cmd.OutOrStdout())
	}
	return c
}

func timedMethodNames() (out []string) {
	for _, m := range blindu.TimedMethods() {
		out = append(out, m.Name)
	}
	return out
}

// parse checks the command line.
func (v *blinduRun) parse(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cli.Usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	for _, l := range []limit{{"threads", v.threads, 1}, {"turns", v.rounds, 1}, {"rounds", v.federation, 1}, {"local-epochs", v.local, 1},
		{"records", v.train, 0}, {"epochs", v.epochs, 0}, {"shares", len(v.shares), 1}, {"betas", len(v.betas), 1}, {"methods", len(v.methods), 1}} {
		if l.n < l.least {
			return cli.Usagef("--%s %d: expected at least %d", l.flag, l.n, l.least)
		}
	}
	if _, err := blindu.CaseOf(v.data); err != nil {
		return cli.Usagef("--data: %w", err)
	}
	for _, s := range v.shares {
		if !(s > 0 && s < 1) {
			return cli.Usagef("--shares %v: expected shares between 0 and 1", s)
		}
	}
	for _, b := range v.betas {
		if !(b > 0) || math.IsInf(b, 1) {
			return cli.Usagef("--betas %v: expected weights above 0", b)
		}
	}
	for _, name := range v.methods {
		if err := cli.OneOf("methods", name, timedMethodNames()...); err != nil {
			return err
		}
	}
	if v.figure != "" && len(v.shares) > 1 && len(v.betas) > 1 {
		return cli.Usagef("--figure: %d shares and %d betas; a figure needs a single share or a single beta", len(v.shares), len(v.betas))
	}
	if ending := filepath.Ext(v.figure); v.figure != "" && ending != ".png" && ending != ".svg" {
		return cli.Usagef("--figure %s: expected a name that ends in .png or .svg", v.figure)
	}
	return nil
}

// timedCell is a setting that was measured in a process of its own.
type timedCell struct {
	blindu.TimedCell
	Processor string `json:"processor"`
	What      string `json:"what"`
	Threads   int    `json:"threads"`
	PeakBytes int64  `json:"peak_bytes"`
}

func (v *blinduRun) run(ctx context.Context) (out []timedCell, err error) {
	ctx, task := progress.Start(ctx, "timing", len(v.shares)*len(v.betas))
	defer task.Done()
	for _, share := range v.shares {
		for _, beta := range v.betas {
			task.Describe(fmt.Sprintf("share %v, beta %v", share, beta))
			cell, err := v.cell(ctx, share, beta)
			if err != nil {
				return nil, fmt.Errorf("share %v, beta %v: %w", share, beta, err)
			}
			out = append(out, cell)
			task.Add(1)
		}
	}
	return out, nil
}

// cell runs the methods alternately in a process of their own.
func (v *blinduRun) cell(ctx context.Context, share, beta float64) (timedCell, error) {
	out := timedCell{TimedCell: blindu.TimedCell{Share: share, Beta: beta}, Processor: paper.Processor(), Threads: v.threads}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	w, err := v.startLethe(ctx, []string{"blindu", v.data, strconv.Itoa(v.train), strconv.Itoa(v.epochs), number(share), number(beta),
		strconv.Itoa(v.federation), strconv.Itoa(v.local)})
	if err != nil {
		return out, err
	}
	defer w.kill()
	out.What = w.what
	methods := slices.DeleteFunc(blindu.TimedMethods(), func(m blindu.TimedMethod) bool { return !slices.Contains(v.methods, m.Name) })
	if err := out.RunInterleaved(v.rounds, methods, w.runMethod); err != nil {
		return out, err
	}
	done, err := w.finish()
	out.PeakBytes = done.PeakBytes
	return out, err
}

// newTimes returns the measured settings in the form of BlindU's Figures 7 and 14.
func (v *blinduRun) newTimes(cells []timedCell, busy float64) blindu.Times {
	t := blindu.Times{On: v.data, Turns: v.rounds, Machine: paper.Machine{
		Processor: cells[0].Processor, Threads: v.threads, Cores: runtime.NumCPU(), Engine: cells[0].What, Date: time.Now().Format(time.DateOnly), Load: busy,
	}}
	for _, c := range cells {
		t.Cells = append(t.Cells, c.TimedCell)
	}
	return t
}

func (v *blinduRun) draw(t blindu.Times) error {
	var b bytes.Buffer
	if err := t.Figure("Time of BlindU's methods", "", "").Render(&b, strings.TrimPrefix(filepath.Ext(v.figure), ".")); err != nil {
		return err
	}
	return files.WriteFile(v.figure, b.Bytes())
}
