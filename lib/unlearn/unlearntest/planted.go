// Checks of the suite: a planted memory.

package unlearntest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// memoryTolerance is the share of a loss by which it may change from rounding alone.
const memoryTolerance = 1e-4

func (s *suite) forgetsAPlantedMemory(t *testing.T) {
	for _, fault := range s.faultsWithAMemory(t) {
		t.Error(fault)
	}
}

// faultsWithAMemory runs the method on a problem whose forget set the original has memorised,
// and which nothing but memory can explain. Whatever a method minimises, the loss of these records
// must not fall, which is what training on them does, and the loss of the others must not rise by
// more, which is what happens where the two sets are exchanged.
func (s *suite) faultsWithAMemory(t testing.TB) (faults []string) {
	t.Helper()
	y := s.toy.planted(t)
	p, _ := s.apply(t, y.request())
	r := y.Request
	before, after := y.Loss(t, r.Original, r.Forget), y.Loss(t, p, r.Forget)
	if !(after >= before-memoryTolerance*before) {
		faults = append(faults, fmt.Sprintf("the loss of the planted forget records falls from %v to %v: the method trains on the forget set, "+
			"or exchanges the forget and the retain set", before, after))
	}
	kept, left := y.Loss(t, r.Original, r.Retain), y.Loss(t, p, r.Retain)
	if !s.forgetsAlike && !(after-before >= left-kept-memoryTolerance*kept) {
		faults = append(faults, fmt.Sprintf("the loss of the retain set rises by %v, that of the planted forget records by %v: the method exchanges "+
			"the two sets; one that gives up the retain set by its nature says so with ForgetsAlike", left-kept, after-before))
	}
	return faults
}

// planted returns a toy whose forget records contradict the others, and whose original was trained on them
// for so long that it has memorised them.
func (y *Toy) planted(t testing.TB) *Toy {
	t.Helper()
	out := &Toy{Request: y.request(), draw: y.draw}
	r := &out.Request
	var err error
	if r.Runner, err = model.NewRunner(r.Runner.Engine, withoutDropout(r.Runner.Arch)); err != nil {
		t.Fatal(err)
	}
	r.Fit.Epochs, r.Fit.Optimizer = 300, nn.Adam{LR: 1e-2}
	switch _, texts := r.Runner.Arch.(text.Decoder); {
	case r.Forget.Y != nil:
		exchangeLabels(r)
	case !texts: // of texts that were drawn at random all is memory
		r.Fit = train.Config{Epochs: 160, Optimizer: nn.Adam{LR: 5e-3}, Seed: r.Fit.Seed}
		for i, v := range r.Forget.X.Data {
			r.Forget.X.Data[i] = 1.5 - 1.5*v
		}
	}
	out.train(t, joined(r.Forget, r.Retain))
	return out
}

// withoutDropout returns the network without dropout, which keeps a small one from memorising.
func withoutDropout(a model.Architecture) model.Architecture {
	switch m := a.(type) {
	case tabular.MLP:
		m.Dropout = new(0.0)
		return m
	case text.Decoder:
		m.Dropout = new(0.0)
		return m
	}
	return a
}

// exchangeLabels moves the classes apart, so that a record's label follows from its features, and gives
// the forget set the labels of the next class.
func exchangeLabels(r *unlearn.Request) {
	for _, d := range []unlearn.Data{r.Forget, r.Retain, r.HeldOut} {
		for i, y := range d.Y {
			d.X.Row(i)[0] += 3 * float32(y)
		}
	}
	for i, y := range r.Forget.Y {
		r.Forget.Y[i] = (y + 1) % toyClasses
	}
}

// joined returns the records of both.
func joined(a, b unlearn.Data) unlearn.Data {
	out := rowRange(a, 0, a.X.Rows)
	out.X.Rows += b.X.Rows
	out.X.Data = append(out.X.Data, b.X.Data...)
	out.IDs, out.Y = slices.Concat(a.IDs, b.IDs), slices.Concat(a.Y, b.Y)
	return out
}
