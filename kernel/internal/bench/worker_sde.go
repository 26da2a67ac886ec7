// Lethe's side of lethe bench sde.

package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Files that both sides of SDE's benchmark read.
const (
	sdeActivations = "activations.f32"
	sdeDrawn       = "subsets.i64"
)

// inScale widens the in-training reference, so that the references differ.
const inScale = 1.05

// prepare writes a pool with both references, and subsets of the pool, in a folder of their own.
// The format is that of torch.from_file: raw numbers in the machine's byte order.
func (s *sdeRun) prepare(ctx context.Context, dir string, size sdeSize) (string, error) {
	folder := filepath.Join(dir, size.String())
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	rng := engine.Root(1).Stream(engine.StreamBench)
	rows := []struct {
		n     int
		scale float64
	}{{s.pool, 1}, {size.records, inScale}, {size.records, 1}}
	err := create(filepath.Join(folder, sdeActivations), func(w io.Writer) error {
		row := make([]float32, size.dim)
		for _, part := range rows {
			for range part.n {
				for k := range row {
					row[k] = float32(part.scale * rng.NormFloat64())
				}
				if err := errors.Join(ctx.Err(), binary.Write(w, binary.NativeEndian, row)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return folder, create(filepath.Join(folder, sdeDrawn), func(w io.Writer) error {
		return writeSubsets(w, s.pool, size.records, s.subsets, rng)
	})
}

func writeSubsets(w io.Writer, pool, size, n int, rng *rand.Rand) error {
	subsets, err := sde.DrawSubsets(pool, size, n, rng)
	if err != nil {
		return err
	}
	row := make([]int64, size)
	for _, drawn := range subsets {
		for k, r := range drawn {
			row[k] = int64(r)
		}
		if err := binary.Write(w, binary.NativeEndian, row); err != nil {
			return err
		}
	}
	return nil
}

// create writes a file through a buffer.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// sdeData is the input of a worker.
type sdeData struct {
	pool, in, out sde.Matrix
	subsets       [][]int
}

func readSDE(folder string, size, dim, subsets int) (*sdeData, error) {
	var d sdeData
	floats, err := readNumbers[float32](filepath.Join(folder, sdeActivations))
	if err != nil {
		return nil, err
	}
	rows := len(floats) / dim
	if len(floats) != rows*dim || rows < 2*size {
		return nil, fmt.Errorf("%s: %d numbers do not make a pool and two references of %d x %d", sdeActivations, len(floats), size, dim)
	}
	all := sde.Matrix{Rows: rows, Cols: dim, Data: make([]float64, len(floats))}
	for i, v := range floats {
		all.Data[i] = float64(v)
	}
	part := func(from, to int) sde.Matrix {
		return sde.Matrix{Rows: to - from, Cols: dim, Data: all.Data[from*dim : to*dim]}
	}
	d.pool, d.in, d.out = part(0, rows-2*size), part(rows-2*size, rows-size), part(rows-size, rows)
	drawn, err := readNumbers[int64](filepath.Join(folder, sdeDrawn))
	if err != nil {
		return nil, err
	}
	if len(drawn) != subsets*size {
		return nil, fmt.Errorf("%s: %d rows do not make %d subsets of %d", sdeDrawn, len(drawn), subsets, size)
	}
	for k := range subsets {
		rows := make([]int, size)
		for i := range rows {
			rows[i] = int(drawn[k*size+i])
		}
		d.subsets = append(d.subsets, rows)
	}
	return &d, nil
}

func readNumbers[T float32 | int64](path string) ([]T, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var one T
	out := make([]T, len(b)/binary.Size(one))
	_, err = binary.Decode(b, binary.NativeEndian, out)
	return out, err
}

// sde computes all subsets, or the first again and again with the pool's kernel values known, or
// exact moments of the first from its kernel matrices. Its value is the mean divergence from the
// out-of-training reference over the subsets that the peer computes too, or the last moment.
func (d server) sde(_ context.Context, args []string) error {
	n, err := positiveInts(args[1:5]...)
	if err != nil {
		return err
	}
	size, dim, subsets, judged := n[0], n[1], n[2], n[3]
	method, err := sdeMethod(args[5])
	if err != nil {
		return err
	}
	data, err := readSDE(args[0], size, dim, subsets)
	if err != nil {
		return err
	}
	if judged > subsets {
		return cli.Usagef("%d of %d subsets", judged, subsets)
	}
	switch args[6] {
	case allSubsets:
		if _, err := data.rate(method, judged, judged); err != nil { // warms up
			return err
		}
		return d.serve(func() (float64, error) { return data.rate(method, subsets, judged) })
	case oneSubset:
		return d.oneSubset(method, data)
	case exactMean, exactBoth:
		return d.exact(args[6] == exactBoth, data)
	}
	return cli.Usagef("part %q: there are %s, %s, %s, %s", args[6], allSubsets, oneSubset, exactMean, exactBoth)
}

func sdeMethod(name string) (sde.Method, error) {
	for _, m := range sde.Methods() {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, cli.Usagef("no method %q", name)
}

// rate runs the whole protocol on the first n subsets, with a new pool.
func (d *sdeData) rate(m sde.Method, n, judged int) (float64, error) {
	pool, err := sde.NewPool("forgotten", &d.pool)
	if err != nil {
		return 0, err
	}
	r, err := sde.OTR(m, sde.Targets{Pool: pool, Subsets: d.subsets[:n]}, sde.References{In: &d.in, Out: &d.out}, sde.Options{})
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, j := range r.Verdicts.Distances[:judged] {
		total += j.Out
	}
	return total / float64(judged), nil
}

// oneSubset times the comparison of a single subset. First it runs the protocol as often as it
// takes for the pool to keep its kernel values; the method does not matter for that, and the
// closed form is cheap.
func (d server) oneSubset(m sde.Method, data *sdeData) error {
	pool, err := sde.NewPool("forgotten", &data.pool)
	if err != nil {
		return err
	}
	pairs := len(data.subsets) * data.in.Rows * data.in.Rows / 2
	for known := 0; known < pool.Len()*pool.Len(); known += pairs {
		if _, err := sde.OTR(sde.ClosedForm{}, sde.Targets{Pool: pool, Subsets: data.subsets}, sde.References{In: &data.in, Out: &data.out},
			sde.Options{}); err != nil {
			return err
		}
	}
	p, err := m.Prepare(pool, sde.References{In: &data.in, Out: &data.out}, sde.Options{})
	if err != nil {
		return err
	}
	k := 0
	return d.serve(func() (float64, error) {
		rows := data.subsets[k%len(data.subsets)]
		k++
		return p.Compare(rows, engine.Root(1).Stream(engine.StreamBench, uint64(k))).Out, nil
	})
}

// exact times the closed form of the first subset from computed kernel matrices: its mean alone,
// or with the standard deviation.
func (d server) exact(both bool, data *sdeData) error {
	target := data.pool.Gather(data.subsets[0])
	pair, err := sde.NewKernelPair(&target, sde.SqrtDim())
	if err != nil {
		return err
	}
	return d.serve(func() (float64, error) {
		if both {
			_, sd := pair.Moments()
			return sd, nil
		}
		return pair.Mean(), nil
	})
}
