package blindu

// Measuring of wall-clock times.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lethe-ml/lethe/lib/defaults"
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
	// program is how BlindU's program computes the time of the same run, nil if it does not;
	// step is the seconds of one training step.
	program func(t RunCost, step float64) float64
}

// TimedMethods are the methods of the paper's Figures 7 and 14, and retraining.
func TimedMethods() []TimedMethod {
	// BlindU's is twice a training step for every step of the model.
	blindly := func(t RunCost, step float64) float64 { return float64(t.Model) * 2 * step }
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

// Counted reports whether BlindU's program has a time of the method.
func (m TimedMethod) Counted() bool { return m.program != nil }

// RunCost is the time and the steps of one run of a method.
type RunCost struct {
	Seconds float64 `json:"-"`
	Steps   int     `json:"steps"`
	Rounds  int     `json:"rounds"` // or epochs
	// Of BlindU: the steps of the model alone, and those of the critic before the first of them,
	// which are not in Steps.
	Model  int `json:"model_steps,omitempty"`
	WarmUp int `json:"warm_up_steps,omitempty"`
	// Of a federation: the mean seconds per user, the seconds of all rounds if all users worked
	// in parallel, and the seconds of one round of a user who erases nothing.
	User       float64 `json:"user_seconds,omitempty"`
	SideBySide float64 `json:"side_by_side_seconds,omitempty"`
	Ordinary   float64 `json:"ordinary_round_seconds,omitempty"`
	Note       string  `json:"note,omitempty"`
	Diverged   string  `json:"diverged,omitempty"` // how it diverged; then there is no time
}

// Timing is the time of one method in one cell.
type Timing struct {
	Method  string    `json:"method"`
	Median  float64   `json:"median_seconds"`
	Seconds []float64 `json:"seconds"` // per run; none if the method diverged
	RunCost
	PerStep float64 `json:"seconds_per_step"`
	// Program is the time as BlindU's program would report it.
	Program *float64 `json:"program_seconds,omitempty"`
}

// TimedCell has the times of the methods for one share to forget and one beta.
type TimedCell struct {
	Share   float64  `json:"share"`
	Beta    float64  `json:"beta"`
	Step    float64  `json:"training_step_seconds"` // mean of an epoch
	Methods []Timing `json:"methods"`
}

// RunInterleaved fills a cell. The methods alternate, so that all have the same conditions,
// and the first run of each is not counted. run does one timed run; nil stands for an epoch of
// training.
func (c *TimedCell) RunInterleaved(runs int, methods []TimedMethod, run func(m *TimedMethod) (RunCost, error)) error {
	seconds, last := map[string][]float64{}, map[string]RunCost{}
	var steps []float64
	for i := range runs + 1 {
		t, err := run(nil)
		if err != nil {
			return fmt.Errorf("training: %w", err)
		}
		if i > 0 {
			steps = append(steps, t.Seconds/float64(t.Steps))
		}
		for _, m := range methods {
			t, err := run(&m)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", m.Name, err)
			case i > 0 && t.Diverged == "":
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

// summariseTimes summarises a method's runs. All runs do the same, so that the steps of the last
// one are used.
func summariseTimes(m TimedMethod, last RunCost, seconds []float64, step float64) (Timing, error) {
	t := Timing{Method: m.Label, Seconds: seconds, RunCost: last}
	if last.Diverged != "" {
		return t, nil
	}
	var err error
	if t.Median, err = stats.Median(seconds); err != nil {
		return t, err
	}
	t.PerStep = t.Median / float64(t.Steps+t.WarmUp)
	if m.program != nil {
		counted := m.program(last, step)
		t.Program = &counted
	}
	return t, nil
}

// TimeMethod runs a method on the case and measures its wall-clock time; nil is an epoch of
// training. The original is trained or found before. Nothing is stored.
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
	t.addCritic(m)
	return t, nil
}

// addCritic separates the steps of BlindU's model and critic; those of a critic as coded are not counted.
func (t *RunCost) addCritic(m unlearn.Method) {
	if b, is := defaults.Fill(m).(unlearn.BlindU); is && b.Coded == nil {
		t.Model, t.WarmUp = t.Steps/(1+b.Critic), b.WarmUp
	}
}

// criticsSteps says which of BlindU's steps are its critic's.
func criticsSteps() string {
	m := defaults.Fill(unlearn.BlindU{})
	return fmt.Sprintf("%d of %d its critic's, without the critic's %d before the first", m.Critic, m.Critic+1, m.WarmUp)
}

// usersClock sums the times of a federation's users.
type usersClock struct {
	users    map[int]float64 // seconds
	slowest  []float64       // in every round
	ordinary []float64       // of users who erase nothing
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
