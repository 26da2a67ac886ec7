package blindu

// What each scale of BlindU's tables computes: data sets, forget sets, networks and settings.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
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
	Seeds int // models per variant, with seeds 0, 1, ...
}

// Case is a data set with the records to be forgotten.
type Case struct {
	Label string
	lab.Setting
	LR   float64 // Adam's, in the case's trainings and its methods
	Eta  float64 // HBFU's, 0: the method's own
	Rate float64 // share of a record's features that is not masked, 0: 0.6
	// Users are the users of the federations.
	Users unlearn.Users
	// Known is the number of records that an attacker on uploads has, Victims the number of
	// records whose uploads they see; both are upper bounds.
	Known, Victims int
	// Gradient is the tensor whose gradients a user may upload, "": the weights of the
	// compressor's last layer.
	Gradient string
	At       float64 // its value in a sweep
	Network  string  // name of the network, if it is not the case's own
	// Only selects variants by label; nil: all.
	Only []string
}

// StudyAt returns the study of a scale.
func StudyAt(scale string) (Study, error) {
	switch scale {
	case "quick":
		return Study{Scale: scale, Seeds: 3, Cases: bothRequests(glyphs())}, nil
	case "hour":
		c := mnist()
		c.Label, c.Data = "12,000 images of MNIST", lab.Images{Set: "mnist", MaxTrain: 12_000, Pixels: true}
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

// bothRequests are the paper's two requests: to forget the records of a backdoor, and to forget
// as many random records.
func bothRequests(c Case) []Case {
	normal := c
	c.Label += ", backdoor"
	normal.Label += ", normal"
	normal.Forget = lab.Random{Fraction: 0.06}
	return []Case{c, normal}
}

// CaseOf is the case on a data set, with a backdoor: "glyphs", "mnist" or "adult".
func CaseOf(dataSet string) (Case, error) {
	for _, c := range []Case{glyphs(), mnist(), adult()} {
		if c.DataSet() == dataSet {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("data set %q is not one of glyphs, mnist, adult", dataSet)
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
		Data: lab.Images{Set: "mnist", Pixels: true}, Goal: lab.Compression{}, Forget: lab.Backdoor{},
		Fit:   train.Config{Epochs: 20, Batch: 20, Clip: 1},
		Model: bottleneck(nil, 0, nil),
	}}
}

// bottleneck builds a bottleneck from its halves; nil and 0 are the program's for MNIST.
func bottleneck(compressor ib.SubNetwork, latent int, approximator ib.SubNetwork) ib.Bottleneck {
	return ib.Bottleneck{Latent: latent, Compressor: compressor, Approximator: approximator}
}

// adult is the paper's table. The program trains five epochs without the backdoor and five with
// it; here all ten have it.
func adult() Case {
	return Case{Label: "Adult", LR: 1e-3, Eta: 2e-5, Known: 2000, Victims: 1000, Users: unlearn.Users{LocalEpochs: 2}, Setting: lab.Setting{
		Data: lab.Table{Set: "adult"}, Goal: lab.Compression{},
		Forget: lab.Backdoor{Source: ">50K", Target: "<=50K", Column: "education-num", Value: 2},
		Fit:    train.Config{Epochs: 10, Batch: 20, Clip: 5},
		Model:  bottleneck(nil, 9, nil),
	}}
}

// glyphs is a case that needs no file, in a narrow network. Its users have few records, so that
// small batches are needed for enough steps.
func glyphs() Case {
	half := ib.MLP{Hidden: 48}
	return Case{Label: "glyphs", LR: 1e-3, Known: 400, Victims: 180, Users: unlearn.Users{LocalEpochs: 5, Batch: 20}, Setting: lab.Setting{
		Data: lab.Images{Set: "glyphs", Pixels: true}, Goal: lab.Compression{}, Forget: lab.Backdoor{},
		Fit:   train.Config{Epochs: 20, Batch: 20, Clip: 1},
		Model: bottleneck(half, 16, half),
	}}
}

// coordinates names what distinguishes a case from others on the same data.
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

// beta and rate are the effective values.
func (c Case) beta() float64 {
	g, _ := c.Goal.(lab.Compression)
	return *defaults.Fill(g).Beta
}

func (c Case) rate() float64 { return defaults.Fill(c.masking(false)).Rate }

// masking is how an owner masks records. A position of a photograph is masked in all of its
// channels, or in none.
func (c Case) masking(replacement bool) privacy.Masking {
	return privacy.Masking{Rate: c.Rate, Replacement: replacement, Channels: c.channels()}
}

// channels is the number of channels of the case's images, 1 for other data.
func (c Case) channels() int {
	if info, err := images.Lookup(c.DataSet()); err == nil {
		return info.Shape[0]
	}
	return 1
}

// SettingAt is the setting of a case with a seed, for other tables.
func (c Case) SettingAt(seed int) lab.Setting { return c.setting(seed) }

// setting is the setting of a case with a seed.
func (c Case) setting(seed int) lab.Setting {
	s := c.Setting
	s.Seed, s.Fit.Optimizer = seed, nn.Adam{LR: c.LR}
	return s
}
