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
	"github.com/lethe-ml/lethe/lib/stats"
)

// Attribute asks for a property of a person out of the code of his record, such as
// the sex in Adult: an attacker learns on the codes of persons whose attribute he
// knows. Everybody is judged by an attacker who was trained without him
// (learned.CrossFitted), and the same attack on the record itself, which lacks the
// attribute, says what was there to be found: an attribute that marital status tells
// is not hidden by leaving it out.
//
// Differences from the published program ("attack on Adult"): (1) it trains and scores
// on the same records; (2) it gives an accuracy, beside nothing. Where one answer is
// twice as common as the other, always giving it is right in two cases of three.
type Attribute struct {
	Attacker learned.Attacker `json:"attacker,omitempty"` // nil: learned.Logistic{}
	Folds    int              `json:"folds,omitempty"`    // 0: as learned.CrossFitted has it
}

// Persons are records whose attribute is in question.
type Persons struct {
	Has   []bool                 // the truth
	Codes array.Matrix[float64]  // what is uploaded of them
	Raw   *array.Matrix[float64] // their records without the attribute's column; nil: that attack is not made
}

// AttributeResult is what was found.
type AttributeResult struct {
	Codes Inference  `json:"codes"`
	Raw   *Inference `json:"raw"`
	// Majority is the accuracy of always giving the commoner answer.
	Majority float64 `json:"majority"`
}

// Inference is how well an attribute is told.
type Inference struct {
	// ScoreReport has the AUC, null 0.5, members being those who have the attribute.
	attack.ScoreReport
	// Balanced is the mean of the shares of either kind that are called right, where of
	// every fold the share is called that has the attribute among all, rounded. Null: 0.5.
	// Its interval is normal, wider by sqrt(2) because folds teach each other
	// (learned.Protocol), and has no width where everybody, or nobody, of a kind is called.
	Balanced stats.Estimate `json:"balanced"`
	// Accuracy is the share that is called right. It has no null: an attacker who calls
	// so many without a clue is right less often than Majority.
	Accuracy float64 `json:"accuracy"`
}

// Run attacks the codes, and the records where they are given. It refuses persons who
// all have the attribute, or none, and values that are not finite.
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

// newInference calls the upper scores, as many of them as there are with the attribute. The
// scores are places within a fold, in (0, 1).
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
