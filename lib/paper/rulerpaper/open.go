package rulerpaper

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
)

// ScaleEnv is the environment variable that names the scale.
const ScaleEnv = paper.ScaleEnv

// Open opens what recipes run in, with the engine and the store of audit.Open,
// and the scale that LETHE_SCALE names, quick without it.
func Open() (*Env, Scale, error) {
	s, err := ScaleByName(paper.ScaleName())
	if err != nil {
		return nil, s, fmt.Errorf("%s: %w", ScaleEnv, err)
	}
	e, err := paper.Open()
	if err != nil {
		return nil, s, err
	}
	return envOf(e), s, nil
}

// Main collects the study behind most tables and figures (section 4 of the
// paper): every method and control on every data set, seed and fraction.
func (e *Env) Main(ctx context.Context, s Scale) (*Collected, error) {
	s, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	return e.Collect(ctx, mainStudy(s))
}

// Of are the rows of an arm at a forget fraction, one per data set and seed.
func (c *Collected) Of(arm string, fraction float64) []Row { return of(c.Rows, arm, fraction) }

// Source is the line under a figure of one's own: scale, seeds, data and engine
// behind the rows.
func (e *Env) Source(s Scale, c *Collected) string { return e.provenance(Recipe{}, s, c).Line() }
