// A method with the number of steps of its published setting.

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/defaults"
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
	Records  int `json:"records,omitempty"`             // N', 0: 50,000; unused with Retained
	Retained int `json:"retained,omitempty"`            // N' of the retain set alone, 0: by Records
	Batch    int `json:"batch,omitempty" default:"256"` // b'
}

// Info implements Method. The forget and the retain set are counted, whatever the method
// itself sees.
func (m StepMatched[M]) Info() Info {
	m = defaults.Fill(m)
	setting := fmt.Sprintf("%d records", m.Records)
	switch {
	case m.Retained != 0:
		setting = fmt.Sprintf("%d retained records", m.Retained)
	case m.Records == 50000:
		setting = "50,000 images"
	}
	i := m.Of.Info()
	i.Does = "is " + i.Name + " for as many steps as the published setting takes on its " + setting
	i.Name, i.From = i.Name+"-step-matched", i.From+", step-matched"
	i.Sees.Forget, i.Sees.Retain = true, true
	i.Distils, i.Stage = false, 0
	return i
}

// SetDefaults implements defaults.Setter.
func (m *StepMatched[M]) SetDefaults() {
	if m.Retained == 0 {
		m.Records = cmp.Or(m.Records, 50000)
	}
}

// Unlearn implements Method.
func (m StepMatched[M]) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
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
	r, err := r.restrictTo(m.Of.Info().Sees)
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
