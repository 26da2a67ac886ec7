package unlearn

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
)

// Auxiliary says where a server that holds no record of a training has the records
// from on which its model is to go on working. There are as many as are to be
// forgotten, or as many as there are.
type Auxiliary string

// The kinds of auxiliary records.
const (
	Public   Auxiliary = "public"   // unseen records, drawn from those that a method may look at
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
	case Retained:
		return r.Retain, nil
	}
	return Data{}, fmt.Errorf("the auxiliary records %q are none of %q and %q", a, Public, Retained)
}
