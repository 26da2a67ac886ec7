package blindu

// The published program: its methods with its settings on the data set of a case. Glyphs use
// those of MNIST, other photographs those of CIFAR-10.

import (
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// codedVBU is the program's VBU, which is plain gradient ascent.
func (c Case) codedVBU() unlearn.VBU {
	m := unlearn.VBU{LR: c.LR, Divergence: new(0.0), Stop: &unlearn.Stop{Batch: 0.02, Epoch: 0.1}}
	switch c.program() {
	case adults:
		m.Epochs = 15
	case photos:
		m.Stop = &unlearn.Stop{Batch: 0.05, Epoch: 0.08}
	}
	return m
}

// codedBlindU is the program's BlindU_w/o, with its sampler, which draws the pixels of an image
// by their brightness and the columns of a table uniformly.
func (c Case) codedBlindU() unlearn.BlindU {
	mask := c.masking(false)
	mask.Rate = 0.601
	if c.HasPixels() {
		mask.Weighting = privacy.Exponential
	}
	m := unlearn.BlindU{LR: c.LR, Masking: mask, Rate: new(4.0), Coded: &unlearn.Coded{Stop: unlearn.Stop{Epoch: 0.05, Times: 2}}}
	switch c.program() {
	case adults:
		m.Auxiliary, m.Rate, m.Epochs = unlearn.Retained, new(1.0), 15
		m.Coded = &unlearn.Coded{Stop: unlearn.Stop{Batch: 0.02, Epoch: 0.1}, Kept: 5}
	case photos:
		m.Auxiliary = unlearn.Retained
		m.Coded = &unlearn.Coded{Stop: unlearn.Stop{Batch: 0.05, Epoch: 0.08}}
	}
	return m
}

// codedHBFU is HBFU-ascent with the program's settings. In a round each of the three requesting
// users processes a third of the records to be forgotten, and in the next round the next third:
// of MNIST 1,200, as many as the program erases. If one user alone erases, it is the share of
// their records that the program erases, a fifth on images and a third on Adult. All other users
// make ten passes over their records.
func (c Case) codedHBFU() unlearn.HBFU {
	m := unlearn.HBFU{Users: c.Users, LR: c.LR, Eta: c.Eta, Stop: &unlearn.Stop{Batch: 0.02}}
	m.LocalEpochs, m.Portion = 10, 1.0/3
	if c.User() != nil && c.program() != adults {
		m.Portion = 0.2
	}
	switch c.program() {
	case adults: // BackdoorFedAvg2_temp.py, lines 1758, 1838, 1851 and 2491
		m.Batch, m.Rounds, m.ErasingEpochs, m.Stop = 20, 25, 30, &unlearn.Stop{Batch: 0.02, Epoch: 0.1, Times: 8}
	case photos:
		m.ErasingEpochs, m.Stop = 50, &unlearn.Stop{Batch: 0.02, Epoch: 0.1, Times: 2}
	}
	return m
}

// weightedVariants are the rows whose features are drawn by the program's weights, for images:
// without and with replacement.
func (c Case) weightedVariants() (out []lab.Variant) {
	if !c.HasPixels() {
		return nil
	}
	for _, with := range []bool{true, false} {
		label, mask := WithoutWeighted, c.masking(with)
		if mask.Weighting = privacy.Exponential; with {
			label = WithWeighted
		}
		out = append(out, lab.Variant{Label: label, Method: unlearn.BlindU{LR: c.LR, Masking: mask}})
	}
	return out
}

// programs are the program's scripts: for digits, photographs and Adult.
type programs int

const (
	digits programs = iota
	photos
	adults
)

// program is the script for the case's data set, or the closest one.
func (c Case) program() programs {
	switch c.publishedDataSet() {
	case "adult":
		return adults
	case "cifar10", "cifar100", "tiny_imagenet":
		return photos
	}
	return digits
}
