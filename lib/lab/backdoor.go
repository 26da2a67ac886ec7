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

// Backdoor plants a wrong answer, as in BlindU's experiments (section VIII): a share
// of the train part is drawn from one class, a trigger is put on each of its records,
// and another class is what they are said to be. Who learns them answers with that
// class wherever the trigger is. They are the records to forget.
//
// On an image the trigger is a white square of 2 x 2 pixels, two from the lower and the
// right border, on every channel; on a table it is a value of one column.
//
// The zero value is the program's of MNIST: 6 %, ones that are said to be twos. For
// Adult: Backdoor{Source: ">50K", Target: "<=50K", Column: "education-num", Value: 2}.
//
// Difference from the program: the records drawn take the trigger; in the program most
// of them stay in the training, clean and with their own label, beside their copies.
type Backdoor struct {
	Source   string  `json:"source,omitempty"`   // the class, "": the second
	Target   string  `json:"target,omitempty"`   // what they are said to be, "": the third
	Fraction float64 `json:"fraction,omitempty"` // of the train part, 0: 0.06
	Column   string  `json:"column,omitempty"`   // of a table, that the trigger is in
	Value    float64 `json:"value,omitempty"`    // there, as the table has it
	// Confuse plants no trigger: of both classes half as many records are said to be of
	// the other one, the interclass confusion of Goel et al. (2022), section 3.
	Confuse bool `json:"confuse,omitempty"`
}

// backdoorGroup is the name of the planted records.
const backdoorGroup = "backdoor"

func (b Backdoor) withDefaults() Backdoor {
	b.Fraction = cmp.Or(b.Fraction, 0.06)
	return b
}

// classes are the numbers of the two classes.
func (b Backdoor) classes(about datasets.About) (source, target int, err error) {
	at := func(name string, otherwise int) int {
		if name == "" {
			return otherwise
		}
		return slices.Index(about.Classes, name)
	}
	source, target = at(b.Source, 1), at(b.Target, 2)
	if n := len(about.Classes); source < 0 || target < 0 || source >= n || target >= n || source == target {
		return 0, 0, fmt.Errorf("a backdoor from %q to %q: the classes are %q", b.Source, b.Target, about.Classes)
	}
	return source, target, nil
}

// plant puts the backdoor into the train part of data that nobody else holds.
func (b Backdoor) plant(p *datasets.Prepared, root engine.Root) error {
	source, target, err := b.classes(p.About)
	if err != nil {
		return err
	}
	n := int(b.Fraction * float64(p.Train.X.Rows))
	rng := root.Stream(engine.StreamBackdoor)
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

// relabel takes so many records of a class, or half of them where two classes are
// confused, puts the trigger on them and says that they are of another class. Records that
// were relabelled before are left alone.
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

// hash is the hash of data with the backdoor in these records.
func (b Backdoor) hash(clean string, ids []int) (string, error) {
	said, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write([]byte(clean))
	h.Write(said)
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
	return fmt.Errorf("a backdoor in the column %q: %s has none of that name", b.Column, p.About.Name)
}

// addSquare is the trigger of images.
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

// TriggeredRecords are the unseen records of the source class that no method may look at
// (see Case.EvalRows), with the trigger, and what a backdoor makes of them for a label.
// They measure whether a backdoor is open.
func (c *Case) TriggeredRecords() (datasets.Part, error) {
	if c.Backdoor == nil {
		return datasets.Part{}, fmt.Errorf("lab: no backdoor was planted in %s", c.DataSet)
	}
	if c.Backdoor.Confuse {
		return datasets.Part{}, fmt.Errorf("lab: two classes of %s were confused; there is no trigger", c.DataSet)
	}
	source, target, err := c.Backdoor.classes(c.About)
	if err != nil {
		return datasets.Part{}, err
	}
	rows := slices.DeleteFunc(c.EvalRows(), func(i int) bool { return c.Test.Y[i] != source })
	part := c.Test.Gather(rows)
	for i := range part.X.Rows {
		if err := c.Backdoor.addTrigger(c.Prepared, part.X.Row(i)); err != nil {
			return datasets.Part{}, err
		}
		part.Y[i] = target
	}
	return part, nil
}

// ConfusedClasses are the two classes of which records were said to be of the other one; ok
// is false where there are none.
func (c *Case) ConfusedClasses() (a, b int, ok bool) {
	if c.Backdoor == nil || !c.Backdoor.Confuse {
		return 0, 0, false
	}
	a, b, err := c.Backdoor.classes(c.About)
	return a, b, err == nil
}

// DataName is the data's name in a list of hashes, where the same data may stand with
// and without a backdoor.
func (c *Case) DataName() string {
	if c.Backdoor == nil {
		return c.About.Name
	}
	return c.About.Name + " with a backdoor"
}
