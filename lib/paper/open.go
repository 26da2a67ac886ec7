package paper

// The environment of notebooks: scale, engine and store.

import (
	"cmp"
	"context"
	"os"

	"github.com/lethe-ml/lethe/lib/lab"
)

// ScaleEnv is the environment variable that names the scale.
const ScaleEnv = "LETHE_SCALE"

// ScaleName is the scale that LETHE_SCALE names, quick without it.
func ScaleName() string { return cmp.Or(os.Getenv(ScaleEnv), "quick") }

// Open returns the environment of recipes, with the engine, the store and the seeds of lab.Open.
func Open() (*Env, error) {
	l, err := lab.Open()
	if err != nil {
		return nil, err
	}
	return &Env{Engine: l.Engine, Store: l.Store, Shift: l.Shift}, nil
}

// Make makes a table or figure of the paper in the environment of Open, at the scale of
// ScaleName: "table", "4b".
func (p Paper) Make(ctx context.Context, kind, name string) (*Output, error) {
	e, err := Open()
	if err != nil {
		return nil, err
	}
	r, err := p.Find(kind, name)
	if err != nil {
		return nil, err
	}
	return r.Run(ctx, e, ScaleName())
}
