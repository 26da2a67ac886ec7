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
	"github.com/lethe-ml/lethe/lib/stats"
)

// Protocol says how an attacker is trained and on which records it is scored.
type Protocol struct {
	Name     string
	About    string
	Features string // which features the paper gives it; Run takes what it is given
	// WithoutDistance protocols are given all features but the last by the paper, the distance to
	// retained cells.
	WithoutDistance bool
	Attacker        Attacker
	// FirstRetained are the records, the first so many of the retained, to which the last
	// feature is the distance; 0: all. With OriginalCodes their codes stay those of the
	// original, whatever model is attacked. Run takes what it is given.
	FirstRetained int
	OriginalCodes bool

	// Transferred attackers are trained on the features of the original model and
	// scored on those of the model under attack; others are trained anew on the
	// features of the model under attack.
	Transferred bool
	// Standardised features have mean 0 and variance 1 over the records that the
	// attacker is trained on; a feature without variance becomes 0.
	Standardised bool
	// Residual features are those less their mean over the known records of the same group
	// (Question.Groups), before they are standardised: what is the same in a whole group
	// tells nothing. The attacker is trained on the groups that have known records of both
	// roles; where none has, all scores are the same. Of a group without a known record the
	// features are 0.
	Residual bool
	// Folds deals the records of either role into so many parts and scores each part
	// by an attacker trained on the others. A score is then a record's rank within its
	// part. A non-member goes where the member goes that it lies beside (see Question);
	// parts then have the roles in different shares, and a score is halfway between a
	// record's rank among the members of its part and that among the non-members: what an
	// attacker tells apart without a mistake lies on two sides of one half. 0: there is
	// one attacker.
	Folds int
	// Share of the records that the one attacker is trained on; 0: all.
	Share float64
	// Stratified takes that share of either role, not of all records together.
	Stratified bool
	// HeldOut scores the records only that the attacker was not trained on, the
	// others score those as well.
	HeldOut bool
}

// Target is a model under attack.
type Target struct {
	Model Records // features in the model under attack
	// Original are features of the same records, in the same order, in the model
	// that transferred attackers are trained on; no other protocol looks at them.
	Original *Records
	// NearestMember is, of each non-member that was matched to members, the one that it is
	// nearest to; nil: members and non-members were drawn alike. An attacker that
	// learned from one of such a pair is wrong about the other, who lies where it saw
	// the opposite role: without this, scores of records that nobody trained on have an
	// AUC far below 0.5 (0.31 with 35 members and the 10 nearest of 2,482 strangers of
	// the same law, in 8 dimensions).
	NearestMember []int
	// Groups are those of the records that residual features are taken in; no other
	// protocol looks at them.
	Groups *Groups
}

// Groups say of which group, a type of cells for instance, every record is.
type Groups struct{ Members, Nonmembers []int }

// RecordScore is a record's score.
type RecordScore struct {
	Record  int     `json:"record"` // its row in its role
	Member  bool    `json:"member"`
	Score   float64 `json:"score"`   // higher means member
	Trained bool    `json:"trained"` // the attacker that gave the score was trained on the record
}

// Report is what a protocol says of a model.
type Report struct {
	Protocol string `json:"protocol"`
	// Scores are the scored records, members first.
	Scores []RecordScore `json:"cells"`
	// ScoreReport is over all scored records. Where any is Trained it says nothing
	// about membership in the model: read HeldOut.
	attack.ScoreReport
	// HeldOut is over the scored records that the attacker was not trained on; nil
	// where a role has none.
	HeldOut *attack.ScoreReport `json:"held_out"`
	// Coded are the program's intervals, over all scored records.
	Coded attack.Coded `json:"coded"`
}

const level = 0.95

// Run trains and scores. Null: AUC 0.5, when every scored record is held out, and
// members and non-members were drawn alike or, matched, are kept together by a
// cross-fitted protocol (Question.NearestMember); held-out scores of other protocols lie
// below it then. Direction: nearest to the null.
//
// Intervals and floor of scores that one attacker gave are those of attack.Score.
// Between folds scores are not independent: what fold j teaches about fold k, k
// teaches about j, so that without a signal every pair of folds counts twice and
// the AUC's variance is twice DeLong's (exactly so for an attacker that is linear in
// the labels; with a strong signal it is less). Interval and floor of a
// cross-fitted protocol are wider by sqrt(2). Of 10 members and 23 matched non-members, most
// beside one of them, the interval holds 0.5 in 88 of 100 cases, not in 95.
//
// It refuses records with different features, fewer of a role than folds, values
// that are not finite, a transferred protocol without Original, a residual one without
// Groups, and neighbours (Beside) that are no members or all one.
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
	for k, d := range splits {
		d.groups = groups
		cells, err := p.fitAndScoreSplit(ctx, e, source, q.Model, d, p.seedOf(seed, k))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		r.Scores = append(r.Scores, cells...)
	}
	slices.SortFunc(r.Scores, func(a, b RecordScore) int { return scoreIndex(a, q.Model) - scoreIndex(b, q.Model) })
	return r, p.summarise(r)
}

// FitAndScore scores records with the attacker that Run would train on others: it deals
// and draws as Run does on taught, and meets none of judged. The program of "Fishing
// for Privacy" attacks one forget set with the attacker of another so. It refuses
// protocols that cross-fit, hold out some of taught, or ask for groups.
func (p Protocol) FitAndScore(ctx context.Context, e *engine.Engine, taught, judged Records, seed engine.Root) (*attack.ScoreReport, error) {
	if p.Folds > 0 || p.HeldOut || p.Residual {
		return nil, fmt.Errorf("%s: has no one attacker that could be borrowed", p.Name)
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

// seedOf is the seed of one of a protocol's attackers.
func (Protocol) seedOf(seed engine.Root, k int) engine.Root {
	return engine.Root(seed.Counter(engine.StreamAttacker, 1, uint64(k)))
}

func scoreIndex(c RecordScore, r Records) int {
	if c.Member {
		return c.Record
	}
	return r.Members.Rows + c.Record
}

// source are the features that attackers are trained on.
func (p Protocol) source(q Target) (Records, error) {
	if err := q.Model.check(""); err != nil {
		return Records{}, err
	}
	if !p.Transferred {
		return q.Model, nil
	}
	if q.Original == nil {
		return Records{}, errors.New("learned: the attacker is the original model's, whose features are not given")
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

// split are positions in Records.stacked.
type split struct {
	known, judged []int
	matched       bool // roles stand in another share than in other deals
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

// checkFolds reports too few records for the folds.
func (p Protocol) checkFolds(r Records) error {
	if n := min(r.Members.Rows, r.Nonmembers.Rows); p.Folds < 2 || n < p.Folds {
		return fmt.Errorf("%d members and %d non-members in %d folds", r.Members.Rows, r.Nonmembers.Rows, p.Folds)
	}
	return nil
}

// matchedSplits deals members into folds, each with the non-members beside it: who has many
// goes first, at random among equals, into the fold with the fewest non-members that
// still has room for a member. Of a fold without a non-member nothing could be said: where
// fewer members than folds have one beside them, there are as many folds as such members.
func (p Protocol) matchedSplits(r Records, beside []int, rng *rand.Rand) ([]split, error) {
	n := r.Members.Rows
	if err := p.checkFolds(r); err != nil {
		return nil, err
	}
	if len(beside) != r.Nonmembers.Rows {
		return nil, fmt.Errorf("%d non-members, neighbours of %d", r.Nonmembers.Rows, len(beside))
	}
	others := make([][]int, n)
	for i, m := range beside {
		if m < 0 || m >= n {
			return nil, fmt.Errorf("non-member %d lies beside member %d, and there are %d", i, m, n)
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
		return nil, errors.New("all non-members lie beside one member")
	}
	parts, room, nonmembers := make([][]int, folds), make([]int, folds), make([]int, folds)
	for k := range parts {
		room[k] = (k+1)*n/folds - k*n/folds
	}
	for _, m := range order {
		at := -1
		for k := range parts {
			if room[k] > 0 && (at < 0 || nonmembers[k] < nonmembers[at]) {
				at = k
			}
		}
		parts[at] = append(append(parts[at], m), others[m]...)
		room[at]--
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
	score, err := p.Attacker.Fit(ctx, e, known, seed)
	if err != nil {
		return nil, err
	}
	scores, err := score(judged)
	if err != nil {
		return nil, err
	}
	return p.recordScores(scores, model, d), nil
}

// recordScores are what an attacker's scores come to, record by record.
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

// ranks are the places of scores among themselves, in (0, 1), ties in the middle:
// what two attackers say becomes comparable.
func ranks(scores []float64) []float64 {
	sorted := slices.Sorted(slices.Values(scores))
	out := make([]float64, len(scores))
	for i, v := range scores {
		out[i] = shareBelow(sorted, v)
	}
	return out
}

// meanRanks are (F + G) / 2, with the shares F of members and G of non-members among the scores
// that lie below a score, ties half. Both roles are among them (see together). What two
// attackers say becomes comparable, whatever the numbers of either role
// that they judged. (By ranks among all, the best stranger of a fold of 1 member and 9
// strangers stands above most members of a fold of 4 and 1, and attackers without a mistake
// have an AUC below 1.) Without a signal both roles lie alike around one half.
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

// shareBelow is the share of sorted values that lie below v, ties half.
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
