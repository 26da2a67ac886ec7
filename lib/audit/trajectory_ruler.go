// RULER's M2 and M4 along an unlearning, drawn on a screen epoch by epoch.

package audit

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// rulerTrajectory holds RULER's M2 and M4 after every epoch of an unlearning.
type rulerTrajectory struct {
	c                    *Case
	title                string
	noUnlearning, oracle *ruler.Result
	epochs, m2, m4       []float64
}

// DrawRULER unlearns and draws M2 and M4 on a screen, epoch by epoch, beside their values without
// unlearning and for the oracle.
func (c *Case) DrawRULER(ctx context.Context, s Screen, method unlearn.Method) error {
	k := &rulerTrajectory{c: c, title: method.Info().Name}
	var err error
	if k.noUnlearning, err = c.RULERValues(c.Original); err != nil {
		return err
	}
	if k.oracle, err = c.RULERValues(c.Oracle); err != nil {
		return err
	}
	k.add(0, k.noUnlearning)
	_, err = c.Watch(ctx, method, func(e train.Epoch, m *Model) error {
		r, err := c.RULERValues(m)
		if err != nil {
			return err
		}
		k.add(e.Epoch, r)
		if s.Due() {
			s.Figure(k.figure())
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Figure(k.figure())
	return nil
}

func (k *rulerTrajectory) add(epoch int, r *ruler.Result) {
	k.epochs, k.m2, k.m4 = append(k.epochs, float64(epoch)), append(k.m2, r.M2.Value), append(k.m4, r.M4.Value)
}

func (k *rulerTrajectory) figure() plot.Figure {
	n := len(k.epochs) - 1
	nothing, oracle := k.noUnlearning, k.oracle
	return plot.Panels{
		Meta: plot.Meta{
			Title: fmt.Sprintf("%s on %s", k.title, k.c.describeForgetSet()), Source: k.c.Provenance().Line(),
			Caption: fmt.Sprintf("After %d epochs: M2 %+.5f (do nothing %+.5f), M4 %.3f (oracle %.3f).",
				n, k.m2[n], nothing.M2.Value, k.m4[n], oracle.M4.Value),
		},
		Columns: 1,
		Figures: []plot.Figure{
			k.panel("M2", k.m2, nothing.M2.Value, oracle.M2.Value, &plot.Null{}),
			k.panel("M4", k.m4, nothing.M4.Value, oracle.M4.Value, plot.NullBand(0.5, m4ChanceDistance(len(k.c.Forget), gallerySize(len(k.c.Retain))))),
		},
	}
}

// panel draws one metric. Every metric has the same curves in the same order, so that each keeps
// its style.
func (k *rulerTrajectory) panel(name string, y []float64, nothing, oracle float64, null *plot.Null) plot.Figure {
	end := max(1, k.epochs[len(k.epochs)-1])
	return plot.Curves{
		Meta: plot.Meta{Title: name, Height: 190}, X: plot.Axis{Label: "epoch"}, Y: plot.Axis{Label: name}, Null: null,
		Curves: []plot.Curve{
			{Name: k.title, X: k.epochs, Y: y},
			plot.HorizontalLine("do nothing", nothing, 0, end), plot.HorizontalLine("oracle", oracle, 0, end),
		},
	}
}
