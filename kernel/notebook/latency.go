package notebook

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
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
		if err := r.measure(ctx, *nb, &l); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (r Run) measure(ctx context.Context, nb Notebook, l *Latencies) error {
	n := 0
	r.OnCell = func(s Step) {
		if n++; n == 1 {
			l.First = append(l.First, s.Seconds)
		} else {
			l.Later = append(l.Later, s.Seconds)
		}
	}
	if _, err := r.Execute(ctx, &nb); err != nil {
		return err
	}
	if n < 2 {
		return fmt.Errorf("%d code cells: expected at least 2", n)
	}
	return nil
}
