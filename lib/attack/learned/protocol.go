// Protocols of trained attackers: which records train them, which are scored, and
// the report on the scores.

package learned

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Protocol says how an attacker is trained and on which records it is scored.
type Protocol struct {
	Name     string
	About    string
	Features string // the features that the paper uses; Run uses those that it is given
	// WithoutDistance protocols are given all features but the last by the paper, the distance to
	// retained cells.
	WithoutDistance bool
	Attacker        Attacker
	// FirstRetained is the number of retained records, the first ones, to which the last feature is
	// the distance; 0: all. With OriginalCodes their codes are those of the original, whatever
	// model is attacked. Both describe the features; Run uses the features that it is given.
	FirstRetained int
	OriginalCodes bool

	// Transferred attackers are trained on features of the original model and scored on features of
	// the model under attack. Others are trained on features of the model under attack.
	Transferred bool
	// Standardised features have mean 0 and variance 1 over the records that the attacker is
	// trained on; a feature without variance becomes 0.
	Standardised bool
	// Residual subtracts from each feature its mean over the known records of the same group
	// (Target.Groups), before standardisation: what is the same in a whole group is no signal. The
	// attacker is trained on the groups that have known records of both roles; if there is none,
	// all scores are the same. In a group without a known record the features are 0.
	Residual bool
	// Folds splits the records of either role into that number of parts and scores each part by an
	// attacker trained on the others; 0: there is one attacker. A score is then a record's rank
	// within its part. A non-member is put into the part of its nearest member
	// (Target.NearestMember). Parts then have different shares of the roles, and a score is the
	// mean of a record's rank among the members and among the non-members of its part, so that
	// perfectly separated roles lie on two sides of one half.
	Folds int
	// Share of the records that the one attacker is trained on; 0: all.
	Share float64
	// Stratified takes that share of either role, not of all records together.
	Stratified bool
	// HeldOut scores only records that the attacker was not trained on. Otherwise those are scored
	// too.
	HeldOut bool
}

// Target is a model under attack.
type Target struct {
	Model Records // features in the model under attack
	// Original holds features of the same records, in the same order, in the model that transferred
	// attackers are trained on; other protocols do not use it.
	Original *Records
	// NearestMember is, for non-members that were matched to members, the index of the nearest
	// member; nil: members and non-members have the same distribution. An attacker that learned one
	// of such a pair is wrong about the other, which lies where the attacker saw the opposite role.
	// If this is ignored, scores of records that no attacker was trained on have an AUC far below
	// 0.5 (0.31 with 35 members and the 10 nearest of 2,482 non-members of the same distribution,
	// in 8 dimensions).
	NearestMember []int
	// Groups are used by residual features; other protocols do not use them.
	Groups *Groups
}

// Groups gives the group of every record, such as its type of cell.
type Groups struct{ Members, Nonmembers []int }

// RecordScore is the score of one record.
type RecordScore struct {
	Record  int     `json:"record"` // its row among the records of its role
	Member  bool    `json:"member"`
	Score   float64 `json:"score"`   // higher means member
	Trained bool    `json:"trained"` // its attacker was trained on the record
}

// Report is the result of a protocol on a model.
type Report struct {
	Protocol string `json:"protocol"`
	// Scores are the scored records, members first.
	Scores []RecordScore `json:"cells"`
	// ScoreReport is over all scored records. If any is Trained it says nothing
	// about membership in the model: read HeldOut.
	attack.ScoreReport
	// HeldOut is over the scored records that the attacker was not trained on; nil
	// where a role has none.
	HeldOut *attack.ScoreReport `json:"held_out"`
	// Coded are the program's intervals, over all scored records.
	Coded attack.Coded `json:"coded"`
}

const level = 0.95

// Run trains and scores. Null: AUC 0.5, if every scored record is held out, and members and
// non-members have the same distribution or, matched, are kept together by a cross-fitted protocol
// (Target.NearestMember). For matched records, held-out scores of other protocols lie below it.
// Direction: nearest to the null.
//
// If one attacker gave all scores, intervals and floor are those of attack.Score. Scores from
// different folds are not independent: what fold j teaches about fold k, k teaches about j. Without
// a signal every pair of folds counts twice, and the variance of the AUC is twice DeLong's (exactly
// so for an attacker that is linear in the labels; less with a strong signal). Interval and floor
// of a cross-fitted protocol are therefore wider by sqrt(2). For 10 members and 23 matched
// non-members, most of them nearest to one member, the interval holds 0.5 in 88 of 100 cases, not
// in 95.
//
// It refuses records with different features, fewer records of a role than folds, values that are
// not finite, a transferred protocol without Original, a residual one without Groups, and nearest
// members that do not exist or are all the same.
func (p Protocol) Run(ctx context.Context, e *engine.Engine, q Target, seed engine.Root) (*Report, error) {
	source, err := p.source(q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	groups, err := p.groups(q)
	if err != nil {
		return nil, fmt.Errorf("learned: %s: %w", p.Name, err)
	}
	splits, err := p.splits(q.Model, q.NearestMember, seed)
	if err != nil {
		return nil, fmt.Errorf("learned: %s: %w", p.Name, err)
	}
	r := &Report{Protocol: p.Name}
	ctx, task := progress.Start(ctx, "attack "+p.Name, len(splits))
	defer task.Done()
	for k, d := range splits {
		d.groups = groups
		cells, err := p.fitAndScoreSplit(ctx, e, source, q.Model, d, p.seedOf(seed, k))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		r.Scores = append(r.Scores, cells...)
		task.Add(1)
	}
	slices.SortFunc(r.Scores, func(a, b RecordScore) int { return scoreIndex(a, q.Model) - scoreIndex(b, q.Model) })
	return r, p.summarise(r)
}

// FitAndScore trains the attacker that Run would train on the known records and scores other
// records with it. The program of "Fishing for Privacy" attacks one forget set with the attacker of
// another in this way. It refuses protocols that cross-fit, hold out some of the known records, or
// need groups.
func (p Protocol) FitAndScore(ctx context.Context, e *engine.Engine, taught, judged Records, seed engine.Root) (*attack.ScoreReport, error) {
	if p.Folds > 0 || p.HeldOut || p.Residual {
		return nil, fmt.Errorf("%s: has no single attacker that could score other records", p.Name)
	}
	if err := errors.Join(taught.check(" that the attacker is trained on"), judged.check("")); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	splits, err := p.splits(taught, nil, seed)
	if err != nil {
		return nil, fmt.Errorf("learned: %s: %w", p.Name, err)
	}
	d := split{known: splits[0].known, judged: indices(judged.size())}
	cells, err := p.fitAndScoreSplit(ctx, e, taught, judged, d, p.seedOf(seed, 0))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return attack.Score(samples(cells, true), level)
}

// seedOf returns the seed of one of a protocol's attackers.
func (Protocol) seedOf(seed engine.Root, k int) engine.Root {
	return engine.Root(seed.Counter(engine.StreamAttacker, 1, uint64(k)))
}

func scoreIndex(c RecordScore, r Records) int {
	if c.Member {
		return c.Record
	}
	return r.Members.Rows + c.Record
}

// source returns the features that attackers are trained on.
func (p Protocol) source(q Target) (Records, error) {
	if err := q.Model.check(""); err != nil {
		return Records{}, err
	}
	if !p.Transferred {
		return q.Model, nil
	}
	if q.Original == nil {
		return Records{}, errors.New("learned: the protocol needs features in the original model, which are not given")
	}
	o, m := *q.Original, q.Model
	if err := o.check(" in the original"); err != nil {
		return Records{}, err
	}
	if o.Members.Rows != m.Members.Rows || o.Nonmembers.Rows != m.Nonmembers.Rows || o.Members.Cols != m.Members.Cols {
		return Records{}, fmt.Errorf("learned: %d members and %d non-members with %d features in the original, %d and %d with %d in the model",
			o.Members.Rows, o.Nonmembers.Rows, o.Members.Cols, m.Members.Rows, m.Nonmembers.Rows, m.Members.Cols)
	}
	return o, nil
}

// split holds positions in Records.stacked.
type split struct {
	known, judged []int
	matched       bool // the shares of the roles differ between splits
	groups        []int
}

func (p Protocol) splits(r Records, beside []int, seed engine.Root) ([]split, error) {
	if p.Folds < 0 {
		return nil, fmt.Errorf("%d folds", p.Folds)
	}
	rng := seed.Stream(engine.StreamAttacker, 0)
	if p.Folds > 0 && beside != nil {
		return p.matchedSplits(r, beside, rng)
	}
	all := indices(r.size())
	groups := [][]int{all}
	if p.Stratified || p.Folds > 0 {
		groups = [][]int{all[:r.Members.Rows], all[r.Members.Rows:]}
	}
	parts := make([][]int, max(p.Folds, 2)) // of one attacker: known and held out
	for _, g := range groups {
		order := rng.Perm(len(g))
		for k, i := range order {
			at := k * p.Folds / len(g)
			if p.Folds == 0 && p.Share > 0 && k >= int(p.Share*float64(len(g))) {
				at = 1
			}
			parts[at] = append(parts[at], g[i])
		}
	}
	if p.Folds > 0 {
		return crossSplits(parts), p.checkFolds(r)
	}
	d := split{known: parts[0], judged: all}
	if p.HeldOut {
		d.judged = parts[1]
	}
	return []split{d}, nil
}

// checkFolds refuses too few records for the folds.
func (p Protocol) checkFolds(r Records) error {
	if n := min(r.Members.Rows, r.Nonmembers.Rows); p.Folds < 2 || n < p.Folds {
		return fmt.Errorf("%d members and %d non-members in %d folds", r.Members.Rows, r.Nonmembers.Rows, p.Folds)
	}
	return nil
}

// matchedSplits assigns members to folds, each with the non-members that are nearest to it. Members
// with many non-members go first, in random order among equals, into the fold with the fewest
// non-members that still has space for a member. A fold without a non-member cannot be scored: if
// fewer members than folds have one, there are as many folds as such members.
func (p Protocol) matchedSplits(r Records, beside []int, rng *rand.Rand) ([]split, error) {
	n := r.Members.Rows
	if err := p.checkFolds(r); err != nil {
		return nil, err
	}
	if len(beside) != r.Nonmembers.Rows {
		return nil, fmt.Errorf("%d non-members, nearest members of %d", r.Nonmembers.Rows, len(beside))
	}
	others := make([][]int, n)
	for i, m := range beside {
		if m < 0 || m >= n {
			return nil, fmt.Errorf("the nearest member of non-member %d is %d, and there are %d members", i, m, n)
		}
		others[m] = append(others[m], n+i)
	}
	order := rng.Perm(n)
	slices.SortStableFunc(order, func(a, b int) int { return len(others[b]) - len(others[a]) })
	folds := 0
	for folds < p.Folds && len(others[order[folds]]) > 0 {
		folds++
	}
	if folds < 2 {
		return nil, errors.New("all non-members have the same nearest member")
	}
	parts, capacity, nonmembers := make([][]int, folds), make([]int, folds), make([]int, folds)
	for k := range parts {
		capacity[k] = (k+1)*n/folds - k*n/folds
	}
	for _, m := range order {
		at := -1
		for k := range parts {
			if capacity[k] > 0 && (at < 0 || nonmembers[k] < nonmembers[at]) {
				at = k
			}
		}
		parts[at] = append(append(parts[at], m), others[m]...)
		capacity[at]--
		nonmembers[at] += len(others[m])
	}
	splits := crossSplits(parts)
	for k := range splits {
		splits[k].matched = true
	}
	return splits, nil
}

func crossSplits(parts [][]int) []split {
	out := make([]split, len(parts))
	for k, part := range parts {
		out[k].judged = part
		for j, other := range parts {
			if j != k {
				out[k].known = append(out[k].known, other...)
			}
		}
	}
	return out
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// fitAndScoreSplit trains one attacker and scores its records.
func (p Protocol) fitAndScoreSplit(ctx context.Context, e *engine.Engine, source, model Records, d split, seed engine.Root) ([]RecordScore, error) {
	taught := d.known
	if p.Residual {
		g := newGroupMeans(source, d.groups, d.known)
		if source, model, taught = g.residuals(source), g.residuals(model), g.both; len(taught) == 0 {
			return p.recordScores(make([]float64, len(d.judged)), model, d), nil
		}
	}
	known, judged := source.gather(taught), model.stacked().Gather(d.judged)
	if p.Standardised {
		s := newScale(known.stacked())
		known, judged = Records{s.apply(known.Members), s.apply(known.Nonmembers)}, s.apply(judged)
	}
	ctx, task := progress.Start(ctx, p.Attacker.Name(), 0)
	defer task.Done()
	score, err := Fit(ctx, e, p.Attacker, known, seed)
	if err != nil {
		return nil, err
	}
	scores, err := score(judged)
	if err != nil {
		return nil, err
	}
	return p.recordScores(scores, model, d), nil
}

// recordScores turns an attacker's scores into ranks, where there are folds, and names the records.
func (p Protocol) recordScores(scores []float64, model Records, d split) []RecordScore {
	switch {
	case d.matched:
		scores = meanRanks(scores, func(k int) bool { return d.judged[k] < model.Members.Rows })
	case p.Folds > 0:
		scores = ranks(scores)
	}
	trained := map[int]bool{}
	for _, i := range d.known {
		trained[i] = true
	}
	cells := make([]RecordScore, len(scores))
	for k, i := range d.judged {
		cells[k] = RecordScore{Record: i, Member: i < model.Members.Rows, Score: scores[k], Trained: trained[i]}
		if !cells[k].Member {
			cells[k].Record -= model.Members.Rows
		}
	}
	return cells
}

// ranks returns the ranks of scores in (0, 1), ties in the middle, so that scores of two attackers
// can be compared.
func ranks(scores []float64) []float64 {
	sorted := slices.Sorted(slices.Values(scores))
	out := make([]float64, len(scores))
	for i, v := range scores {
		out[i] = shareBelow(sorted, v)
	}
	return out
}

// meanRanks returns (F + G) / 2, with the shares F of members and G of non-members among the scores
// that lie below a score, ties half. Both roles must occur (see matchedSplits). It makes scores of
// attackers comparable whatever the numbers of either role that they scored. Ranks among all
// records are not: the best non-member of a fold of 1 member and 9 non-members is above most
// members of a fold of 4 and 1, and perfect attackers would have an AUC below 1. Without a signal
// both roles lie around one half.
func meanRanks(scores []float64, member func(k int) bool) []float64 {
	var roles [2][]float64
	for k, v := range scores {
		role := 0
		if member(k) {
			role = 1
		}
		roles[role] = append(roles[role], v)
	}
	for _, r := range roles {
		slices.Sort(r)
	}
	out := make([]float64, len(scores))
	for k, v := range scores {
		out[k] = (shareBelow(roles[0], v) + shareBelow(roles[1], v)) / 2
	}
	return out
}

// shareBelow returns the share of sorted values below v, ties half.
func shareBelow(sorted []float64, v float64) float64 {
	first, _ := slices.BinarySearch(sorted, v)
	last, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
	return (float64(first) + float64(last)) / 2 / float64(len(sorted))
}

func (p Protocol) summarise(r *Report) error {
	all, err := attack.Score(samples(r.Scores, true), level)
	if err != nil {
		return err
	}
	coded, err := attack.CodedBootstrap(samples(r.Scores, true))
	if err != nil {
		return err
	}
	held := samples(r.Scores, false)
	if len(held.Members) > 0 && len(held.Nonmembers) > 0 {
		if r.HeldOut, err = attack.Score(held, level); err != nil {
			return err
		}
	}
	if p.Folds > 0 {
		widen(all)
		widen(r.HeldOut)
	}
	r.ScoreReport, r.Coded = *all, *coded
	return nil
}

// widen makes intervals and floor those of twice the variance.
func widen(r *attack.ScoreReport) {
	at := func(end float64) float64 { return min(1, max(0, r.AUC.Value+float64(math.Sqrt2*(end-r.AUC.Value)))) }
	r.AUC.Low, r.AUC.High = at(r.AUC.Low), at(r.AUC.High)
	signed := stats.Estimate{Value: r.Advantage.Signed, Low: 2*r.AUC.Low - 1, High: 2*r.AUC.High - 1}.Unsigned()
	r.Advantage.Low, r.Advantage.High = signed.Low, signed.High
	r.Advantage.ChanceMean, r.Advantage.ChanceP95 = min(1, math.Sqrt2*r.Advantage.ChanceMean), min(1, math.Sqrt2*r.Advantage.ChanceP95)
}

func samples(cells []RecordScore, trained bool) (out attack.Samples) {
	for _, c := range cells {
		switch {
		case c.Trained && !trained:
		case c.Member:
			out.Members = append(out.Members, c.Score)
		default:
			out.Nonmembers = append(out.Nonmembers, c.Score)
		}
	}
	return out
}
