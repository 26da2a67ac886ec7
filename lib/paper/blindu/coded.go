package blindu

import (
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// This file has what the published program does: its methods with its numbers on the data
// set of a case. Drawings, and photographs of other sets, have those of MNIST and CIFAR-10.

// codedVBU is the program's VBU, which is plain ascent.
func (c Case) codedVBU() unlearn.VBU {
	m := unlearn.VBU{LR: c.LR, Divergence: nn.Zero, Stop: &unlearn.Stop{Batch: 0.02, Epoch: 0.1}}
	switch c.program() {
	case adults:
		m.Epochs = 15
	case photos:
		m.Stop = &unlearn.Stop{Batch: 0.05, Epoch: 0.08}
	}
	return m
}

// codedBlindU is the program's BlindU_w/o: its sampler too, which draws the pixels of an image
// by their brightness and the columns of a table uniformly.
func (c Case) codedBlindU() unlearn.BlindU {
	mask := c.masking(false)
	mask.Rate = 0.601
	if c.Pixels {
		mask.Weighting = privacy.Exponential
	}
	m := unlearn.BlindU{LR: c.LR, Masking: mask, Rate: 4, Coded: &unlearn.Coded{Stop: unlearn.Stop{Epoch: 0.05, Times: 2}}}
	switch c.program() {
	case adults:
		m.Auxiliary, m.Rate, m.Epochs = unlearn.Retained, 1, 15
		m.Coded = &unlearn.Coded{Stop: unlearn.Stop{Batch: 0.02, Epoch: 0.1}, Kept: 5}
	case photos:
		m.Auxiliary = unlearn.Retained
		m.Coded = &unlearn.Coded{Stop: unlearn.Stop{Batch: 0.05, Epoch: 0.08}}
	}
	return m
}

// codedHBFU is HBFU-ascent with the program's numbers. Each of the three who ask meets in a
// round the 1,200 records that the program erases, which are a third of ours, and the next
// third in the next round; of a user who erases alone it is a fifth of what they have, as there.
// Everybody else goes ten times through what they have.
func (c Case) codedHBFU() unlearn.HBFU {
	m := unlearn.HBFU{Users: c.Users, LR: c.LR, Eta: c.Eta, Stop: &unlearn.Stop{Batch: 0.02}}
	m.LocalEpochs, m.Portion = 10, 1.0/3
	if c.Shards != nil {
		m.Portion = 0.2
	}
	switch c.program() {
	case adults:
		m.Batch, m.ErasingEpochs, m.Stop = 20, 50, &unlearn.Stop{Batch: 0.2, Epoch: 0.1, Times: 8}
	case photos:
		m.ErasingEpochs, m.Stop = 50, &unlearn.Stop{Batch: 0.02, Epoch: 0.1, Times: 2}
	}
	return m
}

// weightedVariants are the rows whose features are drawn by the program's weights, where records are
// images: what the paper names without and with replacement.
func (c Case) weightedVariants() (out []lab.Variant) {
	if !c.Pixels {
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

// programs are the program's scripts: one for digits, for photographs and for Adult.
type programs int

const (
	digits programs = iota
	photos
	adults
)

// program is the script that the case's data set is for, or the nearest.
func (c Case) program() programs {
	switch c.publishedDataSet() {
	case "adult":
		return adults
	case "cifar10", "cifar100", "tiny_imagenet":
		return photos
	}
	return digits
}
