package notebook

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strings"
)

//go:embed latency.ipynb
var latency []byte

// LatencyName is the name of the notebook that Latency returns.
const LatencyName = "latency.ipynb"

// Latency returns a small notebook whose cells use the library as those of a
// reader do: the engine, statistics, a table, a figure, a training.
func Latency() (*Notebook, error) { return Read(bytes.NewReader(latency), LatencyName) }

// Latencies are the seconds that cells take, from the request to the idle
// kernel.
type Latencies struct {
	First []float64 // of the first cell, per round
	Later []float64 // of all others
}

// Measure executes the notebook's code cells, on a kernel of its own in every
// round, and leaves nb as it is.
func (r Run) Measure(ctx context.Context, nb *Notebook, rounds int) (Latencies, error) {
	var l Latencies
	for range rounds {
		if err := r.measure(ctx, nb, &l); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (r Run) measure(ctx context.Context, nb *Notebook, l *Latencies) error {
	s, err := r.start(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	n := 0
	for i, c := range nb.Cells {
		if c.Kind != Code || strings.TrimSpace(c.Source) == "" {
			continue
		}
		n++
		run, err := s.Execute(ctx, c.Source, r.Timeout)
		if err != nil {
			return &CellError{i + 1, n, err}
		}
		if n == 1 {
			l.First = append(l.First, run.Seconds)
		} else {
			l.Later = append(l.Later, run.Seconds)
		}
	}
	if n < 2 {
		return fmt.Errorf("%d code cells: expected at least 2", n)
	}
	return nil
}
