package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper/blindu"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// taken is what one run of a method took.
type taken struct {
	Seconds float64 `json:"-"`
	Steps   int     `json:"steps"`
	Rounds  int     `json:"rounds"` // or epochs
	// Of a federation: the mean of one user's seconds, those of all rounds if all users
	// worked at once, and those of one user's one round who erases nothing.
	User       float64 `json:"user_seconds,omitempty"`
	SideBySide float64 `json:"side_by_side_seconds,omitempty"`
	Ordinary   float64 `json:"ordinary_round_seconds,omitempty"`
	Note       string  `json:"note,omitempty"`
}

// trainingStep is asked for like a method: an epoch of training.
const trainingStep = "training"

// course asks a worker for one run of a method.
func (w *worker) course(name string) (taken, error) {
	n := 0 // the training
	if name != trainingStep {
		n = slices.Index(timedNames(), name) + 1
	}
	if _, err := fmt.Fprintln(w.in, n+1); err != nil {
		return taken{}, fmt.Errorf("%w: %s", err, lastLine(w.log.String()))
	}
	a, err := w.read()
	if err != nil {
		return taken{}, err
	}
	if a.Taken == nil {
		return taken{}, fmt.Errorf("the answer says nothing of what was taken")
	}
	w.seconds = append(w.seconds, a.Seconds)
	a.Taken.Seconds = a.Seconds
	return *a.Taken, nil
}

// blindu trains an original, and then runs whichever method is asked for: 1 is an epoch
// of training, 2 the first method.
func (d duty) blindu(ctx context.Context, args []string) error {
	c, err := blinduCase(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lethe-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	opened, err := (&lab.Lab{Engine: d.engine, Store: s}).Case(ctx, c.For(0))
	if err != nil {
		return err
	}
	if err := d.ready(0); err != nil {
		return err
	}
	for {
		n, err := d.request()
		if err != nil || n < 1 {
			return err
		}
		if n > len(timed)+1 {
			return cli.Usagef("no method %d", n)
		}
		a, err := clocked(ctx, opened, c, n-1)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(d.out).Encode(a); err != nil {
			return err
		}
	}
}

// blinduCase reads DATA RECORDS EPOCHS SHARE BETA ROUNDS LOCAL.
func blinduCase(args []string) (blindu.Case, error) {
	c, err := blindu.CaseOf(args[0])
	if err != nil {
		return c, err
	}
	var whole [4]int
	for i, text := range []string{args[1], args[2], args[5], args[6]} {
		if whole[i], err = strconv.Atoi(text); err != nil || whole[i] < 0 {
			return c, cli.Usagef("%q is no count", text)
		}
	}
	var parts [2]float64
	for i, text := range args[3:5] {
		if parts[i], err = strconv.ParseFloat(text, 64); err != nil {
			return c, cli.Usagef("%q is no number", text)
		}
	}
	c.MaxRows = whole[0]
	if whole[1] > 0 {
		c.Fit.Epochs = whole[1]
	}
	c.Users = unlearn.Users{Rounds: whole[2], LocalEpochs: whole[3]}
	return c.With(parts[0], parts[1]), nil
}

// clocked runs a method by the wall clock, the first of which is an epoch of training.
func clocked(ctx context.Context, c *lab.Case, of blindu.Case, k int) (answer, error) {
	var m unlearn.Method = unlearn.Retrain{}
	if k > 0 {
		m = of.Arms(timed[k-1].label)[0].Method
	}
	r, err := c.Request(ctx, m)
	if err != nil {
		return answer{}, err
	}
	if k == 0 {
		r.Fit.Epochs, r.Earlier = 1, nil
	}
	users := clock{users: map[int]float64{}}
	began := time.Now()
	_, rep, err := unlearn.Apply(federated.WithTrace(ctx, users.tell), m, r)
	if err != nil {
		return answer{}, err
	}
	t := users.taken()
	t.Steps, t.Rounds, t.Note = rep.Steps, rep.Epochs, rep.Note
	return answer{Seconds: time.Since(began).Seconds(), Taken: &t}, nil
}

// clock adds up the turns of a federation's users.
type clock struct {
	users    map[int]float64 // seconds
	slowest  []float64       // turn of every round
	ordinary []float64       // turns of users who erase nothing
}

func (c *clock) tell(t federated.Turn, took time.Duration) {
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

func (c *clock) taken() (t taken) {
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
