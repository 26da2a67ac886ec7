// Attribute inference from the codes of records, compared with inference from the
// records themselves.

package representation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Attribute is an attribute inference attack on the code of a record, for instance the sex in
// Adult. An attacker learns on the codes of persons whose attribute is known. Every person is
// scored by an attacker that was trained without them (learned.CrossFitted). The same attack on the
// record itself, without the attribute's column, shows how much can be inferred without codes: an
// attribute that marital status reveals is not hidden by leaving it out.
//
// Differences from the published program ("attack on Adult"): (1) the program trains and scores on
// the same records; (2) it reports an accuracy without a baseline. If one answer is twice as common
// as the other, always giving it is right in two of three cases.
type Attribute struct {
	Attacker learned.Attacker `json:"attacker,omitempty"` // nil: learned.Logistic{}
	Folds    int              `json:"folds,omitempty"`    // 0: as learned.CrossFitted has it
}

// Persons holds records whose attribute is inferred.
type Persons struct {
	Has   []bool                 // the truth
	Codes array.Matrix[float64]  // of the records
	Raw   *array.Matrix[float64] // the records without the attribute's column; nil: no attack on them
}

// AttributeResult is the result of an attribute inference attack.
type AttributeResult struct {
	Codes Inference  `json:"codes"`
	Raw   *Inference `json:"raw"`
	// Majority is the accuracy of always giving the more common answer.
	Majority float64 `json:"majority"`
}

// Inference says how well an attribute was inferred.
type Inference struct {
	// ScoreReport has the AUC, null 0.5; members are those who have the attribute.
	attack.ScoreReport
	// Balanced is the balanced accuracy. In every fold as many records are called as have the
	// attribute among all, rounded. Null: 0.5. Its interval is normal, wider by sqrt(2) because
	// folds are not independent (learned.Protocol), and has no width if all or none of a kind are
	// called.
	Balanced stats.Estimate `json:"balanced"`
	// Accuracy is the share of right answers. It has no null: an attacker without information that
	// calls the right number is right less often than Majority.
	Accuracy float64 `json:"accuracy"`
}

// Run attacks the codes, and the records where they are given. It refuses persons who all have the
// attribute, or none, and values that are not finite.
func (a Attribute) Run(ctx context.Context, e *engine.Engine, p Persons, seed engine.Root) (*AttributeResult, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("attribute: %w", err)
	}
	have := 0
	for _, has := range p.Has {
		if has {
			have++
		}
	}
	ctx, task := progress.Start(ctx, "inferring an attribute", 0)
	defer task.Done()
	out := &AttributeResult{Majority: float64(max(have, len(p.Has)-have)) / float64(len(p.Has))}
	codes, err := a.infer(ctx, e, p.Has, p.Codes, seed)
	if err != nil {
		return nil, fmt.Errorf("attribute: codes: %w", err)
	}
	out.Codes = *codes
	if p.Raw == nil {
		return out, nil
	}
	if out.Raw, err = a.infer(ctx, e, p.Has, *p.Raw, seed); err != nil {
		return nil, fmt.Errorf("attribute: raw records: %w", err)
	}
	return out, nil
}

func (p Persons) check() error {
	if len(p.Has) != p.Codes.Rows {
		return fmt.Errorf("%d persons, %d codes", len(p.Has), p.Codes.Rows)
	}
	err := p.Codes.Check("codes")
	if p.Raw != nil {
		if len(p.Has) != p.Raw.Rows {
			return fmt.Errorf("%d persons, %d raw records", len(p.Has), p.Raw.Rows)
		}
		err = errors.Join(err, p.Raw.Check("raw records"))
	}
	return err
}

func (a Attribute) infer(ctx context.Context, e *engine.Engine, has []bool, x array.Matrix[float64], seed engine.Root) (*Inference, error) {
	var with, without []int
	for i, h := range has {
		if h {
			with = append(with, i)
		} else {
			without = append(without, i)
		}
	}
	p := learned.CrossFitted(a.Attacker)
	p.Folds = cmp.Or(a.Folds, p.Folds)
	r, err := p.Run(ctx, e, learned.Target{Model: learned.Records{Members: x.Gather(with), Nonmembers: x.Gather(without)}}, seed)
	if err != nil {
		return nil, err
	}
	return newInference(r), nil
}

// newInference calls the records with the highest scores, as many as have the attribute. Scores are
// ranks within a fold, in (0, 1).
func newInference(r *learned.Report) *Inference {
	n1, n0 := float64(r.NMembers), float64(r.NNonmembers)
	bar := n0 / (n1 + n0)
	hits, passes := 0.0, 0.0
	for _, c := range r.Scores {
		switch {
		case c.Member && c.Score > bar:
			hits++
		case !c.Member && c.Score <= bar:
			passes++
		}
	}
	tpr, tnr := hits/n1, passes/n0
	balanced := (tpr + tnr) / 2
	half := float64(1.96 * math.Sqrt2 * math.Sqrt(tpr*(1-tpr)/n1+tnr*(1-tnr)/n0) / 2)
	null := 0.5
	return &Inference{
		ScoreReport: r.ScoreReport,
		Balanced: stats.Estimate{
			Value: balanced, Low: max(0, balanced-half), High: min(1, balanced+half), Level: level, Over: "records",
			Null: &null, Better: stats.NearNull, N: r.NMembers + r.NNonmembers,
		},
		Accuracy: (hits + passes) / (n1 + n0),
	}
}
