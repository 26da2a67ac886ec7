package fishing

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Drawn is the reading of the published program, which represents a cell by one draw
// from its posterior and not by the mean: which unseen cells lie nearest to the
// forgotten ones then, and what the attacker of P-B says of members and those, on
// features of draws. Both matchings stand side by side.
type Drawn struct {
	Means  Matching `json:"means"`
	Draws  Matching `json:"draws"`
	Shared int      `json:"n_shared"` // cells that both match
	Attack Attacked `json:"attack"`
}

// Matching are the unseen cells that stand against the forgotten ones.
type Matching struct {
	Cells    int            `json:"n_cells"`
	ByType   map[string]int `json:"by_type"`
	Distance float64        `json:"distance"` // mean, of a forgotten cell from its neighbours

	beside []int // of each matched cell the forgotten one that is nearest to it
}

// drawing are the non-members of the program's reading and the original's features.
type drawing struct {
	draws     Matching
	shared    int
	negatives []int
	original  learned.Records
}

// drawn is the view with codes that are drawn from the posteriors, and what is
// decoded from them. Every model of a case has the same draws, so that two arms
// differ by their models.
func (v view) drawn(c *lab.Case, w nn.Params) (view, error) {
	network, is := c.Problem.Arch.(vae.Cells)
	if !is {
		return v, fmt.Errorf("posteriors of the network %s cannot be drawn from", c.Problem.Arch.Name())
	}
	half, err := c.Lab.Join(c.Prepared, vae.Decoder{Of: network})
	if err != nil {
		return v, err
	}
	weights := network.DecoderWeights(w)
	for role, part := range []struct {
		of    *said
		cells datasets.Part
	}{{&v.forget, c.Problem.Train.Gather(c.Forget)}, {&v.retain, c.Problem.Train.Gather(c.Retain)}, {&v.unseen, c.Test}} {
		codes, err := cells.SampleCodes(array.Convert[float64](part.of.mean), array.Convert[float64](part.of.logVar),
			engine.Root(attackSeed+c.Shift).Stream(engine.StreamPosterior, uint64(role)))
		if err != nil {
			return v, err
		}
		part.of.codes = array.Convert[float32](codes)
		p, err := half.Runner.PredictOutputs(weights, behind(part.of.codes, part.cells.X, network.Clusters), loss.Proportion)
		if err != nil {
			return v, err
		}
		if err := part.of.decoded(p.Outputs[loss.Proportion], part.cells.X); err != nil {
			return v, err
		}
	}
	return v, nil
}

// behind are the codes with the last columns of the cells behind them: the types, which the
// decoder of a conditional network sees.
func behind(codes, x array.Matrix[float32], columns int) array.Matrix[float32] {
	if columns == 0 {
		return codes
	}
	out := array.New[float32](codes.Rows, codes.Cols+columns)
	for i := range out.Rows {
		copy(out.Row(i), codes.Row(i))
		copy(out.Row(i)[codes.Cols:], x.Row(i)[x.Cols-columns:])
	}
	return out
}

// draw chooses the non-members of the program's reading, in the original.
func (q *question) draw(ctx context.Context, original view) (d drawing, err error) {
	w, _, err := q.Weights(ctx, unlearn.DoNothing{})
	if err != nil {
		return d, err
	}
	v, err := original.drawn(q.Case, w)
	if err != nil {
		return d, err
	}
	if d.draws, d.negatives, err = q.match(v); err != nil {
		return d, err
	}
	near := map[int]bool{}
	for _, i := range q.negatives {
		near[i] = true
	}
	for _, i := range d.negatives {
		if near[i] {
			d.shared++
		}
	}
	d.original, err = v.records(d.negatives)
	return d, err
}

// match are the unseen cells whose codes lie nearest to those of the forgotten ones,
// out of those that no method may look at: an attacker is not to tell members from
// strangers whom a method has met.
func (q *question) match(v view) (m Matching, rows []int, err error) {
	judged := q.Judged()
	near, err := cells.Matched(array.Convert[float64](v.forget.codes), array.Convert[float64](v.unseen.codes.Gather(judged)), q.of.Neighbours)
	if err != nil {
		return m, nil, err
	}
	m = Matching{Cells: len(near.Rows), ByType: map[string]int{}, beside: near.Beside}
	for _, k := range near.Rows {
		rows = append(rows, judged[k])
		m.ByType[q.About.Classes[q.Test.Y[judged[k]]]]++
	}
	m.Distance, err = stats.Mean(near.Distance)
	return m, rows, err
}

// attackDrawn asks P-B in the program's reading.
func (q *question) attackDrawn(ctx context.Context, e *engine.Engine, v view, w nn.Params) (d Drawn, err error) {
	d.Means, d.Draws, d.Shared = q.matched, q.drawn.draws, q.drawn.shared
	if v, err = v.drawn(q.Case, w); err != nil {
		return d, err
	}
	records, err := v.records(q.drawn.negatives)
	if err != nil {
		return d, err
	}
	r, err := learned.PB().Run(ctx, e, learned.Question{Model: records, Original: &q.drawn.original}, engine.Root(attackSeed+q.Case.Shift))
	if err != nil {
		return d, err
	}
	d.Attack = Attacked{All: r.ScoreReport, HeldOut: r.HeldOut, Coded: r.Coded}
	return d, nil
}
