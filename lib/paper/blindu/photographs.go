package blindu

// The cases on photographs.

import (
	"strings"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// resNetLatent is the number of variables of a photograph's code, 3 x 7 x 7.
const resNetLatent = 147

// cifar10 is the paper's first case in colour, with the program's networks: codes that are
// images themselves, between two ResNets.
//
// Differences from the program: (1) Photographs are used as published. The program crops every
// photograph once, 32 x 32 pixels of the photograph with a black border of four, and crops anew
// for every masked copy, so that the masked photographs are not those trained on. (2) Its
// federations have models at beta 1e-6, other than those that its BlindU starts from; here all
// methods start from the same model.
func cifar10() Case {
	return Case{
		Label: "CIFAR-10", LR: 5e-4, Eta: 5e-5, Known: 3000, Victims: 1000, Users: unlearn.Users{LocalEpochs: 2}, Gradient: normalisation,
		Setting: lab.Setting{
			Data: lab.Images{Set: "cifar10", Pixels: true}, Goal: lab.Compression{Beta: new(1e-2)}, Forget: lab.Backdoor{},
			Fit:   train.Config{Epochs: 20, Batch: 100, Clip: 1},
			Model: bottleneck(ib.ResNet{}, resNetLatent, ib.ResNet{}),
		},
	}
}

// normalisation is a tensor of 128 numbers of a ResNet, two for every channel of its first
// stage. The program's attack on gradients uses a similar one; the weights of the last layer
// would be 150,528 numbers here.
const normalisation = "compressor.layer2.1.bn2.bias"

// cifar10Lossy is CIFAR-10 as JPEG files, for machines without the published bytes.
func cifar10Lossy() Case {
	c := cifar10()
	c.Label, c.Data = "CIFAR-10, a lossy copy", lab.Images{Set: "cifar10_jpeg", Pixels: true}
	return c
}

// narrow is the program's network with a quarter of its channels.
var narrow ib.SubNetwork = ib.ResNet{Width: 16}

// cifar10First4000 are the first 4,000 photographs of CIFAR-10, byte for byte, 1,000 random ones
// of them for testing, in a network that two cores can train, with the methods that the paper
// compares but without the other federations, which take as long as everything else together.
// Twenty epochs are 600 steps here and 10,000 in the program, so check 'triggered' of the
// original before judging how well something was forgotten.
func cifar10First4000() Case {
	c := cifar10()
	c.Label, c.Data = "3,000 images of CIFAR-10", lab.Images{Set: "cifar10_first4000", MaxTrain: 3000, MaxTest: 1000, Pixels: true}
	c.Model = bottleneck(narrow, resNetLatent, narrow)
	c.Only = []string{Original, Retrained, Auxiliary, VBU, VBUCoded, HBFU, WithReplacement, WithoutReplacement, Compressed, Coded, OnTheRetains}
	return c
}

// cifar10Lossy3000 are as many photographs of the lossy copy with the same settings, to show the
// effect of the compression.
func cifar10Lossy3000() Case {
	c := cifar10First4000()
	c.Label, c.Data = "3,000 images of CIFAR-10, a lossy copy", lab.Images{Set: cifar10Lossy().DataSet(), MaxTrain: 3000, MaxTest: 1000, Pixels: true}
	return c
}

// cifar100 has the program's network: a code of 512 variables before an MLP. A class has 500 of
// the 50,000 training photographs, so that a backdoor cannot be in 6 % of all; it is in 60 % of
// its class, like CIFAR-10's.
func cifar100() Case {
	c := cifar10()
	c.Label, c.Data, c.Forget = "CIFAR-100", lab.Images{Set: "cifar100", Pixels: true}, lab.Backdoor{Fraction: 0.006}
	c.Model = bottleneck(ib.ResNet{}, 512, ib.MLP{})
	return c
}

// tinyImageNet has photographs of 64 x 64 pixels, in batches of 200. The paper uses two ResNets
// and publishes no program; these are CIFAR-10's. The backdoor is in 60 % of its class, which
// has 500 of 100,000 photographs.
func tinyImageNet() Case {
	c := cifar10()
	c.Label, c.Data, c.Forget = "Tiny-ImageNet", lab.Images{Set: "tiny_imagenet", Pixels: true}, lab.Backdoor{Fraction: 0.003}
	c.Goal, c.Fit.Batch = lab.Compression{Beta: new(1e-4)}, 200
	return c
}

// publishedDataSet is the data set that a case's data are a part or copy of.
func (c Case) publishedDataSet() string {
	if strings.HasPrefix(c.DataSet(), "cifar10_") {
		return "cifar10"
	}
	return c.DataSet()
}
