package rulerpaper

// Table 13: images.

import (
	"context"
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// ImageScale is how much of Table 13 a scale computes. The zero value is the published size.
type ImageScale struct {
	Sets        []string // empty: CIFAR-10, SVHN and CIFAR-100, or their stand-ins
	Train, Test int      // images, 0: 8,000 and 2,000
	Width       int      // channels of the first convolution of either network, 0: 32 and 64
	Hidden      int      // width of the three-layer CNN's embedding, 0: 256
	Epochs      int      // 0: 50
}

// imageSets are the paper's data sets of images, each with the set that stands in for it.
var imageSets = [][2]string{{"cifar10", "cifar10_jpeg"}, {"svhn", "fashion_mnist"}, {"cifar100", "mnist"}}

// sets returns the data sets of Table 13. One whose files are missing is replaced by its stand-in, if
// the files of that are there.
func (s ImageScale) sets() (out []string, err error) {
	if len(s.Sets) > 0 {
		return s.Sets, nil
	}
	for _, pair := range imageSets {
		published, err := images.Lookup(pair[0])
		if err != nil {
			return nil, err
		}
		standIn, err := images.Lookup(pair[1])
		if err != nil {
			return nil, err
		}
		if !published.Present() && standIn.Present() {
			out = append(out, pair[1])
		} else {
			out = append(out, pair[0])
		}
	}
	return out, nil
}

// imageNetworks are the networks of Table 13.
func (s ImageScale) networks() []imageNetwork {
	hidden := s.Hidden
	if hidden == 0 {
		hidden = 256
	}
	return []imageNetwork{
		{"three-layer CNN", vision.SmallCNN{Width: s.Width, Hidden: hidden}},
		{"ResNet-18", vision.ResNet18{Width: s.Width}},
	}
}

type imageNetwork struct {
	Label   string
	Network model.Network
}

// imageStudy is Table 13 for one network: batches of 128, forget fraction 5 %.
func imageStudy(s Scale, sets []string, n imageNetwork) Study {
	size := s.Images
	if size.Train == 0 {
		size.Train, size.Test = 8000, 2000
	}
	variants := append(methods(), Variant{Label: BT, Method: unlearn.BadTeacher{}})
	return Study{
		Name: "images " + n.Label, DataSets: sets, Seeds: indices(s.SideSeeds), Fractions: []float64{0.05}, ForgetSeeds: []uint32{lab.ForgetSeed},
		Variants: append(variants, controls()...), Model: n.Network, Fit: train.Config{Batch: 128, Epochs: size.Epochs}, Images: &size,
	}
}

func imageStudies(_ context.Context, s Scale) (out []Study, err error) {
	sets, err := s.Images.sets()
	for _, n := range s.Images.networks() {
		out = append(out, imageStudy(s, sets, n))
	}
	return out, err
}

var table13 = Recipe{
	ID:    "ruler/table13",
	Title: "RULER Table 13. M4 on images",
	Doc: "M4 of the original model and after unlearning, forget fraction 5 %, for a three-layer CNN with an embedding of 256 and a " +
		"ResNet-18 with one of 512. The paper finds the original near 0.5 and, on the ResNet-18 only, values far below it after NegGrad and " +
		"SCRUB (down to 0.16), which it calls over-displacement. Read both beside the oracle, another seed and random weights, which the paper does not show.",
	studies: imageStudies,
}

var imageRecipe = Recipe{
	ID:    "ruler/images",
	Title: "RULER on images: every measure",
	Doc: "The models of Table 13: M1 to M4, the loss-threshold attack and accuracies, means over seeds. ΔM4 is M4 less the oracle's own. " +
		"The displacement is the distance of the weights from the original's, relative to their norm.",
	studies: imageStudies,
}

func init() {
	table13.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		var all []columns
		for _, d := range parts[0].Study.DataSets {
			all = append(all, seedShareColumn(d, "M4: mean over seeds, t interval over seeds; the paper's null is 0.5, and the oracle's value is "+
				"that of a model without these images", m4).only(func(r Row) bool { return r.DataSet == d }))
		}
		t := e.variantTable(table13, s, all, parts...)
		for _, c := range parts {
			for _, a := range c.variants() {
				addVariant(t, strings.TrimPrefix(c.Study.Name, "images "), a.Label, kindOf(a), rowsOf(c.Rows, a.Label, 0.05), all)
			}
		}
		t.Notes = append(t.Notes, imageNotes(s, parts[0].Study)...)
		return &Output{Table: t}, nil
	}
	imageRecipe.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		var all []columns
		for _, m := range []metric{m1, m2, m3, m4, deltaM4, mia, retain, forgetAccuracy, testAccuracy, displacement} {
			all = append(all, meanColumn(m.Name, "", m))
		}
		t := e.variantTable(imageRecipe, s, all, parts...)
		for _, c := range parts {
			for _, d := range c.Study.DataSets {
				for _, a := range c.variants() {
					rows := inSet(rowsOf(c.Rows, a.Label, 0.05), d)
					addVariant(t, d+", "+strings.TrimPrefix(c.Study.Name, "images "), a.Label, kindOf(a), rows, all)
				}
			}
		}
		t.Notes = append(t.Notes, imageNotes(s, parts[0].Study)...)
		return &Output{Table: t}, nil
	}
}

// inSet returns the rows of a data set.
func inSet(rows []Row, set string) []Row {
	return filter(rows, func(r Row) bool { return r.DataSet == set })
}

// imageNotes say how the study differs from the paper's.
func imageNotes(s Scale, of Study) []string {
	notes := []string{fmt.Sprintf("%d training and %d test images of each set. The paper takes 10,000, does not say how it divides them, and gives "+
		"no batch size or number of epochs: batches of 128 and %d epochs here, Adam at 1e-3. 'do nothing' is its row Original.",
		of.Images.Train, of.Images.Test, of.Fit.WithDefaults().Epochs)}
	if s.Images.Width > 0 {
		notes = append(notes, fmt.Sprintf("Narrow networks: %d channels in the first convolution; the paper's have more.", s.Images.Width))
	}
	var standIns []string
	for _, pair := range imageSets {
		for _, d := range of.DataSets {
			if d == pair[1] {
				standIns = append(standIns, fmt.Sprintf("%s for %s", pair[1], pair[0]))
			}
		}
	}
	if len(standIns) > 0 {
		notes = append(notes, "Stand-ins for sets whose files are not on this machine: "+strings.Join(standIns, ", ")+".")
	}
	return notes
}
