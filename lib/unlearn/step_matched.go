// A method with the number of steps of its published setting.

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/internal/defaults"
	"github.com/lethe-ml/lethe/lib/train"
)

// StepMatched is a method with as many steps as in its published setting, where that has
// more records. An epoch has as many steps as there are batches: ten epochs of the
// published programs are 1,760 steps on the 45,000 retained images of CIFAR-10 in batches
// of 256, and 80 on 1,800. With s_p the steps of a pass over n records, N the number of
// records that the original was trained on, and N' and b' those of the published setting,
//
//	epochs = E (sum over passes of ceil(n N'/(N b'))) / (sum over passes of s_p)
//
// rounded, at least 1; everything that depends on the number of epochs, such as a schedule,
// is stretched with it. The zero value is the setting of the programs of Jia et al. 2023
// and Fan et al. 2024: N' = 50,000 and b' = 256. With full batches an epoch is one step for
// any number of records, so that nothing changes.
//
// Retained gives N' by the retain set: n/N is then the share of the retained records in a
// pass, and a pass over all of them is N' records. "Fishing for Privacy" has 28,094 of
// them, and 110 steps in an epoch.
//
// Tables show it in addition to the published number of epochs: the number of steps is the
// paper's, but every record is seen more often than there.
type StepMatched[M Method] struct {
	Of       M   `json:"of,omitzero"`
	Records  int `json:"records,omitempty"`  // N', 0: 50,000; unused with Retained
	Retained int `json:"retained,omitempty"` // N' of the retain set alone, 0: by Records
	Batch    int `json:"batch,omitempty"`    // b', 0: 256
}

var _ Described = StepMatched[RandomLabel]{}

// Name implements Method.
func (m StepMatched[M]) Name() string { return m.Of.Name() + "-step-matched" }

// About implements Described.
func (m StepMatched[M]) About() About {
	m = m.withDefaults()
	setting := fmt.Sprintf("%d records", m.Records)
	switch {
	case m.Retained != 0:
		setting = fmt.Sprintf("%d retained records", m.Retained)
	case m.Records == 50000:
		setting = "50,000 images"
	}
	return About{"is " + m.Of.Name() + " for as many steps as the published setting takes on its " + setting, aboutOf(m.Of).From + ", step-matched"}
}

// General implements General.
func (m StepMatched[M]) General() bool { return IsGeneral(m.Of) }

// Sees implements Method. The forget and the retain set are counted, whatever the method
// itself sees.
func (m StepMatched[M]) Sees() Sees {
	s := m.Of.Sees()
	s.Forget, s.Retain = true, true
	return s
}

// Version implements Versioned.
func (m StepMatched[M]) Version() int { return VersionOf(m.Of) }

// WithDefaults implements Method.
func (m StepMatched[M]) WithDefaults() Method { return m.withDefaults() }

func (m StepMatched[M]) withDefaults() StepMatched[M] {
	m.Of, m.Batch = defaults.InForce[Method](m.Of, m.Of.WithDefaults()).(M), cmp.Or(m.Batch, 256)
	if m.Retained == 0 {
		m.Records = cmp.Or(m.Records, 50000)
	}
	return m
}

// Unlearn implements Method.
func (m StepMatched[M]) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
	here, there := r.Forget.X.Rows+r.Retain.X.Rows, m.Records
	if m.Retained != 0 {
		if m.Records != 0 {
			return nil, fmt.Errorf("%d records and %d retained ones: give one of them, for the published setting", m.Records, m.Retained)
		}
		here, there = r.Retain.X.Rows, m.Retained
	}
	if there < 1 || m.Batch < 1 {
		return nil, fmt.Errorf("%d records in batches of %d: both must be positive", there, m.Batch)
	}
	r.stepScale = &stepScale{records: here, publishedRecords: there, publishedBatch: m.Batch}
	r, err := r.restrictTo(m.Of.Sees())
	if err != nil {
		return nil, err
	}
	return m.Of.Unlearn(ctx, r)
}

// stepScale says how much longer an epoch is in the published setting.
type stepScale struct {
	records, publishedRecords int // numbers of records here and in the published setting
	publishedBatch            int // batch size of the published setting
}

// epochs returns the number of epochs of the given passes that takes as many steps as in
// the published setting.
func (p *stepScale) epochs(epochs int, c train.Config, passes ...train.Objective) int {
	if p == nil || c.Batch == 0 {
		return epochs
	}
	here, there := 0, 0
	for _, o := range passes {
		records := train.Config{Batch: 1}.StepsPerEpoch(o)
		here += c.StepsPerEpoch(o)
		there += (records*p.publishedRecords + p.records*p.publishedBatch - 1) / (p.records * p.publishedBatch)
	}
	return max(1, int(math.Round(float64(epochs)*float64(there)/float64(here))))
}

// patience scales a patience in epochs in the same way; 0: never.
func (p *stepScale) patience(epochs int, c train.Config, passes ...train.Objective) int {
	if epochs == 0 {
		return 0
	}
	return p.epochs(epochs, c, passes...)
}

// aboutOf returns a method's About, if it has one.
func aboutOf(m Method) About {
	if d, ok := m.(Described); ok {
		return d.About()
	}
	return About{}
}
