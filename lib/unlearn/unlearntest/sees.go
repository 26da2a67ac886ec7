// Checks of the suite: a method sees only what it declares, and uses it.

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
		switch {
		case !sees.Forget && sees.Refusals: // they are of forgotten records
			ids := r.Forget.IDs
			r.Forget = rowRange(other, 0, toyForget)
			copy(r.Forget.IDs, ids)
		case !sees.Forget:
			r.Forget = rowRange(other, 0, toyForget-3)
		}
		if !sees.Retain {
			r.Retain = rowRange(other, toyForget, 30)
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

func (s *suite) usesWhatItDeclares(t *testing.T) {
	for _, part := range s.unused(t) {
		t.Errorf("with another %s it gives the same weights, but Sees declares that it needs the %s", part, part)
	}
}

// unused runs the method on requests of which one part is another, in turn every part that the method
// declares to see, and returns the parts that do not change the result.
func (s *suite) unused(t testing.TB) (parts []string) {
	t.Helper()
	for _, c := range s.otherParts() {
		same := c.seen
		for k := 0; same && k < c.draws; k++ {
			r := s.toy.request()
			c.change(&r, engine.Root(20+k))
			p, _ := s.apply(t, r)
			same = p.Hash() == s.want.Hash()
		}
		if same {
			parts = append(parts, c.name)
		}
	}
	return parts
}

// otherPart is a part of a request that a method may declare to see.
type otherPart struct {
	name   string
	seen   bool
	draws  int // how many others are tried
	change func(r *unlearn.Request, seed engine.Root)
}

func (s *suite) otherParts() []otherPart {
	sees, more := s.method.Info().Sees, 2
	if sees.Refusals {
		more = 0 // every forgotten record needs one
	}
	weights := func(r *unlearn.Request, seed engine.Root) nn.Params {
		return model.InitialWeights(r.Runner.Arch, seed.Stream(engine.StreamInit))
	}
	return []otherPart{
		{"original", sees.Original, 1, func(r *unlearn.Request, seed engine.Root) { r.Original = weights(r, seed) }},
		{"forget set", sees.Forget, 1, func(r *unlearn.Request, seed engine.Root) { r.Forget = s.otherRecords(r.Forget, more, seed) }},
		{"retain set", sees.Retain, 1, func(r *unlearn.Request, seed engine.Root) { r.Retain = s.otherRecords(r.Retain, 2, seed) }},
		{"checkpoint", sees.Earlier, 1, func(r *unlearn.Request, seed engine.Root) { r.Earlier.Params = weights(r, seed) }},
		// A method may choose by these records alone, so that several are tried.
		{"held-out set", sees.HeldOut && !s.choosesByHeldOut, 4, func(r *unlearn.Request, seed engine.Root) {
			r.HeldOut = s.otherRecords(r.HeldOut, 2, seed)
		}},
		{"set of refusals", sees.Refusals, 1, func(r *unlearn.Request, seed engine.Root) { r.Refusals = s.otherRecords(r.Refusals, 0, seed) }},
	}
}

// otherRecords returns other records than d with the numbers of d, and some more: a method may use no more of a
// set than how many records it has.
func (s *suite) otherRecords(d unlearn.Data, more int, seed engine.Root) unlearn.Data {
	out := s.toy.draw(seed, d.X.Rows+more)
	if d.Y == nil {
		out.Y = nil
	}
	copy(out.IDs, d.IDs)
	for i := range more {
		out.IDs[d.X.Rows+i] = 20000 + i
	}
	return out
}
