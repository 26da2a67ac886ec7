// Lethe's side of lethe bench blindu.

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper/blindu"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// runMethod requests one run of a method; nil is an epoch of training.
func (w *worker) runMethod(m *blindu.TimedMethod) (blindu.RunCost, error) {
	n := 1
	if m != nil {
		n += 1 + slices.Index(timedMethodNames(), m.Name)
	}
	if _, err := fmt.Fprintln(w.in, n); err != nil {
		return blindu.RunCost{}, fmt.Errorf("%w: %s", err, lastLine(w.log.String()))
	}
	a, err := w.read()
	if err != nil {
		return blindu.RunCost{}, err
	}
	if a.Taken == nil {
		return blindu.RunCost{}, fmt.Errorf("the answer has no measurements")
	}
	w.seconds = append(w.seconds, a.Seconds)
	a.Taken.Seconds = a.Seconds
	return *a.Taken, nil
}

// blindu trains an original, and then runs the requested methods: 1 is an epoch of training, 2 the
// first method.
func (d server) blindu(ctx context.Context, args []string) error {
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
	opened, err := (&lab.Lab{Engine: d.engine, Store: s}).Case(ctx, c.SettingAt(0))
	if err != nil {
		return err
	}
	if err := d.sendReady(0); err != nil {
		return err
	}
	for {
		n, err := d.readRequest()
		if err != nil || n < 1 {
			return err
		}
		methods := blindu.TimedMethods()
		if n > len(methods)+1 {
			return cli.Usagef("no method %d", n)
		}
		var m *blindu.TimedMethod
		if n > 1 {
			m = &methods[n-2]
		}
		t, err := c.TimeMethod(ctx, opened, m)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(d.out).Encode(answer{Seconds: t.Seconds, Taken: &t}); err != nil {
			return err
		}
	}
}

// blinduCase parses DATA RECORDS EPOCHS SHARE BETA ROUNDS LOCAL.
func blinduCase(args []string) (blindu.Case, error) {
	c, err := blindu.CaseOf(args[0])
	if err != nil {
		return c, err
	}
	var whole [4]int
	for i, text := range []string{args[1], args[2], args[5], args[6]} {
		if whole[i], err = strconv.Atoi(text); err != nil || whole[i] < 0 {
			return c, cli.Usagef("%q is not a count", text)
		}
	}
	var parts [2]float64
	for i, text := range args[3:5] {
		if parts[i], err = strconv.ParseFloat(text, 64); err != nil {
			return c, cli.Usagef("%q is not a number", text)
		}
	}
	c.Data = lab.Limit(c.Data, whole[0], 0)
	if whole[1] > 0 {
		c.Fit.Epochs = whole[1]
	}
	c.Users = unlearn.Users{Rounds: whole[2], LocalEpochs: whole[3]}
	return c.WithShare(parts[0], parts[1]), nil
}
