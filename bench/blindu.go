package bench

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/paper/blindu"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"

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
	federation, local int // its rounds, and a user's epochs in one
	figure            string
}

// timed are the methods that can be timed: what each is called here and in the paper's
// tables, and how the program reads its time, nil where it does not.
var timed = []struct {
	name, label string
	read        func(t taken, step float64) float64
}{
	{"vbu", blindu.VBU, func(t taken, step float64) float64 { return float64(t.Steps) * step }},
	{"hbfu", blindu.HBFU, func(t taken, _ float64) float64 { return 5 * t.Ordinary * float64(t.Rounds-1) }},
	{"bfu", blindu.BFU, nil},
	{"blindu-w", blindu.With, blindly},
	{"blindu-wo", blindu.Without, blindly},
	{"retrain", blindu.Retrained, nil},
	{"federated", blindu.Together, nil},
}

// blindly is the program's time of BlindU: twice a training step for every step of the
// model, of whose steps and its critic's one in six is its own.
func blindly(t taken, step float64) float64 { return float64(t.Steps) / 6 * 2 * step }

func newBlindU() *cobra.Command {
	var v blinduRun
	c := &cobra.Command{
		Use:   "blindu",
		Short: "Time BlindU's methods, for several shares to forget and several betas",
		Long: `Time the methods of BlindU's Figures 7 (shares of the train part that are to be
forgotten) and 14 (betas) by the wall clock, around the whole method: its owner's
masking and encoding, its critic, its looks at whether it may stop. A process per
share and beta trains the original; the methods work in turns there, the first turn
of each is not counted. A method stops when it has forgotten, so that its steps
stand beside its seconds; of a federation, whose users work here one after another,
also the mean of one user's seconds, and the seconds of all rounds if all users
worked side by side. What is chosen are medians over turns.

"program" is what BlindU's program would print for the same run: for VBU its steps
times the mean step of a training, for BlindU the steps of its model times twice
that, without its critic, for HBFU five times one user's ordinary round times the
rounds less one. It prints none for the others.

The data are generated drawings, or mnist or adult where their files are there.`,
		Example: "  lethe bench blindu\n  lethe bench blindu --data mnist --shares 0.06 --betas 1e-4,1e-3,1e-2,1e-1,1 --figure figure14.png\n" +
			"  lethe bench blindu --records 600 --shares 0.04,0.06 --methods vbu,blindu-wo --turns 1 --json",
	}
	f := c.Flags()
	f.IntVar(&v.threads, "threads", runtime.NumCPU(), "threads")
	f.IntVar(&v.rounds, "turns", 3, "turns of each method that are counted")
	f.StringVar(&v.data, "data", "glyphs", "data set: glyphs, mnist or adult")
	f.IntVar(&v.train, "records", 0, "records at most, 0: all")
	f.IntVar(&v.epochs, "epochs", 0, "epochs of the original, and of retraining, 0: the paper's")
	f.Float64SliceVar(&v.shares, "shares", []float64{0.02, 0.04, 0.06, 0.08, 0.1}, "shares of the train part to forget, separated by commas")
	f.Float64SliceVar(&v.betas, "betas", []float64{1e-3}, "weights of the codes' divergence, separated by commas")
	f.StringSliceVar(&v.methods, "methods", timedNames(), "methods, separated by commas")
	f.IntVar(&v.federation, "rounds", 20, "rounds of a federation at most")
	f.IntVar(&v.local, "local-epochs", 10, "epochs of a user in a round")
	f.StringVar(&v.engine, "engine", "lethe", "engine: lethe, go, xla, xla:/path/to/plugin.so; XLA takes all cores")
	f.StringVar(&v.figure, "figure", "", "draw the seconds to this file, .png or .svg")
	asJSON := cli.JSONFlag(c)
	c.Args = v.parse
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		v.stderr = cmd.ErrOrStderr()
		busy := load("/proc/loadavg")
		cells, err := v.run(cmd.Context())
		if err != nil {
			return err
		}
		if v.figure != "" {
			if err := v.draw(cells); err != nil {
				return err
			}
		}
		if *asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), cells)
		}
		return v.table(cells, busy).Text(cmd.OutOrStdout())
	}
	return c
}

func timedNames() (out []string) {
	for _, m := range timed {
		out = append(out, m.name)
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
		if err := cli.OneOf("methods", name, timedNames()...); err != nil {
			return err
		}
	}
	if v.figure != "" && len(v.shares) > 1 && len(v.betas) > 1 {
		return cli.Usagef("--figure: %d shares and %d betas; a figure is of several of one", len(v.shares), len(v.betas))
	}
	if ending := filepath.Ext(v.figure); v.figure != "" && ending != ".png" && ending != ".svg" {
		return cli.Usagef("--figure %s: expected a name that ends in .png or .svg", v.figure)
	}
	return nil
}

// timing is what one method took in one cell.
type timing struct {
	Method  string    `json:"method"`
	Median  float64   `json:"median_seconds"`
	Seconds []float64 `json:"seconds"` // per turn
	taken
	PerStep float64 `json:"seconds_per_step"`
	// Program is what BlindU's program would call the time.
	Program *float64 `json:"program_seconds,omitempty"`
}

// timedCell is a share and a beta.
type timedCell struct {
	Share     float64  `json:"share"`
	Beta      float64  `json:"beta"`
	Processor string   `json:"processor"`
	What      string   `json:"what"`
	Threads   int      `json:"threads"`
	PeakBytes int64    `json:"peak_bytes"`
	Step      float64  `json:"training_step_seconds"` // mean of an epoch's
	Methods   []timing `json:"methods"`
}

func (v *blinduRun) run(ctx context.Context) (out []timedCell, err error) {
	p := cli.NewProgress(v.stderr, "settings")
	defer p.Finish()
	for _, share := range v.shares {
		for _, beta := range v.betas {
			cell, err := v.cell(ctx, share, beta)
			if err != nil {
				return nil, fmt.Errorf("share %v, beta %v: %w", share, beta, err)
			}
			out = append(out, cell)
			p.Update(int64(len(out)), int64(len(v.shares)*len(v.betas)), fmt.Sprintf("share %v, beta %v", share, beta))
		}
	}
	return out, nil
}

// cell lets the methods work in turns in a process of their own.
func (v *blinduRun) cell(ctx context.Context, share, beta float64) (timedCell, error) {
	out := timedCell{Share: share, Beta: beta, Processor: processor("/proc/cpuinfo"), Threads: v.threads}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	w, err := v.startOwn(ctx, []string{"blindu", v.data, strconv.Itoa(v.train), strconv.Itoa(v.epochs), number(share), number(beta),
		strconv.Itoa(v.federation), strconv.Itoa(v.local)})
	if err != nil {
		return out, err
	}
	defer w.kill()
	out.What = w.what
	seconds, last := map[string][]float64{}, map[string]taken{}
	var steps []float64
	for turn := range v.rounds + 1 {
		for _, name := range append([]string{trainingStep}, v.methods...) {
			t, err := w.course(name)
			switch {
			case err != nil:
				return out, fmt.Errorf("%s: %w", name, err)
			case turn == 0: // warms up
			case name == trainingStep:
				steps = append(steps, t.Seconds/float64(t.Steps))
			default:
				seconds[name], last[name] = append(seconds[name], t.Seconds), t
			}
		}
	}
	if out.Step, err = median(steps); err != nil {
		return out, err
	}
	for _, m := range timed {
		if !slices.Contains(v.methods, m.name) {
			continue
		}
		t := timing{Method: m.label, Seconds: seconds[m.name], taken: last[m.name]}
		if t.Median, err = median(t.Seconds); err != nil {
			return out, err
		}
		t.PerStep = t.Median / float64(t.Steps)
		if m.read != nil {
			read := m.read(t.taken, out.Step)
			t.Program = &read
		}
		out.Methods = append(out.Methods, t)
	}
	done, err := w.finish()
	out.PeakBytes = done.PeakBytes
	return out, err
}

// processor is what a machine's processor calls itself.
func processor(file string) string {
	b, err := os.ReadFile(file)
	if err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

func (v *blinduRun) table(cells []timedCell, busy float64) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("BlindU's methods on %s; %s; %s; %d turns each", v.data, cells[0].What, cells[0].Processor, v.rounds),
		Columns: []report.Column{{Name: "method"}, {Name: "median", Align: report.AlignRight}, {Name: "fastest", Align: report.AlignRight},
			{Name: "steps", Note: "of all users together; BlindU's critic's too, five of six"}, {Name: "a step", Align: report.AlignRight},
			{Name: "a user", Align: report.AlignRight, Note: "of a federation: the mean of one user's seconds"},
			{Name: "side by side", Align: report.AlignRight, Note: "of a federation: if all users worked at once"},
			{Name: "program", Align: report.AlignRight, Note: "what BlindU's program would print"}, {Name: "ended"}},
	}
	for _, c := range cells {
		group := fmt.Sprintf("share %g, beta %g: %s a training step", c.Share, c.Beta, seconds(c.Step))
		for _, m := range c.Methods {
			t.Rows = append(t.Rows, report.Row{Group: group, Cells: []report.Cell{
				report.Str(m.Method), report.Str(seconds(m.Median)), report.Str(seconds(slices.Min(m.Seconds))), report.Num(float64(m.Steps), 0),
				report.Str(seconds(m.PerStep)), of(&m.User, m.User > 0), of(&m.SideBySide, m.User > 0), of(m.Program, m.Program != nil), report.Str(m.Note),
			}})
		}
	}
	if busy > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("In the minute before, %.1f processes wanted to run on %d cores.", busy, runtime.NumCPU()))
	}
	return t
}

// of is a time where there is one.
func of(v *float64, there bool) report.Cell {
	if !there {
		return report.Str("")
	}
	return report.Str(seconds(*v))
}

// draw draws the seconds against the shares, or against the betas where these are several.
func (v *blinduRun) draw(cells []timedCell) error {
	at, x := func(c timedCell) float64 { return c.Share }, plot.Axis{Label: "share of the train part that is to be forgotten"}
	if len(v.betas) > 1 {
		at, x = func(c timedCell) float64 { return c.Beta }, plot.Axis{Label: "beta", Log: true}
	}
	said := fmt.Sprintf("Seconds around a whole method on %s: medians over %d turns, from the fastest to the slowest. "+
		"A method stops when it has forgotten, so that their steps differ; a federation's users work one after another here. %s; %s.",
		v.data, v.rounds, cells[0].What, cells[0].Processor)
	f := plot.Curves{X: x, Y: plot.Axis{Label: "seconds", Log: true}, Meta: plot.Meta{Title: "Time of BlindU's methods", Caption: said}}
	for k, m := range cells[0].Methods {
		curve := plot.Curve{Name: m.Method}
		for _, c := range cells {
			t := c.Methods[k]
			curve.X, curve.Y = append(curve.X, at(c)), append(curve.Y, t.Median)
			curve.Low, curve.High = append(curve.Low, slices.Min(t.Seconds)), append(curve.High, slices.Max(t.Seconds))
		}
		f.Curves = append(f.Curves, curve)
	}
	var b bytes.Buffer
	if err := f.Render(&b, strings.TrimPrefix(filepath.Ext(v.figure), ".")); err != nil {
		return err
	}
	return files.Put(v.figure, b.Bytes())
}
