package rulerpaper

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
)

// ScaleEnv is the environment variable that names the scale.
const ScaleEnv = paper.ScaleEnv

// Reader makes the paper's studies, tables and figures in a notebook, at the chosen scale.
type Reader struct {
	*Env
	Scale Scale
}

// Open opens the environment with the engine and the store of lab.Open, at the scale of
// LETHE_SCALE, by default quick.
func Open() (*Reader, error) {
	s, err := ScaleByName(paper.ScaleName())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ScaleEnv, err)
	}
	e, err := paper.Open()
	if err != nil {
		return nil, err
	}
	return &Reader{envOf(e), s}, nil
}

// Main collects the study behind most tables and figures (section 4 of the
// paper): every method and control on every data set, seed and fraction.
func (r *Reader) Main(ctx context.Context) (*Collected, error) {
	s, err := r.Scale.withStandIns(ctx)
	if err != nil {
		return nil, err
	}
	return r.Collect(ctx, mainStudy(s))
}

// Make makes a table or figure; kind and name are those of RecipeByID.
func (r *Reader) Make(ctx context.Context, kind, name string) (*Output, error) {
	recipe, err := RecipeByID(kind, name)
	if err != nil {
		return nil, err
	}
	return recipe.Run(ctx, r.Env, r.Scale)
}

// Source is the source line of a figure on a study: scale, seeds, data and engine of the rows.
func (r *Reader) Source(c *Collected) string { return r.provenance(Recipe{}, r.Scale, c).Line() }
