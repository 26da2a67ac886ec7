package fishing

// Matching and attack with sampled codes, as in the program.

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

// SampledCodes are the results with the published program's representation of a cell: one draw
// from its posterior instead of the mean. They contain the unseen cells that are then nearest to
// the forgotten ones, and the result of attacker P-B on these members and non-members, with
// features of the draws. Both matchings are kept.
type SampledCodes struct {
	Means  Matching       `json:"means"`
	Draws  Matching       `json:"draws"`
	Shared int            `json:"n_shared"` // cells in both matchings
	Attack ProtocolResult `json:"attack"`
}

// Matching describes the unseen cells that are matched to the forgotten ones.
type Matching struct {
	Cells    int            `json:"n_cells"`
	ByType   map[string]int `json:"by_type"`
	Distance float64        `json:"distance"` // mean distance of a forgotten cell from its neighbours

	nearest []int `json:"-"` // of each matched cell the nearest forgotten one
}

// sampledMatching are the non-members by sampled codes and the original's features.
type sampledMatching struct {
	draws     Matching
	shared    int
	negatives []int
	original  learned.Records
}

// withSampledCodes replaces the codes by draws from the posteriors and decodes them. Every model
// of a case uses the same draws, so that two variants differ by their models only.
func (v splitOutputs) withSampledCodes(c *lab.Case, w nn.Params) (splitOutputs, error) {
	network, is := c.Problem.Arch.(vae.Cells)
	if !is {
		return v, fmt.Errorf("cannot sample from the posteriors of network %s", c.Problem.Arch.Name())
	}
	half, err := c.Lab.Join(c.Prepared, vae.Decoder{Of: network})
	if err != nil {
		return v, err
	}
	weights := network.DecoderWeights(w)
	for role, part := range []struct {
		of    *cellOutputs
		cells datasets.Part
	}{{&v.forget, c.Problem.Train.Gather(c.Forget)}, {&v.retain, c.Problem.Train.Gather(c.Retain)}, {&v.unseen, c.Test}} {
		codes, err := cells.SampleCodes(array.Convert[float64](part.of.mean), array.Convert[float64](part.of.logVar),
			engine.Root(attackSeed+c.Shift).Stream(engine.StreamPosterior, uint64(role)))
		if err != nil {
			return v, err
		}
		part.of.codes = array.Convert[float32](codes)
		p, err := half.Runner.PredictOutputs(weights, appendColumns(part.of.codes, part.cells.X, network.Clusters), loss.Proportion)
		if err != nil {
			return v, err
		}
		if err := part.of.addReconstruction(p.Outputs[loss.Proportion], part.cells.X); err != nil {
			return v, err
		}
	}
	return v, nil
}

// appendColumns appends the last columns of x to the codes: the types, which the decoder of a
// conditional network takes.
func appendColumns(codes, x array.Matrix[float32], columns int) array.Matrix[float32] {
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

// matchSampled chooses the non-members by sampled codes of the original.
func (q *attackCase) matchSampled(ctx context.Context, original splitOutputs) (d sampledMatching, err error) {
	w, _, err := q.Weights(ctx, unlearn.NoOp{})
	if err != nil {
		return d, err
	}
	v, err := original.withSampledCodes(q.Case, w)
	if err != nil {
		return d, err
	}
	if d.draws, d.negatives, err = q.matchNonmembers(v); err != nil {
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
	d.original, err = v.attackRecords(d.negatives)
	return d, err
}

// matchNonmembers are the unseen cells whose codes are nearest to those of the forgotten ones,
// among those that no method uses: the attacker must not compare members with cells that a
// method has used.
func (q *attackCase) matchNonmembers(v splitOutputs) (m Matching, rows []int, err error) {
	judged := q.EvalRows()
	near, err := cells.Match(array.Convert[float64](v.forget.codes), array.Convert[float64](v.unseen.codes.Gather(judged)), q.spec.Neighbours)
	if err != nil {
		return m, nil, err
	}
	m = Matching{Cells: len(near.Rows), ByType: map[string]int{}, nearest: near.Nearest}
	for _, k := range near.Rows {
		rows = append(rows, judged[k])
		m.ByType[q.About.Classes[q.Test.Y[judged[k]]]]++
	}
	m.Distance, err = stats.Mean(near.Distance)
	return m, rows, err
}

// attackSampled runs P-B on sampled codes.
func (q *attackCase) attackSampled(ctx context.Context, e *engine.Engine, v splitOutputs, w nn.Params) (d SampledCodes, err error) {
	d.Means, d.Draws, d.Shared = q.matched, q.drawn.draws, q.drawn.shared
	if v, err = v.withSampledCodes(q.Case, w); err != nil {
		return d, err
	}
	records, err := v.attackRecords(q.drawn.negatives)
	if err != nil {
		return d, err
	}
	r, err := learned.PB().Run(ctx, e, learned.Target{Model: records, Original: &q.drawn.original}, engine.Root(attackSeed+q.Case.Shift))
	if err != nil {
		return d, err
	}
	d.Attack = ProtocolResult{All: r.ScoreReport, HeldOut: r.HeldOut, Coded: r.Coded}
	return d, nil
}
