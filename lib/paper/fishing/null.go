package fishing

// The null of the cross-fitted attacker.

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
)

// MatchedNull is the result of the cross-fitted attacker on a model that was trained on neither
// members nor non-members. The members are as many unseen cells as are forgotten, drawn from the
// half that methods may use; the non-members are cells of the other half that are matched to
// them. Drawn cells are of all types, like scattered forget sets. Matched cells are nearer to
// members than members are to each other, so that the mean need not be one half.
type MatchedNull struct {
	Draws     int     `json:"n_draws"`
	Members   int     `json:"n_members"`
	Negatives float64 `json:"n_negatives"` // mean number
	// Mean is the mean AUC over draws; Low and High are its quantiles 0.025 and 0.975.
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Advantage is the 95 % quantile of |2 AUC - 1| over draws.
	Advantage float64 `json:"advantage_p95"`
}

// nullDraws is the number of draws.
const nullDraws = 100

// measureNull draws members among the cells outside the judged half.
func (q *attackCase) measureNull(ctx context.Context, e *engine.Engine, v splitOutputs) (*MatchedNull, error) {
	judged := q.EvalRows()
	all := make([]int, q.Test.X.Rows)
	for i := range all {
		all[i] = i
	}
	others := rowsWithout(all, judged)
	out := &MatchedNull{Draws: nullDraws, Members: min(len(q.Forget), len(others))}
	var areas, advantages []float64
	for draw := range nullDraws {
		seed := engine.Root(attackSeed + q.Case.Shift)
		members := make([]int, out.Members)
		for k, i := range seed.Stream(engine.StreamAttacker, 2, uint64(draw)).Perm(len(others))[:out.Members] {
			members[k] = others[i]
		}
		near, err := cells.Match(q.codes.Gather(members), q.codes.Gather(judged), q.spec.Neighbours)
		if err != nil {
			return nil, err
		}
		negatives := make([]int, len(near.Rows))
		for k, i := range near.Rows {
			negatives[k] = judged[i]
		}
		r, err := splitOutputs{forget: v.unseen.gather(members), retain: v.retain, unseen: v.unseen}.attackRecords(negatives)
		if err != nil {
			return nil, err
		}
		report, err := learned.CrossFitted(nil).Run(ctx, e, learned.Target{Model: r, NearestMember: near.Nearest}, seed)
		if err != nil {
			return nil, fmt.Errorf("members that nobody trained on, draw %d: %w", draw, err)
		}
		areas, advantages = append(areas, report.AUC.Value), append(advantages, report.Advantage.Value)
		out.Negatives += float64(len(negatives)) / nullDraws
	}
	for _, s := range []struct {
		to   *float64
		from []float64
		at   float64
	}{{&out.Low, areas, 0.025}, {&out.High, areas, 0.975}, {&out.Advantage, advantages, 0.95}} {
		var err error
		if *s.to, err = stats.Quantile(s.from, s.at); err != nil {
			return nil, err
		}
	}
	var err error
	out.Mean, err = stats.Mean(areas)
	return out, err
}

// nullNote says what the attacker finds without any membership.
func nullNote(c Case, rows []Row) string {
	var n, means, lows, highs, beyond, negatives float64
	for _, r := range rows {
		if m := r.Null; m != nil {
			n, means, negatives = n+1, means+m.Mean, negatives+m.Negatives
			lows, highs, beyond = lows+m.Low, highs+m.High, beyond+m.Advantage
		}
	}
	if n == 0 {
		return ""
	}
	judge := "judge against that"
	if c.scatteredCells() == 0 {
		judge = "where one type is forgotten, the retrained model's row is the null, with the type in it"
	}
	m := rows[0].Null
	return fmt.Sprintf("%s: of cells of all types of which neither side was trained on, the cross-fitted attacker's AUC is %.3f on average, "+
		"where 0.5 would be chance; %s. In %d draws of %d unseen cells per retrained model, with %.0f matched to them, it "+
		"lies between %.3f and %.3f in 95 of 100, "+
		"and its advantage is above %.3f in 5.", c.Label, means/n, judge, m.Draws, m.Members, math.Round(negatives/n), lows/n, highs/n, beyond/n)
}
