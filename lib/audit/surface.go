package audit

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/train"
)

// Surface draws the answers of a model of a two-feature data set over the plane, with the retained
// and the forgotten records on it. The axes are the standardised features.
func (c *Case) Surface(m *Model) (*plot.Decision, error) {
	if c.Train.X.Cols != 2 {
		return nil, fmt.Errorf("audit: a surface needs two features, %s has %d", c.DataSet(), c.Train.X.Cols)
	}
	points := []plot.DecisionPoints{c.points(plot.Retained, c.Retain), c.points(plot.Forgotten, c.Forget)}
	grid := plot.GridAround(points...)
	x, err := grid.Points()
	if err != nil {
		return nil, err
	}
	p, err := c.Runner.Predict(m.Weights, x)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Label, err)
	}
	features := c.About.Features
	return &plot.Decision{
		Meta: plot.Meta{Title: m.Label, Source: c.Provenance().Line()},
		X:    plot.Axis{Label: features[0].Name}, Y: plot.Axis{Label: features[1].Name},
		Grid: grid, Classes: c.About.Classes, Probabilities: train.Softmax(p.Logits(), 1), Points: points,
	}, nil
}

// Surfaces draws the surfaces of several models side by side.
func (c *Case) Surfaces(models ...*Model) (plot.Figure, error) {
	f := plot.Panels{Meta: plot.Meta{
		Title:   "What each model says, and " + c.describeForgetSet(),
		Caption: "Colour: the more probable class, paler where the model is unsure. Line: the decision boundary. Triangles: the records to forget.",
		Source:  c.Provenance().Line(),
	}}
	for _, m := range models {
		s, err := c.Surface(m)
		if err != nil {
			return nil, err
		}
		f.Figures = append(f.Figures, s)
	}
	return f, nil
}

func (c *Case) points(kind plot.PointKind, rows []int) plot.DecisionPoints {
	d := plot.DecisionPoints{Kind: kind}
	for _, r := range rows {
		x := c.Train.X.Row(r)
		d.X, d.Y, d.Class = append(d.X, float64(x[0])), append(d.Y, float64(x[1])), append(d.Class, c.Train.Y[r])
	}
	return d
}
