package unlearn

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
)

// Auxiliary names where a server that holds no record of a training has the records
// from on which its model is to go on working: one of [Sources].
type Auxiliary string

// The kinds of auxiliary records; each has its file.
const (
	Public   Auxiliary = "public"
	Inverted Auxiliary = "inversion"
	Noise    Auxiliary = "noise"
	Retained Auxiliary = "retained"
)

// Source is one kind of auxiliary records.
type Source interface {
	Name() Auxiliary
	// About says in one line what the records are.
	About() string
	// Sees says what the source needs. The forget set is never shown, but how many
	// records there are in it.
	Sees() Sees
	// Records are the auxiliary ones, n or as many as there are. Everything that is
	// drawn for them is of the stream engine.StreamAuxiliary of the request's seed.
	Records(ctx context.Context, r Request, n int) (Data, error)
}

// Sources lists them; a new one adds one line.
func Sources() []Source {
	return []Source{publicSource{}, inversionSource{}, noiseSource{}, retainedSource{}}
}

// source is that of a name.
func (a Auxiliary) source() (Source, error) {
	var names []Auxiliary
	for _, s := range Sources() {
		if s.Name() == a {
			return s, nil
		}
		names = append(names, s.Name())
	}
	return nil, fmt.Errorf("the auxiliary records %q are none of %q", a, names)
}

// sees is what the records need; nothing where there are none of that name.
func (a Auxiliary) sees() Sees {
	s, err := a.source()
	if err != nil {
		return Sees{}
	}
	return s.Sees()
}

// attackRecords are as many as are to be forgotten, made of what their source may see: the
// forget set itself, and what looks up its records, are not there.
func (a Auxiliary) records(ctx context.Context, r Request) (Data, error) {
	s, err := a.source()
	if err != nil {
		return Data{}, err
	}
	n := r.Forget.X.Rows
	if r, err = r.restrictTo(s.Sees()); err != nil {
		return Data{}, fmt.Errorf("the auxiliary records %q: %w", a, err)
	}
	r.Forget, r.Objective, r.Hooks = Data{}, nil, train.Hooks{}
	d, err := s.Records(ctx, r, n)
	if err != nil {
		return Data{}, fmt.Errorf("the auxiliary records %q: %w", a, err)
	}
	return d, nil
}

// Range is where the features of a record lie, as far as who has the model alone knows
// it. The zero value is that of pixels from black, 0, to white, 1.
type Range struct{ Low, High float32 }

func (r Range) withDefaults() Range {
	if r == (Range{}) {
		r.High = 1
	}
	return r
}

func (r Range) check() error {
	if !(r.Low <= r.High) || r.High-r.Low > 1e30 {
		return fmt.Errorf("features between %v and %v", r.Low, r.High)
	}
	return nil
}

// clamp puts values back into the range.
func (r Range) clamp(values []float32) {
	for i, v := range values {
		values[i] = min(max(v, r.Low), r.High)
	}
}

// uniformRecords are n records of nothing, every feature uniform in the request's range.
func (r Request) uniformRecords(n int) Data {
	d, in := Data{X: array.New[float32](n, r.Runner.Arch.Inputs()), Synthetic: true}, r.Range.withDefaults()
	rng := r.Seed.Stream(engine.StreamAuxiliary)
	for i := range d.X.Data {
		d.X.Data[i] = in.Low + float32((in.High-in.Low)*rng.Float32())
	}
	in.clamp(d.X.Data) // a rounding may leave it
	d.Y, d.IDs = make([]int, n), make([]int, n)
	for i := range d.IDs {
		d.IDs[i] = i
	}
	return d
}

// argmax is the place of the largest value, of the first where there are several.
func argmax(values []float32) int { return slices.Index(values, slices.Max(values)) }
