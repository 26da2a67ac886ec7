package rulerpaper

// Table 13: images.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// ImageScale is how much of Table 13 a scale computes. The zero value is the published size.
type ImageScale struct {
	// Sets names the data sets, empty: CIFAR-10, SVHN and CIFAR-100. One of these whose files are missing is
	// replaced by its stand-in.
	Sets []string
	// Lossless puts the few images of CIFAR-10 that are there byte for byte beside its lossy copy.
	Lossless    bool
	CNN, ResNet ImageSize
	// CNNOnly leaves out the ResNet-18, whose image costs 30 times the CNN's.
	CNNOnly bool
	Epochs  int // 0: 50
	Seeds   int // 0: those of all studies beside the main one
}

// ImageSize is the size of a network for images and of its data. The zero value is the published size.
type ImageSize struct {
	Train, Test int // images, 0: 8,000 and 2,000
	Width       int // channels of the first convolution, 0: 32 of the CNN, 64 of the ResNet-18
	Hidden      int // width of the CNN's embedding, 0: 256
}

// data is a set at this size. Of a set that has fewer images and no test part it is all, a fifth of
// them held out.
func (s ImageSize) data(set string) lab.Images {
	d := lab.Images{Set: set, MaxTrain: cmp.Or(s.Train, 8000), MaxTest: cmp.Or(s.Test, 2000)}
	if info, err := images.Lookup(set); err == nil && info.TestRows == 0 && info.Rows < d.MaxTrain+d.MaxTest {
		d.MaxTrain, d.MaxTest = 0, 0
	}
	return d
}

// imageSets are the paper's data sets of images, each with the set that stands in for it.
var imageSets = [][2]string{{"cifar10", lossyImages}, {"svhn", "fashion_mnist"}, {"cifar100", "mnist"}}

// The two parts of CIFAR-10 that stand in for it.
const (
	lossyImages    = "cifar10_jpeg"
	losslessImages = "cifar10_first4000"
)

// sets returns the data sets of Table 13. One whose files are missing is replaced by its stand-in, if
// the files of that are there.
func (s ImageScale) sets() (out []string, err error) {
	for _, pair := range imageSets {
		if len(s.Sets) > 0 && !slices.Contains(s.Sets, pair[0]) {
			continue
		}
		published, err := images.Lookup(pair[0])
		if err != nil {
			return nil, err
		}
		standIn, err := images.Lookup(pair[1])
		if err != nil {
			return nil, err
		}
		if published.Present() || !standIn.Present() {
			out = append(out, pair[0])
			continue
		}
		out = append(out, pair[1])
		if lossless, err := images.Lookup(losslessImages); s.Lossless && pair[1] == lossyImages && err == nil && lossless.Present() {
			out = append(out, losslessImages)
		}
	}
	for _, set := range s.Sets {
		if !slices.ContainsFunc(imageSets, func(pair [2]string) bool { return pair[0] == set }) {
			out = append(out, set)
		}
	}
	return out, nil
}

// imageNetworks are the networks of Table 13.
func (s ImageScale) networks() []imageNetwork {
	cnn := imageNetwork{"three-layer CNN", vision.SmallCNN{Width: s.CNN.Width, Hidden: cmp.Or(s.CNN.Hidden, 256)}, s.CNN}
	if s.CNNOnly {
		return []imageNetwork{cnn}
	}
	return []imageNetwork{cnn, {resNet, vision.ResNet18{Width: s.ResNet.Width}, s.ResNet}}
}

type imageNetwork struct {
	Label   string
	Network model.Network
	Size    ImageSize
}

// imageStudy is Table 13 for one network: batches of 128, forget fraction 5 %.
func imageStudy(s Scale, sets []string, n imageNetwork) Study {
	variants := append(methods(), Variant{Label: BT, Method: unlearn.BadTeacher{}})
	return Study{
		Name: imagesOf + n.Label, DataSets: sets, Seeds: indices(cmp.Or(s.Images.Seeds, s.SideSeeds)), Fractions: []float64{0.05},
		ForgetSeeds: []uint32{lab.ForgetSeed}, Variants: append(variants, controls()...), Model: n.Network,
		Fit: train.Config{Batch: 128, Epochs: s.Images.Epochs}, Images: &n.Size,
	}
}

// imagesOf begins the names of the studies of Table 13, resNet ends that of the second.
const (
	imagesOf = "images "
	resNet   = "ResNet-18"
)

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
	Doc: "M4 of the original model and after unlearning, forget fraction 5 %, for a three-layer CNN and a ResNet-18; the paper's " +
		"have embeddings of 256 and 512. It finds the original near 0.5 and, on the ResNet-18 only, values far below it after NegGrad and " +
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
				addVariant(t, strings.TrimPrefix(c.Study.Name, imagesOf), a.Label, kindOf(a), rowsOf(c.Rows, a.Label, 0.05), all)
			}
		}
		t.Notes = append(t.Notes, imageNotes(parts)...)
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
					addVariant(t, d+", "+strings.TrimPrefix(c.Study.Name, imagesOf), a.Label, kindOf(a), rows, all)
				}
			}
		}
		t.Notes = append(t.Notes, imageNotes(parts)...)
		return &Output{Table: t}, nil
	}
}

// inSet returns the rows of a data set.
func inSet(rows []Row, set string) []Row {
	return filter(rows, func(r Row) bool { return r.DataSet == set })
}

// imageNotes say how the studies differ from the paper's.
func imageNotes(parts []*Collected) []string {
	first := parts[0].Study
	notes := []string{fmt.Sprintf("The paper takes 10,000 images, does not say how it divides them, and gives no batch size or number of epochs: "+
		"batches of 128 and %d epochs here, Adam at 1e-3. 'do nothing' is its row Original.", first.Fit.WithDefaults().Epochs)}
	for _, c := range parts {
		notes = append(notes, imageSizeNote(c.Study, c.Rows))
	}
	if len(parts) == 1 {
		notes = append(notes, "The paper's ResNet-18 is left out at this scale.")
	}
	var standIns []string
	for _, pair := range imageSets {
		if slices.Contains(first.DataSets, pair[1]) {
			standIns = append(standIns, fmt.Sprintf("%s for %s", pair[1], pair[0]))
		}
	}
	if len(standIns) > 0 {
		notes = append(notes, "Stand-ins for sets whose files are not on this machine: "+strings.Join(standIns, ", ")+".")
	}
	if slices.Contains(first.DataSets, losslessImages) {
		notes = append(notes, fmt.Sprintf("%s are CIFAR-10's first images byte for byte, %s a copy that lost detail: the rows side by side show what "+
			"that loss changes where they have as many images.", losslessImages, lossyImages))
	}
	return notes
}

// imageSizeNote says how large a study's network and data are.
func imageSizeNote(s Study, rows []Row) string {
	var sizes []string
	for _, set := range s.DataSets {
		if of := inSet(rows, set); len(of) > 0 {
			sizes = append(sizes, fmt.Sprintf("%s %d (%d forgotten)", set, of[0].Forget+of[0].Retain, of[0].Forget))
		}
	}
	note := fmt.Sprintf("%s: training images %s.", strings.TrimPrefix(s.Name, imagesOf), strings.Join(sizes, ", "))
	var width, embedding, published int
	switch n := s.Model.(type) {
	case vision.SmallCNN:
		n = defaults.Fill(n)
		width, embedding, published = n.Width, n.Hidden, 256
	case vision.ResNet18:
		n = defaults.Fill(n)
		width, embedding, published = n.Width, 8*n.Width, 512
	default:
		return note
	}
	note += fmt.Sprintf(" The first convolution has %d channels, the embedding %d values (the paper's: %d)", width, embedding, published)
	if embedding < published {
		note += ": a narrower network than the paper's"
	}
	return note + "."
}
