package kernel

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"

	"github.com/spf13/cobra"
)

// benchRun is a benchmark that was asked for.
type benchRun struct {
	peer             string // a Python, "" for none
	threads          int
	rounds, steps    int
	rows, embeddings int
	stderr           io.Writer
}

func newBench() *cobra.Command {
	var b benchRun
	c := &cobra.Command{
		Use:   "bench",
		Short: "Time a training step and M4, beside PyTorch and NumPy where you have them",
		Long: `Time one training step (RULER's MLP, full batch, 50 features, Adam, dropout 0.2)
and M4 over all retained records of 128-dimensional embeddings.

With --peer PYTHON the same step runs in PyTorch and the same M4 in NumPy, if
that Python has them, with the same number of threads. Each side is a process of
its own; they work in turns, so that both see the same machine. Reported are
medians, their ratio (below 1: Lethe is faster) and the peak memory of each.`,
		Example:     "  lethe bench\n  lethe bench --peer python3\n  lethe bench --peer .venv/bin/python --threads 2 --json",
		Annotations: withEngine(),
	}
	f := c.Flags()
	f.StringVar(&b.peer, "peer", "", "Python to compare with, for instance python3")
	f.IntVar(&b.threads, "threads", runtime.NumCPU(), "threads of each side")
	f.IntVar(&b.rounds, "rounds", 15, "turns of each side")
	f.IntVar(&b.steps, "steps", 5, "training steps per turn")
	f.IntVar(&b.rows, "rows", 30000, "records of the training step")
	f.IntVar(&b.embeddings, "embeddings", 20000, "records of M4, of which 5 % are forgotten")
	asJSON := jsonFlag(c)
	c.AddCommand(newBenchWorker(), newBenchCells())
	c.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
		}
		for _, v := range []struct {
			name string
			n    int
			min  int
		}{{"threads", b.threads, 1}, {"rounds", b.rounds, 1}, {"steps", b.steps, 1}, {"rows", b.rows, 1}, {"embeddings", b.embeddings, 100}} {
			if v.n < v.min {
				return usagef("--%s %d: expected at least %d", v.name, v.n, v.min)
			}
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b.stderr = cmd.ErrOrStderr()
		results, err := b.run(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(cmd.OutOrStdout(), results)
		}
		return benchTable(b, results).Text(cmd.OutOrStdout())
	}
	return c
}

// benchResult compares the two sides on one task.
type benchResult struct {
	Task  string     `json:"task"`
	Lethe benchSide  `json:"lethe"`
	Peer  *benchSide `json:"peer"`
	Ratio *float64   `json:"ratio"` // of the medians, Lethe over peer
}

// benchSide is one side's time and memory.
type benchSide struct {
	What      string    `json:"what"`
	Median    float64   `json:"median_seconds"`
	Seconds   []float64 `json:"seconds"` // per turn
	PeakBytes int64     `json:"peak_bytes"`
	Value     float64   `json:"value"` // the last loss, or M4
}

func (b *benchRun) run(ctx context.Context) ([]benchResult, error) {
	if b.peer != "" {
		if _, err := exec.LookPath(b.peer); err != nil {
			return nil, fmt.Errorf("--peer: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "lethe-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	embeddings := filepath.Join(dir, "embeddings.npy")
	forget := strconv.Itoa(b.embeddings / 20)
	step, err := b.compare(ctx, "training step", b.steps,
		[]string{"step", strconv.Itoa(b.rows)}, "step.py", []string{strconv.Itoa(b.rows), strconv.Itoa(b.threads)})
	if err != nil {
		return nil, err
	}
	m4, err := b.compare(ctx, "M4", 1,
		[]string{"m4", strconv.Itoa(b.embeddings), embeddings}, "m4.py", []string{embeddings, forget})
	if err != nil {
		return nil, err
	}
	return []benchResult{step, m4}, nil
}

// compare lets both sides work on a task in turns.
func (b *benchRun) compare(ctx context.Context, task string, repeat int, own []string, script string, args []string) (benchResult, error) {
	r := benchResult{Task: task}
	lethe, err := b.startOwn(ctx, own)
	if err != nil {
		return r, fmt.Errorf("%s: %w", task, err)
	}
	defer lethe.kill()
	sides := []*worker{lethe}
	if b.peer != "" {
		peer, err := b.startPeer(ctx, script, args)
		if err != nil {
			return r, fmt.Errorf("%s in %s: %w", task, b.peer, err)
		}
		defer peer.kill()
		if peer.missing != "" {
			fmt.Fprintf(b.stderr, "lethe: %s has no %s: nothing to compare the %s with\n", b.peer, peer.missing, task)
		} else {
			sides = append(sides, peer)
		}
	}
	p := newProgress(b.stderr, "turns")
	defer p.finish()
	for round := range b.rounds {
		for _, w := range sides {
			if err := w.turn(repeat); err != nil {
				return r, fmt.Errorf("%s, %s: %w", task, w.what, err)
			}
		}
		p.update(int64(round+1), int64(b.rounds), task)
	}
	var done []benchSide
	for _, w := range sides {
		side, err := w.finish()
		if err != nil {
			return r, fmt.Errorf("%s, %s: %w", task, w.what, err)
		}
		done = append(done, side)
	}
	r.Lethe = done[0]
	if len(done) > 1 {
		ratio := done[0].Median / done[1].Median
		r.Peer, r.Ratio = &done[1], &ratio
	}
	return r, nil
}

func median(x []float64) (float64, error) { return stats.Median(x) }

func benchTable(b benchRun, results []benchResult) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("Training step on %d x 50 records, M4 on %d x 128 embeddings; %d threads, %d turns each", b.rows, b.embeddings, b.threads, b.rounds),
		Columns: []report.Column{{Name: "task"}, {Name: "program"}, {Name: "median", Unit: "ms"}, {Name: "fastest", Unit: "ms"},
			{Name: "peak memory", Align: report.AlignRight}, {Name: "ratio", Note: "Lethe's median over the other's; below 1 Lethe is faster"}},
	}
	for _, r := range results {
		ratio := report.Str("")
		if r.Ratio != nil {
			ratio = report.Num(*r.Ratio, 2)
		}
		t.Rows = append(t.Rows, benchRow(r.Task, r.Lethe, ratio))
		if r.Peer != nil {
			t.Rows = append(t.Rows, benchRow(r.Task, *r.Peer, report.Str("")))
		}
		if r.Task == "M4" && r.Peer != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("M4 is %.6f here and %.6f in the peer.", r.Lethe.Value, r.Peer.Value))
		}
	}
	return t
}

func benchRow(task string, s benchSide, ratio report.Cell) report.Row {
	fastest := s.Seconds[0]
	for _, v := range s.Seconds {
		fastest = min(fastest, v)
	}
	memory := "unknown here"
	if s.PeakBytes > 0 {
		memory = bytesText(s.PeakBytes)
	}
	return report.Row{Cells: []report.Cell{report.Str(task), report.Str(strings.TrimSpace(s.What)), report.Num(1000*s.Median, 2), report.Num(1000*fastest, 2), report.Str(memory), ratio}}
}
