package sdepaper

// Tables 9 and 10: the time of the methods.

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

var table9 = paper.Recipe{
	ID:    "sde/table9",
	Title: "SDE Table 9. Seconds to judge m subsets, 512 activations",
	Doc: "Wall-clock time of judging m subsets against both references with 200 permutations, on this machine, once, with whatever " +
		"else runs on it; activations are independent normal numbers, which cost what real ones do. " +
		"'closed form' takes the exact mean and standard deviation in place of the draws.",
}

var table10 = paper.Recipe{
	ID:    "sde/table10",
	Title: "SDE Table 10. Seconds to judge m subsets, 8,192 activations",
	Doc:   table9.Doc,
}

func init() {
	table9.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		return cost(ctx, e, scale, table9, 512, map[int]string{400: "9.51 18.76 37.76", 1000: "11.06 21.92 45.85", 2000: "29.02 57.70 116.04"})
	}
	table10.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		return cost(ctx, e, scale, table10, 8192, map[int]string{400: "13.46 26.55 52.35", 1000: "27.15 54.18 107.99", 2000: "84.84 168.30 335.67"})
	}
}

// costPool is the number of forgotten records that subsets are drawn from: R = 10 % of CIFAR-10.
const costPool = 5000

func cost(ctx context.Context, e *paper.Env, scale string, r paper.Recipe, dim int, printed map[int]string) (*paper.Output, error) {
	if _, err := StudyAt(scale); err != nil {
		return nil, err
	}
	sizes, counts := []int{400, 1000, 2000}, []int{50, 100, 200}
	if scale == "quick" {
		sizes, counts = sizes[:2], counts[:2]
	}
	t := &report.Table{ID: r.ID, Title: r.Title, Caption: r.Doc, Provenance: e.Provenance(r.ID, scale, Results, nil, nil, nil)}
	t.Columns = []report.Column{{Name: "judge"}}
	for _, m := range counts {
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("m = %d", m), Unit: "s"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "paper", Unit: "s", Note: "as printed for m = 50, 100, 200 on an NVIDIA A5000"})
	ctx, task := progress.Start(ctx, "timing", 2*len(sizes)*len(counts))
	defer task.Done()
	pool := normals(costPool, dim, 1)
	for _, size := range sizes {
		in, out := normals(size, dim, 2), normals(size, dim, 3)
		for _, m := range []sde.Method{sde.SDE{}, sde.ClosedForm{}} {
			row := report.Row{Group: fmt.Sprintf("|S| = %d", size), Cells: []report.Cell{report.Str(m.Name())}}
			if m.Name() != (sde.SDE{}).Name() {
				row.Kind = report.Control
			}
			for _, n := range counts {
				task.Describe(fmt.Sprintf("timing %s: |S| %d, m %d", m.Name(), size, n))
				seconds, err := timed(ctx, m, pool, in, out, size, n)
				if err != nil {
					return nil, err
				}
				row.Cells = append(row.Cells, report.Num(seconds, 2))
				task.Add(1)
			}
			if row.Kind == "" {
				row.Cells = append(row.Cells, report.Str(printed[size]))
			} else {
				row.Cells = append(row.Cells, report.Str(""))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	t.Notes = append(t.Notes,
		fmt.Sprintf("%d cores, %s/%s; subsets of %d records, whose distances are computed once; inference of the network is not "+
			"counted, as in the paper.", runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, costPool),
		"The closed form gives up the shape of the distribution of the draws (see verify/sde).")
	return &paper.Output{Table: t}, nil
}

func timed(ctx context.Context, m sde.Method, records, in, out sde.Matrix, size, n int) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	began := time.Now()
	pool, err := sde.NewPool("forgotten", &records)
	if err != nil {
		return 0, err
	}
	subsets, err := sde.DrawSubsets(records.Rows, size, n, engine.Root(1).Stream(engine.StreamCost))
	if err != nil {
		return 0, err
	}
	_, err = sde.OTR(m, sde.Targets{Pool: pool, Subsets: subsets}, sde.References{In: &in, Out: &out}, sde.Options{})
	return time.Since(began).Seconds(), err
}

func normals(rows, cols int, seed uint64) sde.Matrix {
	m, rng := array.New[float64](rows, cols), engine.Root(seed).Stream(engine.StreamNormals)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}
