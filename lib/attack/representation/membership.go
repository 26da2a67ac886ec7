package representation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Pair is what a model says of records before an unlearning and after it, posteriors
// or representations, a row per record in the same order.
type Pair struct{ Before, After array.Matrix[float64] }

// ShadowPair is what the attacker knows of a pair of shadow models that he trained and
// unlearned himself: what they say of the records that were erased from them, and of
// records that neither ever saw.
type ShadowPair struct{ Erased, Unseen Pair }

// Target is what the pair of models under attack says: of the records that were
// erased, and of records that neither ever saw. Which are which is the truth that the
// attacker is judged by.
type Target struct{ Erased, Unseen Pair }

// Construction is how a pair becomes features.
type Construction string

// The constructions of Chen et al. 2021 (section 3), of rows b before and a after; the
// order that sorts is that of b, descending, for both.
const (
	// Both are (b, a, b - a), the setting for BlindU.
	Both Construction = ""
	// Concatenated are (b, a).
	Concatenated Construction = "concatenated"
	// SortedConcatenated are (b, a), both sorted.
	SortedConcatenated Construction = "sorted-concatenated"
	// Difference is b - a.
	Difference Construction = "difference"
	// SortedDifference is b - a, sorted.
	SortedDifference Construction = "sorted-difference"
	// Distance is ||b - a||. It is the only one whose meaning is the same in models
	// whose latent axes are not: representations of a shadow model trained by itself
	// have axes of their own.
	Distance Construction = "distance"
)

// Constructions lists them.
func Constructions() []Construction {
	return []Construction{Both, Concatenated, SortedConcatenated, Difference, SortedDifference, Distance}
}

// alone is what an attacker has who never saw the second model, beforeOnlySorted the same in
// descending order.
const (
	beforeOnly       Construction = "before"
	beforeOnlySorted Construction = "before-sorted"
)

// Membership asks whether a record was erased, of somebody who sees what the model
// says before and after (Chen et al. 2021, "When machine unlearning jeopardizes
// privacy"): an attacker learns on pairs of shadow models and is judged on the target.
// The zero value is logistic regression on (before, after, before - after),
// standardised by what he has learned on.
//
// Null: AUC 0.5. It can be above it without any unlearning, because the model before
// remembers: read it beside Before. Difference, SortedDifference and Distance of a
// model and itself are 0 for everybody and give 0.5 exactly. Direction: nearest to the
// null.
//
// BlindU's program has no such attack on images. Differences from Chen et al.: they
// erase single records and make a shadow model that lacks it for each; here a set is
// erased at once, and one attacker serves all of it.
type Membership struct {
	Attacker     learned.Attacker `json:"attacker,omitempty"` // nil: learned.Logistic{}
	Construction Construction     `json:"construction,omitempty"`
}

// MembershipResult is what an attacker says of a target. Intervals are DeLong's over the target's
// records, for this one attacker.
type MembershipResult struct {
	// ScoreReport is by the pair, members being the erased.
	attack.ScoreReport
	// Before is the same attacker who sees the model before alone, as an ordinary
	// membership attack would: what ScoreReport has beyond it, the unlearning gave away.
	Before attack.ScoreReport `json:"before"`
}

// Run learns on the shadow pairs, all together, and judges the target. It refuses
// pairs that do not fit, values that are not finite and an unknown construction.
func (m Membership) Run(ctx context.Context, e *engine.Engine, shadows []ShadowPair, target Target, seed engine.Root) (*MembershipResult, error) {
	if !slices.Contains(Constructions(), m.Construction) {
		return nil, fmt.Errorf("membership: there is no construction %q", m.Construction)
	}
	if err := checkPairs(shadows, target); err != nil {
		return nil, fmt.Errorf("membership: %w", err)
	}
	pair, err := m.attack(ctx, e, m.Construction, shadows, target, seed)
	if err != nil {
		return nil, fmt.Errorf("membership: %w", err)
	}
	first := beforeOnly
	if m.Construction == SortedConcatenated || m.Construction == SortedDifference {
		first = beforeOnlySorted
	}
	before, err := m.attack(ctx, e, first, shadows, target, seed)
	if err != nil {
		return nil, fmt.Errorf("membership, before alone: %w", err)
	}
	return &MembershipResult{*pair, *before}, nil
}

func (m Membership) attack(ctx context.Context, e *engine.Engine, c Construction, shadows []ShadowPair, target Target, seed engine.Root) (
	*attack.ScoreReport, error) {
	p := learned.Protocol{Name: "pair", Attacker: m.Attacker, Standardised: true}
	if p.Attacker == nil {
		p.Attacker = learned.Logistic{}
	}
	var erased, unseen []array.Matrix[float64]
	for _, s := range shadows {
		erased, unseen = append(erased, c.features(s.Erased)), append(unseen, c.features(s.Unseen))
	}
	known := learned.Records{Members: stackRows(erased), Nonmembers: stackRows(unseen)}
	return p.FitAndScore(ctx, e, known, learned.Records{Members: c.features(target.Erased), Nonmembers: c.features(target.Unseen)}, seed)
}

// features makes the features of every record of a pair.
func (c Construction) features(p Pair) array.Matrix[float64] {
	var out array.Matrix[float64]
	for i := range p.Before.Rows {
		row := c.rowFeatures(p.Before.Row(i), p.After.Row(i))
		out.Rows, out.Cols, out.Data = i+1, len(row), append(out.Data, row...)
	}
	return out
}

func (c Construction) rowFeatures(b, a []float64) []float64 {
	if c == SortedConcatenated || c == SortedDifference || c == beforeOnlySorted {
		b, a = sortBoth(b, a)
	}
	diff := make([]float64, len(b))
	square := 0.0
	for j := range diff {
		diff[j] = b[j] - a[j]
		square += float64(diff[j] * diff[j])
	}
	switch c {
	case beforeOnly, beforeOnlySorted:
		return b
	case Concatenated, SortedConcatenated:
		return slices.Concat(b, a)
	case Difference, SortedDifference:
		return diff
	case Distance:
		return []float64{math.Sqrt(square)}
	}
	return slices.Concat(b, a, diff)
}

// sortBoth brings both into the descending order of the first.
func sortBoth(b, a []float64) (sb, sa []float64) {
	order := make([]int, len(b))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case b[i] > b[j]:
			return -1
		case b[i] < b[j]:
			return 1
		}
		return 0
	})
	for _, j := range order {
		sb, sa = append(sb, b[j]), append(sa, a[j])
	}
	return sb, sa
}

func stackRows(parts []array.Matrix[float64]) array.Matrix[float64] {
	var out array.Matrix[float64]
	for _, p := range parts {
		out.Rows, out.Cols, out.Data = out.Rows+p.Rows, p.Cols, append(out.Data, p.Data...)
	}
	return out
}

func checkPairs(shadows []ShadowPair, target Target) error {
	if len(shadows) == 0 {
		return errors.New("there are no shadow models")
	}
	width := target.Erased.Before.Cols
	err := errors.Join(target.Erased.check("target, erased", width), target.Unseen.check("target, unseen", width))
	for k, s := range shadows {
		err = errors.Join(err, s.Erased.check(fmt.Sprintf("shadow %d, erased", k), width), s.Unseen.check(fmt.Sprintf("shadow %d, unseen", k), width))
	}
	return err
}

func (p Pair) check(name string, width int) error {
	if p.Before.Rows == 0 || width == 0 || p.Before.Rows != p.After.Rows || p.Before.Cols != width || p.After.Cols != width {
		return fmt.Errorf("%s: %d x %d before and %d x %d after, with %d columns in the target",
			name, p.Before.Rows, p.Before.Cols, p.After.Rows, p.After.Cols, width)
	}
	return errors.Join(p.Before.Check(name+", before"), p.After.Check(name+", after"))
}
