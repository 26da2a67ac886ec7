// Package bench implements the commands below lethe bench: they time Lethe, and PyTorch and NumPy
// if they are installed. Each side of a comparison is a process of its own; the folder peer has
// the sides in Python.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"

	"github.com/spf13/cobra"
)

// goalStep is the greatest ratio of a training step of RULER's MLP to PyTorch's.
const goalStep = 0.6

// comparison is a benchmark of two sides.
type comparison struct {
	peer             string // a Python, "" for none
	engine           string // of Lethe's side, "" for Lethe's own
	device           string // where PyTorch computes, "" for the CPU
	threads          int
	rounds, steps    int
	rows, embeddings int
	stderr           io.Writer
}

// New returns the command lethe bench.
func New() *cobra.Command {
	var b comparison
	c := &cobra.Command{
		Use:   "bench",
		Short: "Time a training step and M4, beside PyTorch and NumPy if installed",
		Long: `Time one training step (RULER's MLP, full batch, 50 features, Adam, dropout 0.2)
and M4 over all retained records of 128-dimensional embeddings.

With --peer PYTHON the same step runs in PyTorch and the same M4 in NumPy, if that Python has
them, with the same number of threads. Each side is a process of its own. They alternate, so that
both see the same load. The output has medians, their ratio (below 1: Lethe is faster) and the
peak memory of each side.`,
		Example: "  lethe bench\n  lethe bench --peer python3\n  lethe bench --peer .venv/bin/python --threads 2 --json",
	}
	f := c.Flags()
	b.commonFlags(c, 15)
	f.IntVar(&b.steps, "steps", 5, "training steps per repetition")
	f.IntVar(&b.rows, "rows", 30000, "records of the training step")
	f.IntVar(&b.embeddings, "embeddings", 20000, "records of M4, of which 5 % are forgotten")
	asJSON := cli.JSONFlag(c)
	c.AddCommand(newWorker(), newCells(), newSDE(), newVision(), newFT(), newVAE(), newIB(), newText(), newBlindU(), newAtlas(), newDevice())
	c.Args = func(cmd *cobra.Command, args []string) error {
		return b.check(cmd, args, limit{"steps", b.steps, 1}, limit{"rows", b.rows, 1}, limit{"embeddings", b.embeddings, 100})
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := os.MkdirTemp("", "lethe-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		title := fmt.Sprintf("Training step on %d x 50 records, M4 on %d x 128 embeddings; %d threads, %d repetitions each",
			b.rows, b.embeddings, b.threads, b.rounds)
		return b.report(cmd, *asJSON, title, b.tasks(filepath.Join(dir, "embeddings.npy")))
	}
	return c
}

// commonFlags adds the flags of all comparisons.
func (b *comparison) commonFlags(c *cobra.Command, rounds int) {
	c.Flags().StringVar(&b.peer, "peer", "", "Python to compare with, for instance python3")
	c.Flags().IntVar(&b.threads, "threads", runtime.NumCPU(), "threads of each side")
	c.Flags().IntVar(&b.rounds, "rounds", rounds, "repetitions of each side")
}

// deviceFlags adds the flags for the device of each side.
func (b *comparison) deviceFlags(c *cobra.Command) {
	c.Flags().StringVar(&b.engine, "engine", "lethe", "engine of Lethe's side: lethe, go, xla, xla:/path/to/plugin.so; XLA takes all cores")
	c.Flags().StringVar(&b.device, "peer-device", "cpu", "where PyTorch computes: cpu, cuda, cuda:1")
}

// limit is a flag with its least value.
type limit struct {
	flag     string
	n, least int
}

func (b *comparison) check(cmd *cobra.Command, args []string, limits ...limit) error {
	if len(args) > 0 {
		return cli.Usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	if b.peer == "" && cmp.Or(b.device, "cpu") != "cpu" {
		return cli.Usagef("--peer-device %s needs --peer PYTHON", b.device)
	}
	for _, l := range append([]limit{{"threads", b.threads, 1}, {"rounds", b.rounds, 1}}, limits...) {
		if l.n < l.least {
			return cli.Usagef("--%s %d: expected at least %d", l.flag, l.n, l.least)
		}
	}
	return nil
}

// result compares the two sides on one task.
type result struct {
	Task  string   `json:"task"`
	Lethe side     `json:"lethe"`
	Peer  *side    `json:"peer"`
	Ratio *float64 `json:"ratio"` // of the medians, Lethe over peer
	Goals []goal   `json:"goals,omitempty"`
	Value string   `json:"value_is,omitempty"` // what the values are, if both sides should agree
	Load  float64  `json:"load"`               // load average of the last minute
}

// side is the time and the memory of one side.
type side struct {
	What      string    `json:"what"`
	Median    float64   `json:"median_seconds"`
	Seconds   []float64 `json:"seconds"` // per repetition
	PeakBytes int64     `json:"peak_bytes"`
	Value     float64   `json:"value"` // the last loss, M4, or a mean divergence
	Weights   int       `json:"weights"`
}

// task is a piece of work for one or both sides.
type task struct {
	name      string
	repeat    int      // units of work per repetition
	letheArgs []string // arguments of Lethe's worker
	otherArgs []string // arguments of a worker of Lethe's that is the other side, nil: the peer is
	script    string   // of the peer, "" where it has no part
	args      []string // of the script
	goals     []goal
	value     string // what both sides find, "" where that cannot be compared
}

// tasks returns a training step and M4, whose embeddings are passed from one side to the other in
// a file.
func (b *comparison) tasks(embeddings string) []task {
	rows := strconv.Itoa(b.rows)
	return []task{
		{name: "training step", repeat: b.steps, letheArgs: []string{"step", rows}, script: "step.py", args: []string{rows, strconv.Itoa(b.threads)},
			goals: []goal{{Of: goalRatio, AtMost: goalStep}}},
		{name: "M4", repeat: 1, letheArgs: []string{"m4", strconv.Itoa(b.embeddings), embeddings}, script: "m4.py",
			args: []string{embeddings, strconv.Itoa(b.embeddings / 20)}, value: "M4"},
	}
}

// runTasks runs tasks one after another.
func (b *comparison) runTasks(ctx context.Context, tasks []task) ([]result, error) {
	if b.peer != "" {
		if _, err := exec.LookPath(b.peer); err != nil {
			return nil, fmt.Errorf("--peer: %w", err)
		}
	}
	var out []result
	for _, t := range tasks {
		r, err := b.compare(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// compare runs the sides of a task alternately.
func (b *comparison) compare(ctx context.Context, t task) (result, error) {
	r := result{Task: t.name, Value: t.value}
	lethe, err := b.startLethe(ctx, t.letheArgs)
	if err != nil {
		return r, err
	}
	defer lethe.kill()
	sides := []*worker{lethe}
	if t.otherArgs != nil {
		other, err := b.startLethe(ctx, t.otherArgs)
		if err != nil {
			return r, err
		}
		defer other.kill()
		sides = append(sides, other)
	}
	if b.peer != "" && t.script != "" {
		peer, err := b.startPeer(ctx, t.script, t.args)
		if err != nil {
			return r, fmt.Errorf("%s: %w", b.peer, err)
		}
		defer peer.kill()
		switch {
		case peer.missing != "":
			fmt.Fprintf(b.stderr, "lethe: %s has no %s: the %s has no comparison\n", b.peer, peer.missing, t.name)
		case peer.weights != lethe.weights && peer.weights > 0 && lethe.weights > 0:
			return r, fmt.Errorf("%d weights here and %d in %s: these are different networks", lethe.weights, peer.weights, peer.what)
		default:
			sides = append(sides, peer)
		}
	}
	if err := b.alternate(sides, t); err != nil {
		return r, err
	}
	var done []side
	for _, w := range sides {
		side, err := w.finish()
		if err != nil {
			return r, fmt.Errorf("%s: %w", w.what, err)
		}
		done = append(done, side)
	}
	r.Lethe = done[0]
	if len(done) > 1 {
		ratio := done[0].Median / done[1].Median
		r.Peer, r.Ratio = &done[1], &ratio
	}
	if cmp.Or(b.device, "cpu") != "cpu" { // goals are for the CPU
		return r, nil
	}
	for _, g := range t.goals {
		r.Goals = append(r.Goals, g.judge(r))
	}
	return r, nil
}

func (b *comparison) alternate(sides []*worker, t task) error {
	task := progress.Begin(t.name, b.rounds)
	defer task.Done()
	for range b.rounds {
		for _, w := range sides {
			if err := w.runUnits(t.repeat); err != nil {
				return fmt.Errorf("%s: %w", w.what, err)
			}
		}
		task.Add(1)
	}
	return nil
}

func median(x []float64) (float64, error) { return stats.Median(x) }

func (s side) memory() string {
	if s.PeakBytes == 0 {
		return "unknown"
	}
	return cli.Bytes(s.PeakBytes)
}
