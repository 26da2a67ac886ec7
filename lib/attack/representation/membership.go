// Membership attack on a model's outputs before and after unlearning (Chen et al. 2021).

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
	"github.com/lethe-ml/lethe/lib/progress"
)

// Pair holds a model's outputs for records before and after unlearning, posteriors or
// representations, a row per record in the same order.
type Pair struct{ Before, After array.Matrix[float64] }

// ShadowPair holds the outputs of a pair of shadow models that the attacker trained and unlearned:
// for the records that were erased from them, and for records that neither model saw.
type ShadowPair struct{ Erased, Unseen Pair }

// Target holds the outputs of the pair of models under attack: for the erased records, and for
// records that neither model saw. Which are which is the truth.
type Target struct{ Erased, Unseen Pair }

// Construction says how a pair becomes features.
type Construction string

// The constructions of Chen et al. 2021 (section 3), of rows b before and a after. Sorting uses the
// descending order of b for both.
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
	// Distance is ||b - a||. It alone has the same meaning in models with different latent axes,
	// such as shadow models that were trained separately.
	Distance Construction = "distance"
)

// Constructions lists the constructions of the paper.
func Constructions() []Construction {
	return []Construction{Both, Concatenated, SortedConcatenated, Difference, SortedDifference, Distance}
}

// beforeOnly is for an attacker without the second model; beforeOnlySorted is the same, sorted.
const (
	beforeOnly       Construction = "before"
	beforeOnlySorted Construction = "before-sorted"
)

// Membership asks whether a record was erased, given a model's outputs before and after (Chen et
// al. 2021, "When machine unlearning jeopardizes privacy"). An attacker learns on pairs of shadow
// models and is scored on the target. The zero value is logistic regression on (before, after,
// before - after), standardised by the training records.
//
// Null: AUC 0.5. It can be above it without any unlearning, because the first model remembers:
// compare with MembershipResult.Before. For a model and itself Difference, SortedDifference and
// Distance are 0 for every record and give exactly 0.5. Direction: nearest to the null.
//
// BlindU's program has no such attack on images. Difference from Chen et al.: they erase single
// records, with a shadow model for each; here a set is erased at once, and one attacker serves all
// of it.
type Membership struct {
	Attacker     learned.Attacker `json:"attacker,omitempty"` // nil: learned.Logistic{}
	Construction Construction     `json:"construction,omitempty"`
}

// MembershipResult is the result of Membership. Intervals are DeLong's over the target's records,
// for this one attacker.
type MembershipResult struct {
	// ScoreReport is for the pair; members are the erased records.
	attack.ScoreReport
	// Before is for the same attacker with the first model alone, an ordinary membership attack.
	// What ScoreReport has beyond it was revealed by unlearning.
	Before attack.ScoreReport `json:"before"`
}

// Run learns on all shadow pairs together and scores the target. It refuses pairs that do not fit,
// values that are not finite and an unknown construction.
func (m Membership) Run(ctx context.Context, e *engine.Engine, shadows []ShadowPair, target Target, seed engine.Root) (*MembershipResult, error) {
	if !slices.Contains(Constructions(), m.Construction) {
		return nil, fmt.Errorf("membership: there is no construction %q", m.Construction)
	}
	if err := checkPairs(shadows, target); err != nil {
		return nil, fmt.Errorf("membership: %w", err)
	}
	ctx, task := progress.Start(ctx, "membership from representations", 2)
	defer task.Done()
	pair, err := m.attack(ctx, e, m.Construction, shadows, target, seed)
	if err != nil {
		return nil, fmt.Errorf("membership: %w", err)
	}
	first := beforeOnly
	if m.Construction == SortedConcatenated || m.Construction == SortedDifference {
		first = beforeOnlySorted
	}
	task.Add(1)
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

// features returns the features of every record of a pair.
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

// sortBoth brings both rows into the descending order of the first.
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
