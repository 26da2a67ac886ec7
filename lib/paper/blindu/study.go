package blindu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Study is what one scale computes.
type Study struct {
	Scale string
	Cases []Case
	Seeds int // models per arm, with seeds 0, 1, ...
}

// Case is a data set and the records of it that are to be forgotten.
type Case struct {
	Label string
	lab.Setting
	LR   float64 // Adam's, in the case's trainings and its methods
	Eta  float64 // HBFU's, 0: its own
	Rate float64 // share of a record's features that is drawn to be in clear, 0: 0.6
	// Users are those of the methods of a federation.
	Users unlearn.Users
	// Known and Victims are how many records an attacker on uploads has, and sees the
	// uploads of, at most.
	Known, Victims int
	// Gradient is the tensor by which the gradients are that a user may upload, "": the
	// weights of the compressor's last layer.
	Gradient string
	At       float64 // its place in a sweep
	Network  string  // where it is not the case's own
	// Only are the arms that are looked at; nil: all.
	Only []string
}

// StudyAt is the study of the scale of that name.
func StudyAt(scale string) (Study, error) {
	switch scale {
	case "quick":
		return Study{Scale: scale, Seeds: 3, Cases: bothRequests(glyphs())}, nil
	case "hour":
		c := mnist()
		c.Label, c.MaxRows = "12,000 images of MNIST", 12_000
		return Study{Scale: scale, Seeds: 3, Cases: bothRequests(c)}, nil
	case "photographs":
		return Study{Scale: scale, Seeds: 3, Cases: bothRequests(cifar10First4000())}, nil
	case "copies":
		return Study{Scale: scale, Seeds: 3, Cases: bothRequests(cifar10Lossy3000())}, nil
	case "standard":
		return Study{Scale: scale, Seeds: 3, Cases: append(bothRequests(mnist()), bothRequests(adult())...)}, nil
	case "paper":
		return Study{Scale: scale, Seeds: 5, Cases: append(bothRequests(mnist()), bothRequests(adult())...)}, nil
	case "lossy":
		return Study{Scale: scale, Seeds: 5, Cases: bothRequests(cifar10Lossy())}, nil
	case "collections":
		return Study{Scale: scale, Seeds: 5, Cases: slices.Concat(bothRequests(cifar10()), bothRequests(cifar100()), bothRequests(tinyImageNet()))}, nil
	}
	return Study{}, fmt.Errorf("scale %q is not one of %s", scale, strings.Join(scaleNames(), ", "))
}

// scaleNames are those of all scales.
func scaleNames() (names []string) {
	for _, s := range scales() {
		names = append(names, s.Name)
	}
	return names
}

// bothRequests are the paper's two requests: the records of a backdoor are to be forgotten, and
// as many that nothing was done to.
func bothRequests(c Case) []Case {
	normal := c
	c.Label += ", backdoor"
	normal.Label += ", normal"
	normal.Backdoor, normal.Fraction = nil, 0.06
	return []Case{c, normal}
}

// CaseOf is the case on a data set, with a backdoor: "glyphs", "mnist" or "adult".
func CaseOf(dataSet string) (Case, error) {
	for _, c := range []Case{glyphs(), mnist(), adult()} {
		if c.DataSet == dataSet {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("data set %q is none of glyphs, mnist and adult", dataSet)
}

// WithShare is the case with another share to forget and another beta.
func (c Case) WithShare(share, beta float64) Case {
	byShare.vary(&c, share)
	byBeta.vary(&c, beta)
	return c
}

// mnist is the paper's main case, with the program's network.
func mnist() Case {
	return Case{Label: "MNIST", LR: 1e-3, Known: 3600, Victims: 1000, Users: unlearn.Users{LocalEpochs: 2}, Setting: lab.Setting{
		DataSet: "mnist", Pixels: true, Goal: lab.Compression{}, Backdoor: &lab.Backdoor{},
		Fit:  train.Config{Epochs: 20, Batch: 20, Clip: 1},
		Arch: bottleneck(nil, 0, nil),
	}}
}

// bottleneck builds a bottleneck out of its halves; nil and 0 are the program's of MNIST.
func bottleneck(compressor ib.SubNetwork, latent int, approximator ib.SubNetwork) func(features, classes int) model.Architecture {
	return func(features, classes int) model.Architecture {
		return ib.Bottleneck{Features: features, Outputs: classes, Latent: latent, Compressor: compressor, Approximator: approximator}
	}
}

// adult is the table of the paper. The program trains five epochs without the backdoor
// and five with it; here are ten with it.
func adult() Case {
	return Case{Label: "Adult", LR: 1e-3, Eta: 2e-5, Known: 2000, Victims: 1000, Users: unlearn.Users{LocalEpochs: 2}, Setting: lab.Setting{
		DataSet: "adult", Goal: lab.Compression{},
		Backdoor: &lab.Backdoor{Source: ">50K", Target: "<=50K", Column: "education-num", Value: 2},
		Fit:      train.Config{Epochs: 10, Batch: 20, Clip: 5},
		Arch:     bottleneck(nil, 9, nil),
	}}
}

// glyphs is a case that needs no file, in a narrow network. Its users have few records,
// which need small batches for as many steps as a training takes.
func glyphs() Case {
	half := ib.MLP{Hidden: 48}
	return Case{Label: "glyphs", LR: 1e-3, Known: 400, Victims: 180, Users: unlearn.Users{LocalEpochs: 5, Batch: 20}, Setting: lab.Setting{
		DataSet: "glyphs", Pixels: true, Goal: lab.Compression{}, Backdoor: &lab.Backdoor{},
		Fit:  train.Config{Epochs: 20, Batch: 20, Clip: 1},
		Arch: bottleneck(half, 16, half),
	}}
}

// coordinates name what sets a case apart from others on the same data.
func (c Case) coordinates() string {
	name := fmt.Sprintf("%s/beta-%g", c.ForgetSetName(), c.beta())
	if c.Rate != 0 {
		name += fmt.Sprintf("/rate-%g", c.Rate)
	}
	if c.Network != "" {
		name += "/" + strings.ReplaceAll(c.Network, " ", "-")
	}
	if c.Only != nil {
		name += fmt.Sprintf("/arms-%d", len(c.Only))
	}
	return name
}

// beta and rate are those in force.
func (c Case) beta() float64 {
	g, _ := c.Goal.(lab.Compression)
	return g.WithDefaults().(lab.Compression).Beta
}

func (c Case) rate() float64 { return c.masking(false).WithDefaults().Rate }

// masking is what an owner masks records by. A position of a photograph is masked in all
// of its channels, or in none.
func (c Case) masking(replacement bool) privacy.Masking {
	return privacy.Masking{Rate: c.Rate, Replacement: replacement, Channels: c.channels()}
}

// channels are those of the case's images, 1 where it has none.
func (c Case) channels() int {
	if info, err := images.Lookup(c.DataSet); err == nil {
		return info.Shape[0]
	}
	return 1
}

// SettingAt is the setting of a case with a seed, for other tables.
func (c Case) SettingAt(seed int) lab.Setting { return c.setting(seed) }

// setting are the coordinates of a case with a seed.
func (c Case) setting(seed int) lab.Setting {
	s := c.Setting
	s.Seed, s.Fit.Optimizer = seed, nn.Adam{LR: c.LR}
	return s
}
