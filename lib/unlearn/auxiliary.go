// Auxiliary records for a server without data.

package unlearn

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
)

// Auxiliary names the kind of auxiliary records that a server uses in place of the training
// data, which it does not have: one of [Sources].
type Auxiliary string

// The kinds of auxiliary records; each has its own file.
const (
	Public   Auxiliary = "public"
	Inverted Auxiliary = "inversion"
	Noise    Auxiliary = "noise"
	Retained Auxiliary = "retained"
)

// Source is one kind of auxiliary records.
type Source interface {
	Name() Auxiliary
	// About describes the records in one line.
	About() string
	// Sees says what the source needs. It never gets the forget set, only its size.
	Sees() Sees
	// Records returns n auxiliary records, or as many as there are. All of its random
	// numbers come from the stream engine.StreamAuxiliary of the request's seed.
	Records(ctx context.Context, r Request, n int) (Data, error)
}

// Sources lists the kinds of auxiliary records; a new one adds one line.
func Sources() []Source {
	return []Source{publicSource{}, inversionSource{}, noiseSource{}, retainedSource{}}
}

// source returns the source with that name.
func (a Auxiliary) source() (Source, error) {
	var names []Auxiliary
	for _, s := range Sources() {
		if s.Name() == a {
			return s, nil
		}
		names = append(names, s.Name())
	}
	return nil, fmt.Errorf("unknown auxiliary records %q; there are %q", a, names)
}

// sees returns what the source needs; nothing for an unknown name.
func (a Auxiliary) sees() Sees {
	s, err := a.source()
	if err != nil {
		return Sees{}
	}
	return s.Sees()
}

// records returns as many auxiliary records as there are records to forget. The source gets
// only what its Sees declares, without the forget set and without an objective that could
// look up its records.
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

// Range is the range of a record's features, as far as someone who has only the model knows
// it. The zero value is that of pixels from black, 0, to white, 1.
type Range struct{ Low, High float32 }

// SetDefaults implements defaults.Setter.
func (r *Range) SetDefaults() {
	if *r == (Range{}) {
		r.High = 1
	}
}

func (r Range) check() error {
	if !(r.Low <= r.High) || r.High-r.Low > 1e30 {
		return fmt.Errorf("features between %v and %v", r.Low, r.High)
	}
	return nil
}

// clamp moves values into the range.
func (r Range) clamp(values []float32) {
	for i, v := range values {
		values[i] = min(max(v, r.Low), r.High)
	}
}

// uniformRecords returns n records with every feature uniform in the request's range.
func (r Request) uniformRecords(n int) Data {
	d, in := Data{X: array.New[float32](n, r.Runner.Arch.Inputs()), Synthetic: true}, defaults.Fill(r.Range)
	rng := r.Seed.Stream(engine.StreamAuxiliary)
	for i := range d.X.Data {
		d.X.Data[i] = in.Low + float32((in.High-in.Low)*rng.Float32())
	}
	in.clamp(d.X.Data) // rounding may leave the range
	d.Y, d.IDs = make([]int, n), make([]int, n)
	for i := range d.IDs {
		d.IDs[i] = i
	}
	return d
}

// argmax returns the index of the largest value, the first among equals.
func argmax(values []float32) int { return slices.Index(values, slices.Max(values)) }
