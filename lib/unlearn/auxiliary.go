package unlearn

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Auxiliary says where a server that holds no record of a training has the records
// from on which its model is to go on working. There are as many as are to be
// forgotten, or as many as there are.
type Auxiliary string

// The kinds of auxiliary records.
const (
	Public   Auxiliary = "public"   // unseen records, drawn from those that a method may look at
	Noise    Auxiliary = "noise"    // drawn from nothing: every feature uniform between black, 0, and white, 1, with the label that the original gives
	Retained Auxiliary = "retained" // the retain set itself, all of it: an upper bound, and what BlindU's program does on CIFAR-10 and Adult
)

func (a Auxiliary) sees() Sees {
	return Sees{HeldOut: a == Public, Retain: a == Retained}
}

// records are the auxiliary ones.
func (a Auxiliary) records(r Request) (Data, error) {
	switch a {
	case Public:
		n := min(r.Forget.X.Rows, r.HeldOut.X.Rows)
		return r.HeldOut.rows(r.Seed.Stream(engine.StreamAuxiliary).Perm(r.HeldOut.X.Rows)[:n]), nil
	case Noise:
		return r.noise(r.Forget.X.Rows)
	case Retained:
		return r.Retain, nil
	}
	return Data{}, fmt.Errorf("the auxiliary records %q are none of %q, %q and %q", a, Public, Noise, Retained)
}

// noise are n records of nothing, as the original takes them.
func (r Request) noise(n int) (Data, error) {
	d := Data{X: array.New[float32](n, r.Runner.Arch.Inputs()), Made: true}
	rng := r.Seed.Stream(engine.StreamAuxiliary)
	for i := range d.X.Data {
		d.X.Data[i] = rng.Float32()
	}
	said, err := r.Runner.Predict(r.Original, d.X)
	if err != nil {
		return d, err
	}
	for i := range n {
		row, best := said.Logits().Row(i), 0
		for c, v := range row {
			if v > row[best] {
				best = c
			}
		}
		d.Y, d.IDs = append(d.Y, best), append(d.IDs, i)
	}
	return d, nil
}
