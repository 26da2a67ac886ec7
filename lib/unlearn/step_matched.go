package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/internal/resolved"
	"github.com/lethe-ml/lethe/lib/train"
)

// StepMatched is a method that goes as many steps as in its published setting,
// where that was on more records. An epoch is as many steps as there are batches:
// ten epochs of the published programs are 1,760 steps on the 45,000 retained
// images of CIFAR-10 in batches of 256, and 80 on 1,800. With s_p the steps of
// a pass over n records, N the records that the original was trained on, and N'
// and b' those of the published setting,
//
//	epochs = E (sum over passes of ceil(n N'/(N b'))) / (sum over passes of s_p)
//
// rounded, at least 1; everything that depends on the number of epochs, such as a
// schedule, is stretched with it. The zero value is the setting of the programs
// of Jia et al. 2023 and Fan et al. 2024: N' = 50,000 and b' = 256. On full
// batches an epoch is one step on any number of records, so that nothing changes.
//
// It is a row beside the published number of epochs, not in its place: the steps
// are those of the paper, and every record is met more often than there.
type StepMatched[M Method] struct {
	Of      M   `json:"of,omitzero"`
	Records int `json:"records,omitempty"` // N', 0: 50,000
	Batch   int `json:"batch,omitempty"`   // b', 0: 256
}

var _ Described = StepMatched[RandomLabel]{}

// Name implements Method.
func (m StepMatched[M]) Name() string { return m.Of.Name() + "-step-matched" }

// About implements Described.
func (m StepMatched[M]) About() About {
	return About{"is " + m.Of.Name() + " for as many steps as the published setting takes on its 50,000 images", aboutOf(m.Of).From + ", step-matched"}
}

// General implements General.
func (m StepMatched[M]) General() bool { return IsGeneral(m.Of) }

// Sees implements Method. The forget and the retain set are counted, whatever the
// method itself sees.
func (m StepMatched[M]) Sees() Sees {
	s := m.Of.Sees()
	s.Forget, s.Retain = true, true
	return s
}

// Version implements Versioned.
func (m StepMatched[M]) Version() int { return VersionOf(m.Of) }

// Resolved implements Method.
func (m StepMatched[M]) Resolved() Method { return m.resolved() }

func (m StepMatched[M]) resolved() StepMatched[M] {
	m.Of, m.Records, m.Batch = resolved.Of[Method](m.Of, m.Of.Resolved()).(M), cmp.Or(m.Records, 50000), cmp.Or(m.Batch, 256)
	return m
}

// Unlearn implements Method.
func (m StepMatched[M]) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.resolved()
	if m.Records < 1 || m.Batch < 1 {
		return nil, fmt.Errorf("%d records in batches of %d: both must be positive", m.Records, m.Batch)
	}
	r.pace = &pace{times: float64(m.Records) / float64(r.Forget.X.Rows+r.Retain.X.Rows), batch: m.Batch}
	r, err := r.shown(m.Of.Sees())
	if err != nil {
		return nil, err
	}
	return m.Of.Unlearn(ctx, r)
}

// pace says how much longer an epoch is in the published setting.
type pace struct {
	times float64 // records there to one here
	batch int     // there
}

// epochs is how many epochs of some passes take as many steps as the published
// number does there.
func (p *pace) epochs(epochs int, c train.Config, passes ...train.Objective) int {
	if p == nil || c.Batch == 0 {
		return epochs
	}
	here, there := 0, 0.0
	for _, o := range passes {
		records := train.Config{Batch: 1}.StepsPerEpoch(o)
		here += c.StepsPerEpoch(o)
		there += math.Ceil(float64(records) * p.times / float64(p.batch))
	}
	return max(1, int(math.Round(float64(epochs)*there/float64(here))))
}

// aboutOf is what a method says of itself, and nothing of one that does not.
func aboutOf(m Method) About {
	if d, ok := m.(Described); ok {
		return d.About()
	}
	return About{}
}
