// The learning curve of an unlearning: accuracies on forgotten, retained and
// held-out records by epoch.

package audit

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Trajectory is the learning curve of an unlearning: accuracies on forgotten, retained and held-out
// records after every epoch.
type Trajectory struct {
	c                    *Case
	title                string
	oracle               lab.Accuracy
	epochs               []float64
	forget, retain, test []stats.Estimate
}

// Track unlearns like Watch and calls each with the trajectory so far after every epoch. Epoch 0 is
// the original. It returns the trajectory and the last model.
func (c *Case) Track(ctx context.Context, method unlearn.Method, each func(*Trajectory) error) (*Trajectory, *Model, error) {
	oracle, err := c.Accuracy(c.Oracle)
	if err != nil {
		return nil, nil, err
	}
	k := &Trajectory{c: c, title: method.Info().Name, oracle: oracle}
	if err := k.add(0, c.Original); err != nil {
		return nil, nil, err
	}
	m, err := c.Watch(ctx, method, func(e train.Epoch, m *Model) error {
		if err := k.add(e.Epoch, m); err != nil {
			return err
		}
		return each(k)
	})
	return k, m, err
}

// Screen shows one figure at a time, such as nb.Live. Due reports whether it would draw the next
// figure now; Figure replaces the figure on it.
type Screen interface {
	Due() bool
	Figure(plot.Figure)
}

// DrawTrajectory unlearns and draws the accuracies on a screen, epoch by epoch.
func (c *Case) DrawTrajectory(ctx context.Context, s Screen, method unlearn.Method) error {
	trajectory, _, err := c.Track(ctx, method, func(k *Trajectory) error {
		if s.Due() {
			s.Figure(k.Figure())
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Figure(trajectory.Figure())
	return nil
}

func (k *Trajectory) add(epoch int, m *Model) error {
	a, err := k.c.Accuracy(m)
	if err != nil {
		return err
	}
	k.epochs = append(k.epochs, float64(epoch))
	k.forget, k.retain, k.test = append(k.forget, a.Forget), append(k.retain, a.Retain), append(k.test, a.Test)
	return nil
}

// Figure draws accuracies against epochs of unlearning. A dashed line is the retrained model's
// accuracy on the forgotten records.
func (k *Trajectory) Figure() plot.Figure {
	n := len(k.epochs) - 1
	return plot.Curves{
		Meta: plot.Meta{
			Title: fmt.Sprintf("%s on %s", k.title, k.c.describeForgetSet()),
			Caption: fmt.Sprintf("Bands: 95 %% intervals over records. After %d epochs: forgotten %.3f, retained %.3f, "+
				"held out %.3f.", n, k.forget[n].Value, k.retain[n].Value, k.test[n].Value),
			Source: k.c.Provenance().Line(),
		},
		X: plot.Axis{Label: "epoch of unlearning"}, Y: plot.Axis{Label: "accuracy", Min: plot.Limit(0), Max: plot.Limit(1.05)},
		Curves: []plot.Curve{k.curve("forgotten", k.forget), k.curve("retained", k.retain), k.curve("held out", k.test)},
		Null:   &plot.Null{Value: k.oracle.Forget.Value, Label: "retrained model, forgotten"},
	}
}

func (k *Trajectory) curve(name string, shares []stats.Estimate) plot.Curve {
	c := plot.Curve{Name: name, X: k.epochs}
	for _, e := range shares {
		c.Y, c.Low, c.High = append(c.Y, e.Value), append(c.Low, e.Low), append(c.High, e.High)
	}
	return c
}
