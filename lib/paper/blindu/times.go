package blindu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// TimedMethod is a method that can be timed.
type TimedMethod struct {
	Name  string // in commands
	Label string // in the tables
	// program is how BlindU's program counts the time of the same run, nil where it does
	// not; step are the seconds of one training step.
	program func(t RunCost, step float64) float64
}

// TimedMethods are the methods of the paper's Figures 7 and 14, and retraining.
func TimedMethods() []TimedMethod {
	// BlindU's is twice a training step for every step of the model, of whose steps and its
	// critic's one in six is its own.
	blindly := func(t RunCost, step float64) float64 { return float64(t.Steps) / 6 * 2 * step }
	ascending := func(t RunCost, step float64) float64 { return float64(t.Steps) * step }
	return []TimedMethod{
		{"vbu", VBU, ascending},
		{"hbfu", HBFU, func(t RunCost, _ float64) float64 { return 5 * t.Ordinary * float64(t.Rounds-1) }},
		{"bfu", BFU, nil},
		{"blindu-w", WithReplacement, blindly},
		{"blindu-wo", WithoutReplacement, blindly},
		{"retrain", Retrained, nil},
		{"federated", Together, nil},
		{"vbu-coded", VBUCoded, ascending},
	}
}

// Counted says whether BlindU's program has a time of the method.
func (m TimedMethod) Counted() bool { return m.program != nil }

// RunCost is what one run of a method took.
type RunCost struct {
	Seconds float64 `json:"-"`
	Steps   int     `json:"steps"`
	Rounds  int     `json:"rounds"` // or epochs
	// Of a federation: the mean of one user's seconds, those of all rounds if all users
	// worked at once, and those of one user's one round who erases nothing.
	User       float64 `json:"user_seconds,omitempty"`
	SideBySide float64 `json:"side_by_side_seconds,omitempty"`
	Ordinary   float64 `json:"ordinary_round_seconds,omitempty"`
	Note       string  `json:"note,omitempty"`
	Diverged   string  `json:"diverged,omitempty"` // how; then there is no time
}

// Timing is what one method took in one cell.
type Timing struct {
	Method  string    `json:"method"`
	Median  float64   `json:"median_seconds"`
	Seconds []float64 `json:"seconds"` // per turn; none of a method that diverged
	RunCost
	PerStep float64 `json:"seconds_per_step"`
	// Program is what BlindU's program would call the time.
	Program *float64 `json:"program_seconds,omitempty"`
}

// TimedCell is what the methods took for a share to forget and a beta.
type TimedCell struct {
	Share   float64  `json:"share"`
	Beta    float64  `json:"beta"`
	Step    float64  `json:"training_step_seconds"` // mean of an epoch's
	Methods []Timing `json:"methods"`
}

// RunInterleaved fills in a cell: the methods work in turns, so that all see the same machine, and
// the first turn of each is not counted. run does one run, by the clock; nil stands for an
// epoch of training.
func (c *TimedCell) RunInterleaved(turns int, methods []TimedMethod, run func(m *TimedMethod) (RunCost, error)) error {
	seconds, last := map[string][]float64{}, map[string]RunCost{}
	var steps []float64
	for turn := range turns + 1 {
		t, err := run(nil)
		if err != nil {
			return fmt.Errorf("training: %w", err)
		}
		if turn > 0 {
			steps = append(steps, t.Seconds/float64(t.Steps))
		}
		for _, m := range methods {
			t, err := run(&m)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", m.Name, err)
			case turn > 0 && t.Diverged == "":
				seconds[m.Name] = append(seconds[m.Name], t.Seconds)
			}
			last[m.Name] = t
		}
	}
	var err error
	if c.Step, err = stats.Median(steps); err != nil {
		return err
	}
	for _, m := range methods {
		t, err := summariseTimes(m, last[m.Name], seconds[m.Name], c.Step)
		if err != nil {
			return err
		}
		c.Methods = append(c.Methods, t)
	}
	return nil
}

// summariseTimes sums a method's turns up. All do the same, so that the last stands for them.
func summariseTimes(m TimedMethod, last RunCost, seconds []float64, step float64) (Timing, error) {
	t := Timing{Method: m.Label, Seconds: seconds, RunCost: last}
	if last.Diverged != "" {
		return t, nil
	}
	var err error
	if t.Median, err = stats.Median(seconds); err != nil {
		return t, err
	}
	t.PerStep = t.Median / float64(t.Steps)
	if m.program != nil {
		counted := m.program(last, step)
		t.Program = &counted
	}
	return t, nil
}

// TimeMethod runs a method on the case, whose original is trained or found first, by the wall
// clock around all of it; nil is an epoch of training. Nothing of it is kept.
func (c Case) TimeMethod(ctx context.Context, opened *lab.Case, timed *TimedMethod) (RunCost, error) {
	var m unlearn.Method = unlearn.Retrain{}
	if timed != nil {
		m = c.Variants(timed.Label)[0].Method
	}
	r, err := opened.Request(ctx, m)
	if err != nil {
		return RunCost{}, err
	}
	if timed == nil {
		r.Fit.Epochs, r.Earlier = 1, nil
	}
	users := usersClock{users: map[int]float64{}}
	began := time.Now()
	_, rep, err := unlearn.Apply(federated.WithTrace(ctx, users.addTurn), m, r)
	took := time.Since(began).Seconds()
	if d := (*train.Diverged)(nil); errors.As(err, &d) {
		return RunCost{Diverged: d.Error()}, nil
	}
	if err != nil {
		return RunCost{}, err
	}
	t := users.total()
	t.Seconds, t.Steps, t.Rounds, t.Note = took, rep.Steps, rep.Epochs, rep.Note
	return t, nil
}

// usersClock adds up the turns of a federation's users.
type usersClock struct {
	users    map[int]float64 // seconds
	slowest  []float64       // turn of every round
	ordinary []float64       // turns of users who erase nothing
}

func (c *usersClock) addTurn(t federated.UserRound, took time.Duration) {
	s := took.Seconds()
	c.users[t.User] += s
	for len(c.slowest) < t.Round {
		c.slowest = append(c.slowest, 0)
	}
	c.slowest[t.Round-1] = max(c.slowest[t.Round-1], s)
	if len(t.Erased) == 0 {
		c.ordinary = append(c.ordinary, s)
	}
}

func (c *usersClock) total() (t RunCost) {
	for _, s := range c.users {
		t.User += s / float64(len(c.users))
	}
	for _, s := range c.slowest {
		t.SideBySide += s
	}
	for _, s := range c.ordinary {
		t.Ordinary += s / float64(len(c.ordinary))
	}
	return t
}
