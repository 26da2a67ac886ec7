package judge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
)

// Followed is a judgement that is made of every model saved along unlearning.
type Followed struct {
	Judgement
	// Panel is the picture that shows it, with others of the same, and Line what it is
	// called there.
	Panel, Line string
	// Cost says that it is about what forgetting cost and not about memory: its numbers
	// are shown and no verdict is passed on them.
	Cost bool
}

// Along lists what is followed along unlearning, in the order of a report. Whatever
// stands here is made once for every checkpoint, so it should be cheap.
func Along() []Followed {
	return []Followed{
		{Loss{}, "AUC of the loss", "forgotten against held-out", false},
		{Right{Forget}, "share right", "forgotten", false},
		{Right{Retain}, "share right", "retained", true},
		{Right{HeldOut}, "share right", "held-out", true},
		{Fit{Forget}, "mean loss", "forgotten", false},
		{Fit{Retain}, "mean loss", "retained", true},
		{Fit{HeldOut}, "mean loss", "held-out", true},
	}
}

// Label is what a reader is told that it is.
func (f Followed) Label() string { return f.Panel + ", " + f.Line }

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
	Courses []Course
	Undone  []Undone
}

// Course is one quantity along the way.
type Course struct {
	Followed
	Steps     []*Verdict // nil where the model lacks the arrays
	Retrained []audit.Reading
}

// Trajectory follows every quantity of [Along]; nil where there is no checkpoint.
func (e *Evidence) Trajectory(ctx context.Context) (*Trajectory, error) {
	checkpoints, unlearned := e.Of(Checkpoint), e.Of(Unlearned)
	if len(checkpoints) == 0 {
		return nil, nil
	}
	t := &Trajectory{}
	if len(unlearned) > 1 {
		why := fmt.Sprintf("needs one unlearned model, to which the checkpoints lead (there are %d)", len(unlearned))
		for _, f := range Along() {
			t.Undone = append(t.Undone, Undone{f.Judgement, "", why})
		}
		return t, nil
	}
	original := e.Of(Original)
	t.Steps = slices.Concat(original[:min(1, len(original))], checkpoints, unlearned)
	for _, f := range Along() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, why := e.course(f, t.Steps)
		if why != "" {
			t.Undone = append(t.Undone, Undone{f.Judgement, "", why})
			continue
		}
		t.Courses = append(t.Courses, *c)
	}
	return t, nil
}

// course follows one quantity, or says why it cannot be followed.
func (e *Evidence) course(f Followed, steps []*Model) (c *Course, why string) {
	needs := f.Needs()
	lacks := e.lacks(needs, "")
	if e.counted(Checkpoint, needs.Arrays) == 0 {
		lacks = append(lacks, "checkpoints with "+needs.Arrays[0].words(""))
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
			r, _, err := e.read(f.Judgement, m)
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
	retrained, err := of(e.Of(Retrained))
	if err != nil {
		return nil, "could not be made: " + err.Error()
	}
	c = &Course{Followed: f}
	path := newPath()
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
		v := &Verdict{Judgement: f.Judgement, Reading: *r, Retrained: c.Retrained}
		if steps[0].Role == Original {
			v.Original = along[0]
		}
		v.placeAs(path.likeness(v))
		c.Steps = append(c.Steps, v)
	}
	return c, ""
}

// path remembers which values of earlier steps were told from the original and from the
// reference. A step that is as far from an end as such a value, or farther and on its
// side, is told from that end too, however wide its own interval is: a spread that grows
// does not lead back. A step that comes nearer is judged by its own interval. Chance tells
// one step in twenty from an end; what it takes along are the steps that are farther still.
type path struct{ original, reference told }

// told are the values nearest to an end, below and above it, that were told from it.
type told struct{ below, above float64 }

func newPath() *path {
	none := told{math.Inf(-1), math.Inf(1)}
	return &path{none, none}
}

// likeness is the step's, given the steps before it.
func (p *path) likeness(v *Verdict) audit.Likeness {
	l := v.likeness()
	if v.withheld().Call != "" {
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
func (t *told) like(value, end float64, alike bool) bool {
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
