// Trajectories: readings of models saved along unlearning, each step placed with
// regard to earlier ones.

package judge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Tracked is a lens that reads every model saved along unlearning.
type Tracked struct {
	Lens
	// Panel is the panel of the figure that shows it, and Line its name there.
	Panel, Line string
	// Cost says that it measures the cost of forgetting and not memory: its numbers are shown
	// without a verdict.
	Cost bool
}

// TrackedLenses lists the lenses that are used along unlearning, in the order of a report. Each
// reads every checkpoint, so that it should be cheap.
func TrackedLenses() []Tracked {
	return []Tracked{
		{audit.Loss{}, "AUC of the loss", "forgotten against held-out", false},
		{audit.Accuracy{Set: Forget}, "share right", "forgotten", false},
		{audit.Accuracy{Set: Retain}, "share right", "retained", true},
		{audit.Accuracy{Set: HeldOut}, "share right", "held-out", true},
		{audit.MeanLoss{Set: Forget}, "mean loss", "forgotten", false},
		{audit.MeanLoss{Set: Retain}, "mean loss", "retained", true},
		{audit.MeanLoss{Set: HeldOut}, "mean loss", "held-out", true},
	}
}

// Label names the quantity in texts.
func (f Tracked) Label() string { return f.Panel + ", " + f.Line }

// Trajectory holds the readings of models saved along unlearning: when the records are forgotten,
// whether they are pushed beyond the retrained models, and whether that is reversed before the end.
//
// Every step is placed like the unlearned model of a [Verdict]: between the original and the
// retrained models, or the null of the lens where there are none. One step in twenty is unlike its
// reference by chance. A step that is farther from the original than an earlier step that was told
// from it is told from it too; the same holds for the reference. So no verdict is reversed because
// an interval has become wider.
type Trajectory struct {
	// Steps are the first original, where there is one, the checkpoints in their order and the
	// unlearned model.
	Steps   []*Model
	Curves  []Curve
	Skipped []Skipped
}

// Curve is one quantity along a trajectory.
type Curve struct {
	Tracked
	Steps     []*Verdict // nil where the model lacks the arrays
	Retrained []audit.Reading
}

// Trajectory reads every model saved along unlearning through [TrackedLenses]; nil where there is
// no checkpoint.
func (e *Evidence) Trajectory(ctx context.Context) (*Trajectory, error) {
	if len(e.ModelsOf(Checkpoint)) == 0 {
		return nil, nil
	}
	return e.trajectory(ctx, e.checkInputs())
}

// trajectory is Trajectory, given what the inputs say.
func (e *Evidence) trajectory(ctx context.Context, inputs *InputChecks) (*Trajectory, error) {
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
	tracked := TrackedLenses()
	ctx, task := progress.Start(ctx, "reading the checkpoints", len(tracked))
	defer task.Done()
	for _, f := range tracked {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		task.Add(1)
		c, why := e.curve(f, t.Steps, inputs.difference())
		if why != "" {
			t.Skipped = append(t.Skipped, Skipped{f.Lens, "", why})
			continue
		}
		t.Curves = append(t.Curves, *c)
	}
	return t, nil
}

// curve returns one quantity along the steps, or why it cannot be read.
func (e *Evidence) curve(f Tracked, steps []*Model, blind *audit.Reading) (c *Curve, why string) {
	needs := f.Info().Needs
	lacks := e.missing(needs, "")
	if e.countModels(Checkpoint, needs.Arrays) == 0 {
		lacks = append(lacks, "checkpoints with "+fileText(needs.Arrays[0], ""))
	}
	if len(lacks) > 0 {
		return nil, "needs " + strings.Join(lacks, "; ")
	}
	of := func(models []*Model) (out []*audit.Reading, err error) {
		for _, m := range models {
			if !m.Has(needs.Arrays, &e.Evidence) {
				out = append(out, nil)
				continue
			}
			r, err := e.readLens(f.Lens, m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			out = append(out, r)
		}
		return out, nil
	}
	along, err := of(steps)
	if err != nil {
		return nil, "failed: " + err.Error()
	}
	retrained, err := of(e.ModelsOf(Retrained))
	if err != nil {
		return nil, "failed: " + err.Error()
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
		v := &Verdict{Lens: f.Lens, Reading: *r, Retrained: c.Retrained, Blind: blind}
		if steps[0].Role == Original {
			v.Original = along[0]
		}
		v.placeAs(path.likeness(v))
		c.Steps = append(c.Steps, v)
	}
	return c, ""
}

// history remembers which values of earlier steps were told from the original and from the
// reference. A step that is as far from an end as such a value, on the same side, is told from that
// end too, however wide its own interval is. A step that comes nearer is compared by its own
// interval. By chance one step in twenty is told from an end; it affects only steps that are
// farther still.
type history struct{ original, reference separated }

// separated holds the values closest to an end, below and above it, that were told from it.
type separated struct{ below, above float64 }

func newHistory() *history {
	none := separated{math.Inf(-1), math.Inf(1)}
	return &history{none, none}
}

// likeness returns the step's likeness, given the steps before it.
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

// like reports whether a value is like its end, by its own interval and by the values before.
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
