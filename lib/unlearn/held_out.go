package unlearn

import (
	"errors"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// accuracySet holds a model's accuracies.
type accuracySet struct {
	forget  float64 // on the forget set
	heldOut float64 // on held-out records
	// expected is the held-out accuracy with classes weighted as in the forget set: the
	// expected accuracy there of a model that never saw the forget set.
	expected float64
}

// measureAccuracies returns a model's accuracies, with dropout off.
func (r Request) measureAccuracies(p nn.Params) (accuracySet, error) {
	forget, _, err := r.accuracy(p, r.Forget)
	if err != nil {
		return accuracySet{}, err
	}
	heldOut, ofClass, err := r.accuracy(p, r.HeldOut)
	if err != nil {
		return accuracySet{}, err
	}
	j := accuracySet{forget: forget, heldOut: heldOut}
	counted := 0
	for _, y := range r.Forget.Y {
		if share, some := ofClass[y]; some {
			j.expected += share
			counted++
		}
	}
	if counted == 0 {
		return accuracySet{}, errors.New("no held-out record is of a class that is to be forgotten")
	}
	j.expected /= float64(counted)
	return j, nil
}

// accuracy returns the accuracy on all records and on each class's.
func (r Request) accuracy(p nn.Params, d Data) (all float64, ofClass map[int]float64, err error) {
	out, err := r.Runner.Predict(p, d.X)
	if err != nil {
		return 0, nil, err
	}
	rows := map[int][]int{}
	for i, y := range d.Y {
		rows[y] = append(rows[y], i)
	}
	ofClass = map[int]float64{}
	for y, of := range rows {
		same := make([]int, len(of))
		for i := range same {
			same[i] = y
		}
		ofClass[y] = train.Accuracy(out.Logits().Gather(of), same)
	}
	return train.Accuracy(out.Logits(), d.Y), ofClass, nil
}
