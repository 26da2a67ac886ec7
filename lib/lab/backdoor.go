// Planting a backdoor in the train part.

package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Backdoor plants a backdoor in the train part, as in BlindU's experiments (section VIII).
// A share of the train part is drawn from one class, a trigger is put on each of these
// records, and they are relabelled as another class. A model that learns them predicts that
// class wherever it sees the trigger. These records are the forget set.
//
// On an image the trigger is a white square of 2 x 2 pixels on every channel, two pixels
// from the lower and the right border. On a table it is a value of one column.
//
// The zero value is the setting of BlindU's program for MNIST: 6 %, ones relabelled as
// twos. For Adult: Backdoor{Source: ">50K", Target: "<=50K", Column: "education-num",
// Value: 2}.
//
// Difference from the program: here the drawn records get the trigger themselves. In the
// program most of them also stay in the training set, clean and with their own label.
type Backdoor struct {
	Source   string  `json:"source,omitempty"`   // the class, "": the second
	Target   string  `json:"target,omitempty"`   // the label that they get, "": the third
	Fraction float64 `json:"fraction,omitempty"` // of the train part, 0: 0.06
	Column   string  `json:"column,omitempty"`   // the column of a table that has the trigger
	Value    float64 `json:"value,omitempty"`    // the trigger's value, in the table's own units
	// Confuse plants no trigger. Instead, half as many records of each class are relabelled
	// as the other class: the interclass confusion of Goel et al. (2022), section 3.
	Confuse bool `json:"confuse,omitempty"`
	// Seed draws the records, 0: ForgetSeed. Keys hold the records themselves.
	Seed uint32 `json:"-"`
}

// backdoorGroup is the name of the group of planted records.
const backdoorGroup = "backdoor"

func (b Backdoor) withDefaults() Backdoor {
	b.Fraction, b.Seed = cmp.Or(b.Fraction, 0.06), cmp.Or(b.Seed, ForgetSeed)
	return b
}

// Name implements ForgetSet.
func (b Backdoor) Name() string {
	b = b.withDefaults()
	return fmt.Sprintf("%s-%g-%d", backdoorGroup, b.Fraction, b.Seed)
}

// Rows implements ForgetSet: the rows of the planted records.
func (b Backdoor) Rows(p *datasets.Prepared) ([]int, error) { return Planted(backdoorGroup).Rows(p) }

// Reseed implements SeededForgetSet.
func (b Backdoor) Reseed(shift int) ForgetSet {
	b = b.withDefaults()
	b.Seed += uint32(shift)
	return b
}

// classes returns the numbers of the source and the target class.
func (b Backdoor) classes(about datasets.About) (source, target int, err error) {
	at := func(name string, otherwise int) int {
		if name == "" {
			return otherwise
		}
		return slices.Index(about.Classes, name)
	}
	source, target = at(b.Source, 1), at(b.Target, 2)
	if n := len(about.Classes); source < 0 || target < 0 || source >= n || target >= n || source == target {
		return 0, 0, fmt.Errorf("a backdoor from class %q to %q: the classes are %q", b.Source, b.Target, about.Classes)
	}
	return source, target, nil
}

// plant puts the backdoor into the train part of p, which it changes in place.
func (b Backdoor) plant(p *datasets.Prepared) error {
	b = b.withDefaults()
	source, target, err := b.classes(p.About)
	if err != nil {
		return err
	}
	n := int(b.Fraction * float64(p.Train.X.Rows))
	rng := seedRoot(b.Seed).Stream(engine.StreamBackdoor)
	ids, err := b.relabel(p, rng, [2]int{source, target}, n)
	if err == nil && b.Confuse {
		var others []int
		others, err = b.relabel(p, rng, [2]int{target, source}, n, ids...)
		ids = append(ids, others...)
	}
	if err != nil {
		return err
	}
	slices.Sort(ids)
	planted := map[string][]int{backdoorGroup: ids}
	for name, group := range p.About.Planted {
		planted[name] = group
	}
	p.About.Planted = planted
	p.Hash, err = b.hash(p.Hash, ids)
	return err
}

// relabel draws n records of the source class, or half as many of each class with Confuse,
// adds the trigger and sets the target label. Records relabelled before are left alone.
func (b Backdoor) relabel(p *datasets.Prepared, rng *rand.Rand, classes [2]int, n int, before ...int) (ids []int, err error) {
	if b.Confuse {
		n /= 2
	}
	var pool []int
	for i, y := range p.Train.Y {
		if y == classes[0] && !slices.Contains(before, p.Train.IDs[i]) {
			pool = append(pool, i)
		}
	}
	if !(b.Fraction > 0) || n < 1 || n > len(pool) {
		return nil, fmt.Errorf("a backdoor in %d of %d records: %d are of the class %q", n, p.Train.X.Rows, len(pool), p.About.Classes[classes[0]])
	}
	for _, i := range rng.Perm(len(pool))[:n] {
		row := pool[i]
		if !b.Confuse {
			if err := b.addTrigger(p, p.Train.X.Row(row)); err != nil {
				return nil, err
			}
		}
		p.Train.Y[row] = classes[1]
		ids = append(ids, p.Train.IDs[row])
	}
	return ids, nil
}

// hash returns the hash of data that have the backdoor in the records ids.
func (b Backdoor) hash(clean string, ids []int) (string, error) {
	encoded, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write([]byte(clean))
	h.Write(encoded)
	for _, id := range ids {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(id)))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// addTrigger puts the trigger on a prepared record.
func (b Backdoor) addTrigger(p *datasets.Prepared, record []float32) error {
	if shape := p.About.Shape; shape[0] > 0 {
		return b.addSquare(p, record)
	}
	for j, f := range p.About.Features {
		if f.Name == b.Column {
			record[j] = float32((b.Value - p.Norm.Mean[j]) / p.Norm.SD[j])
			return nil
		}
	}
	return fmt.Errorf("a backdoor in the column %q: %s has no such column", b.Column, p.About.Name)
}

// addSquare puts the trigger on an image.
func (b Backdoor) addSquare(p *datasets.Prepared, record []float32) error {
	const size, margin = 2, 2
	channels, height, width := p.About.Shape[0], p.About.Shape[1], p.About.Shape[2]
	if b.Column != "" {
		return fmt.Errorf("a backdoor in the column %q of images", b.Column)
	}
	if height < size+margin || width < size+margin {
		return fmt.Errorf("a backdoor on images of %d x %d pixels", height, width)
	}
	for c := range channels {
		white := float32((1 - p.Norm.Mean[c]) / p.Norm.SD[c])
		for y := height - margin - size; y < height-margin; y++ {
			for x := width - margin - size; x < width-margin; x++ {
				record[(c*height+y)*width+x] = white
			}
		}
	}
	return nil
}

// Backdoor returns the backdoor that is to be forgotten, nil if it is another forget set.
func (s Setting) Backdoor() *Backdoor {
	if b, is := s.Forget.(Backdoor); is {
		return &b
	}
	return nil
}

// TriggeredRecords returns the records of the source class among the rows that no method
// may see (EvalRows), with the trigger and the target label. They measure whether a model
// still has the backdoor.
func (c *Case) TriggeredRecords() (datasets.Part, error) {
	if c.Backdoor() == nil {
		return datasets.Part{}, fmt.Errorf("lab: no backdoor was planted in %s", c.DataSet())
	}
	if c.Backdoor().Confuse {
		return datasets.Part{}, fmt.Errorf("lab: two classes of %s were confused; there is no trigger", c.DataSet())
	}
	source, target, err := c.Backdoor().classes(c.About)
	if err != nil {
		return datasets.Part{}, err
	}
	rows := slices.DeleteFunc(c.EvalRows(), func(i int) bool { return c.Test.Y[i] != source })
	part := c.Test.Gather(rows)
	for i := range part.X.Rows {
		if err := c.Backdoor().addTrigger(c.Prepared, part.X.Row(i)); err != nil {
			return datasets.Part{}, err
		}
		part.Y[i] = target
	}
	return part, nil
}

// ConfusedClasses returns the two classes whose records were relabelled as each other; ok
// is false where there are none.
func (c *Case) ConfusedClasses() (a, b int, ok bool) {
	if c.Backdoor() == nil || !c.Backdoor().Confuse {
		return 0, 0, false
	}
	a, b, err := c.Backdoor().classes(c.About)
	return a, b, err == nil
}

// DataName returns the name of the data in a list of hashes, where the same data may stand
// with and without a backdoor.
func (c *Case) DataName() string {
	if c.Backdoor() == nil {
		return c.About.Name
	}
	return c.About.Name + " with a backdoor"
}
