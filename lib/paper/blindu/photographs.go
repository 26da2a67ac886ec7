package blindu

import (
	"strings"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// This file has the cases on photographs.

// resNetLatent is the number of variables of a photograph's code, 3 x 7 x 7.
const resNetLatent = 147

// cifar10 is the paper's first case in colour, with the program's networks: codes that
// are images themselves, between two ResNets.
//
// Differences from the program: (1) A photograph is taken as it is published. The
// program crops every one of them once, 32 x 32 pixels out of the photograph with a
// black border of four, and crops anew for every masked copy, so that the photographs
// masked are not those trained on. (2) Its federations are of models at beta 1e-6, which
// are not those that its BlindU begins with; here everybody begins with the same model.
func cifar10() Case {
	return Case{
		Label: "CIFAR-10", LR: 5e-4, Eta: 5e-5, Known: 3000, Victims: 1000, Users: unlearn.Users{LocalEpochs: 2}, Gradient: normalisation,
		Setting: lab.Setting{
			DataSet: "cifar10", Pixels: true, Goal: lab.Compression{Beta: 1e-2}, Backdoor: &lab.Backdoor{},
			Fit:  train.Config{Epochs: 20, Batch: 100, Clip: 1},
			Arch: bottleneck(ib.ResNet{}, resNetLatent, ib.ResNet{}),
		},
	}
}

// normalisation is a tensor of 128 numbers of a ResNet, two for every channel of its first
// stage. The program's attack on gradients is by one like it: the weights of the last
// layer are 150,528 here.
const normalisation = "compressor.layer2.1.bn2.bias"

// cifar10Lossy is CIFAR-10 where its published bytes cannot be had.
func cifar10Lossy() Case {
	c := cifar10()
	c.Label, c.DataSet = "CIFAR-10, a lossy copy", "cifar10_jpeg"
	return c
}

// narrow is the program's network with a quarter of its channels.
var narrow ib.SubNetwork = ib.ResNet{Width: 16}

// cifar10First4000 are the first 4,000 photographs of CIFAR-10, byte for byte, 1,000 of them drawn to
// judge by, in a network that two cores can train and with what the paper compares: its
// other federations take as long as everything else together. Twenty epochs are 600 steps
// here and 10,000 in the program: look at 'triggered' of the original before anything is
// said to be forgotten.
func cifar10First4000() Case {
	c := cifar10()
	c.Label, c.DataSet, c.MaxRows, c.TestRows = "3,000 images of CIFAR-10", "cifar10_first4000", 3000, 1000
	c.Arch = bottleneck(narrow, resNetLatent, narrow)
	c.Only = []string{Original, Retrained, Auxiliary, VBU, VBUCoded, HBFU, WithReplacement, WithoutReplacement, Compressed, Coded, OnTheRetains}
	return c
}

// cifar10Lossy3000 are as many photographs of the lossy copy, and otherwise the same: what the loss
// does to a table is seen by laying the two beside each other, and what more of them would
// cost is known.
func cifar10Lossy3000() Case {
	c := cifar10First4000()
	c.Label, c.DataSet = "3,000 images of CIFAR-10, a lossy copy", cifar10Lossy().DataSet
	return c
}

// cifar100 has the program's network: a code of 512 variables before an MLP. A class has
// 500 of the 50,000 photographs of the train part, so that no backdoor can be in 6 % of
// them; it is in 60 % of its class, as CIFAR-10's is.
func cifar100() Case {
	c := cifar10()
	c.Label, c.DataSet, c.Backdoor = "CIFAR-100", "cifar100", &lab.Backdoor{Fraction: 0.006}
	c.Arch = bottleneck(ib.ResNet{}, 512, ib.MLP{})
	return c
}

// tinyImageNet has photographs of 64 x 64 pixels, in batches of 200. The paper has two
// ResNets and there is no program: they are those of CIFAR-10. The backdoor is in 60 % of
// its class, which has 500 of 100,000 photographs.
func tinyImageNet() Case {
	c := cifar10()
	c.Label, c.DataSet, c.Backdoor = "Tiny-ImageNet", "tiny_imagenet", &lab.Backdoor{Fraction: 0.003}
	c.Goal, c.Fit.Batch = lab.Compression{Beta: 1e-4}, 200
	return c
}

// publishedDataSet is the data set of which a case's is a part or a copy.
func (c Case) publishedDataSet() string {
	if strings.HasPrefix(c.DataSet, "cifar10_") {
		return "cifar10"
	}
	return c.DataSet
}
