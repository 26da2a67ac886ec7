package judge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
)

// Tracked is a judgement that is made of every model saved along unlearning.
type Tracked struct {
	Lens
	// Panel is the picture that shows it, with others of the same, and Line what it is
	// called there.
	Panel, Line string
	// Cost says that it is about what forgetting cost and not about memory: its numbers
	// are shown and no verdict is passed on them.
	Cost bool
}

// TrackedLenses lists what is followed along unlearning, in the order of a report. Whatever
// stands here is made once for every checkpoint, so it should be cheap.
func TrackedLenses() []Tracked {
	return []Tracked{
		{Loss{}, "AUC of the loss", "forgotten against held-out", false},
		{Accuracy{Forget}, "share right", "forgotten", false},
		{Accuracy{Retain}, "share right", "retained", true},
		{Accuracy{HeldOut}, "share right", "held-out", true},
		{MeanLoss{Forget}, "mean loss", "forgotten", false},
		{MeanLoss{Retain}, "mean loss", "retained", true},
		{MeanLoss{HeldOut}, "mean loss", "held-out", true},
	}
}

// Label is what a reader is told that it is.
func (f Tracked) Label() string { return f.Panel + ", " + f.Line }

// Trajectory is what the models say that were saved along unlearning: when the records
// are forgotten, whether they are pushed beyond where a model stands that never had
// them, and whether that is undone before the end.
//
// Every step is placed as a [Verdict] places the unlearned model: between the original
// and the retrained models, or the null of the judgement where there are none. A model
// that unlearning does not change stays where the original is; one that has forgotten
// stays at the reference. Steps are many, and one in twenty is unlike its reference by
// chance. A step whose value is farther from the original than that of an earlier step
// which was told from it is told from it too, and so for the reference: no verdict goes
// back because an interval has become wider.
type Trajectory struct {
	// Steps are the first original, where there is one, the checkpoints in their order
	// and the unlearned model.
	Steps   []*Model
	Curves  []Curve
	Skipped []Skipped
}

// Curve is one quantity along the way.
type Curve struct {
	Tracked
	Steps     []*Verdict // nil where the model lacks the arrays
	Retrained []audit.Reading
}

// Trajectory follows every quantity of [Along]; nil where there is no checkpoint.
func (e *Evidence) Trajectory(ctx context.Context) (*Trajectory, error) {
	checkpoints, unlearned := e.ModelsOf(Checkpoint), e.ModelsOf(Unlearned)
	if len(checkpoints) == 0 {
		return nil, nil
	}
	t := &Trajectory{}
	if len(unlearned) > 1 {
		why := fmt.Sprintf("needs one unlearned model, to which the checkpoints lead (there are %d)", len(unlearned))
		for _, f := range TrackedLenses() {
			t.Skipped = append(t.Skipped, Skipped{f.Lens, "", why})
		}
		return t, nil
	}
	original := e.ModelsOf(Original)
	t.Steps = slices.Concat(original[:min(1, len(original))], checkpoints, unlearned)
	for _, f := range TrackedLenses() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, why := e.curve(f, t.Steps)
		if why != "" {
			t.Skipped = append(t.Skipped, Skipped{f.Lens, "", why})
			continue
		}
		t.Curves = append(t.Curves, *c)
	}
	return t, nil
}

// curve follows one quantity, or says why it cannot be followed.
func (e *Evidence) curve(f Tracked, steps []*Model) (c *Curve, why string) {
	needs := f.Needs()
	lacks := e.missing(needs, "")
	if e.countModels(Checkpoint, needs.Arrays) == 0 {
		lacks = append(lacks, "checkpoints with "+needs.Arrays[0].fileText(""))
	}
	if len(lacks) > 0 {
		return nil, "needs " + strings.Join(lacks, "; ")
	}
	of := func(models []*Model) (out []*audit.Reading, err error) {
		for _, m := range models {
			if !m.has(needs.Arrays, e) {
				out = append(out, nil)
				continue
			}
			r, _, err := e.readLens(f.Lens, m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			out = append(out, r)
		}
		return out, nil
	}
	along, err := of(steps)
	if err != nil {
		return nil, "could not be made: " + err.Error()
	}
	retrained, err := of(e.ModelsOf(Retrained))
	if err != nil {
		return nil, "could not be made: " + err.Error()
	}
	c = &Curve{Tracked: f}
	path := newHistory()
	for _, r := range retrained {
		if r != nil {
			c.Retrained = append(c.Retrained, *r)
		}
	}
	for _, r := range along {
		if r == nil {
			c.Steps = append(c.Steps, nil)
			continue
		}
		v := &Verdict{Lens: f.Lens, Reading: *r, Retrained: c.Retrained}
		if steps[0].Role == Original {
			v.Original = along[0]
		}
		v.placeAs(path.likeness(v))
		c.Steps = append(c.Steps, v)
	}
	return c, ""
}

// history remembers which values of earlier steps were told from the original and from the
// reference. A step that is as far from an end as such a value, or farther and on its
// side, is told from that end too, however wide its own interval is: a spread that grows
// does not lead back. A step that comes nearer is judged by its own interval. Chance tells
// one step in twenty from an end; what it takes along are the steps that are farther still.
type history struct{ original, reference separated }

// separated are the values nearest to an end, below and above it, that were told from it.
type separated struct{ below, above float64 }

func newHistory() *history {
	none := separated{math.Inf(-1), math.Inf(1)}
	return &history{none, none}
}

// likeness is the step's, given the steps before it.
func (p *history) likeness(v *Verdict) audit.Likeness {
	l := v.likeness()
	if v.withheldReason().Call != "" {
		return l
	}
	if o := v.original(); o != nil {
		l.Original = p.original.like(v.Reading.Value, o.Value, l.Original)
	}
	if ref := v.reference(); ref != nil {
		l.Oracle = p.reference.like(v.Reading.Value, ref.Value, l.Oracle)
	}
	return l
}

// like is whether a value is like its end, by its own interval and by the values before.
func (t *separated) like(value, end float64, alike bool) bool {
	switch {
	case alike && value > t.below && value < t.above:
		return true
	case value < end:
		t.below = max(t.below, value)
	default:
		t.above = min(t.above, value)
	}
	return false
}
