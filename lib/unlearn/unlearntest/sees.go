// Checks of the suite: a method sees only what it declares.

package unlearntest

import (
	"context"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// seesOnlyWhatItDeclares runs the method on requests whose hidden parts are replaced,
// damaged or absent: the result must not change by a bit.
func (s *suite) seesOnlyWhatItDeclares(t *testing.T) {
	sees := s.method.Info().Sees
	for _, c := range []struct {
		name    string
		direct  bool // Apply would refuse the request
		corrupt func(y *Toy, r *unlearn.Request)
	}{
		{"other hidden parts", false, replaceHidden(sees)},
		{"NaN in hidden parts", true, poisonHidden(sees)},
		{"no hidden parts", true, dropHidden(sees)},
	} {
		r := s.toy.request()
		c.corrupt(s.toy, &r)
		if !c.direct {
			if p, _ := s.apply(t, r); p.Hash() != s.want.Hash() {
				t.Errorf("%s: Apply gives another result", c.name)
			}
		}
		out, err := defaults.Fill(s.method).Unlearn(context.Background(), r)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case out == nil || out.Params.Hash() != s.want.Hash():
			t.Errorf("%s: the method gives another result", c.name)
		}
	}
}

// replaceHidden replaces the hidden parts by other valid weights and records.
func replaceHidden(sees unlearn.Sees) func(*Toy, *unlearn.Request) {
	return func(y *Toy, r *unlearn.Request) {
		if !sees.Original {
			r.Original = model.InitialWeights(r.Runner.Arch, engine.Root(77).Stream(engine.StreamInit))
		}
		if !sees.Earlier {
			r.Earlier = &unlearn.Checkpoint{Params: model.InitialWeights(r.Runner.Arch, engine.Root(78).Stream(engine.StreamInit))}
		}
		other := y.draw(2, 45)
		for i := range other.IDs {
			other.IDs[i] = 10000 + i
		}
		if !sees.Forget {
			r.Forget = rowRange(other, 0, 5)
		}
		if !sees.Retain {
			r.Retain = rowRange(other, 5, 30)
		}
		if !sees.HeldOut {
			r.HeldOut = rowRange(other, 30, 45)
		}
		if !sees.Refusals {
			r.Refusals = rowRange(y.draw(3, toyForget), 0, 4)
			copy(r.Refusals.IDs, r.Forget.IDs)
		}
	}
}

// poisonHidden keeps the shapes and destroys the values.
func poisonHidden(sees unlearn.Sees) func(*Toy, *unlearn.Request) {
	return func(y *Toy, r *unlearn.Request) {
		nan := float32(math.NaN())
		for _, weights := range []struct {
			seen bool
			p    nn.Params
		}{{sees.Original, r.Original}, {sees.Earlier, r.Earlier.Params}} {
			if weights.seen {
				continue
			}
			for _, p := range weights.p {
				for i := range p.Data {
					p.Data[i] = nan
				}
			}
		}
		for _, part := range []struct {
			seen bool
			d    unlearn.Data
		}{{sees.Forget, r.Forget}, {sees.Retain, r.Retain}, {sees.HeldOut, r.HeldOut}, {sees.Refusals, r.Refusals}} {
			if part.seen {
				continue
			}
			for i := range part.d.X.Data {
				part.d.X.Data[i] = nan
			}
			for i := range part.d.Y {
				part.d.Y[i], part.d.IDs[i] = -1, -1
			}
		}
	}
}

func dropHidden(sees unlearn.Sees) func(*Toy, *unlearn.Request) {
	return func(y *Toy, r *unlearn.Request) {
		if !sees.Original {
			r.Original = nil
		}
		if !sees.Earlier {
			r.Earlier = nil
		}
		if !sees.Forget {
			r.Forget = unlearn.Data{}
		}
		if !sees.Retain {
			r.Retain = unlearn.Data{}
		}
		if !sees.HeldOut {
			r.HeldOut = unlearn.Data{}
		}
		if !sees.Refusals {
			r.Refusals = unlearn.Data{}
		}
	}
}
