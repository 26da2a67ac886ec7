package rulerpaper

// Table 14 and Fig. 8: forgetting people, and people whom nobody trained on beside them.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// FaceScale is how much of Table 14 a scale computes. The zero value is the published size.
type FaceScale struct {
	Set    string // "": LFW, or its stand-in
	Side   int    // of the images in pixels, 0: as the set has them
	Width  int    // channels of the network's first convolution, 0: 64
	Epochs int    // 0: 50
	Batch  int    // 0: 32
	Seeds  int    // 0: 5
}

// faceFractions are the shares of the people of the train part who are forgotten.
var faceFractions = []float64{0.025, 0.05, 0.10}

// faceSets are the sets of faces, each before its stand-in.
var faceSets = []string{"lfw", "olivetti", "olivetti_idx"}

// set returns the set of faces. One whose files are missing is replaced by the first stand-in whose
// files are there.
func (s FaceScale) set() (string, error) {
	wanted := cmp.Or(s.Set, faceSets[0])
	first := max(0, slices.Index(faceSets, wanted))
	for _, name := range append([]string{wanted}, faceSets[first:]...) {
		info, err := images.Lookup(name)
		if err != nil {
			return "", err
		}
		if info.Synthetic || info.Present() {
			return name, nil
		}
	}
	return wanted, nil // and loading it says what is missing
}

// data is the set divided by people. Every seed holds out other people.
func (s FaceScale) data(seed int) lab.Faces {
	return lab.Faces{Identities: images.Identities{Set: s.Set, Side: s.Side, Seed: uint32(images.HeldOutSeed + seed)}}
}

// forget returns the people to forget. Every seed forgets others.
func (s FaceScale) forget(k cellKey) lab.ForgetSet {
	return lab.RandomGroups{Column: images.IdentityColumn, Fraction: k.fraction, Seed: k.forgetSeed + uint32(k.seed)}
}

// faceStudy is Table 14.
func faceStudy(s Scale) (Study, error) {
	size := s.Faces
	set, err := size.set()
	size.Set, size.Batch, size.Seeds = set, cmp.Or(size.Batch, 32), cmp.Or(size.Seeds, 5)
	variants := append(methods(), Variant{Label: BT, Method: unlearn.BadTeacher{}})
	var network model.Network = vision.ResNet18{Width: size.Width}
	return Study{
		Name: "faces", DataSets: []string{set}, Seeds: indices(size.Seeds), Fractions: faceFractions, ForgetSeeds: []uint32{lab.ForgetSeed},
		Variants: append(variants, controls()...), Model: network, Fit: train.Config{Batch: size.Batch, Epochs: size.Epochs}, Faces: &size,
	}, err
}

func faceStudies(_ context.Context, s Scale) ([]Study, error) {
	study, err := faceStudy(s)
	return []Study{study}, err
}

// dataName is the name of a cell's data in the provenance.
func (s Study) dataName(k cellKey) string {
	switch {
	case s.Faces != nil:
		return fmt.Sprintf("%s, people held out by seed %d", k.dataSet, images.HeldOutSeed+k.seed)
	case s.countsOnly():
		return k.dataSet + ", all documents"
	}
	return k.dataSet
}

// UntouchedPeople is M4 of people whom no model was trained on, beside that of the forgotten ones.
type UntouchedPeople struct {
	M4        float64 `json:"m4"`
	Images    int     `json:"n_images"`
	Forgotten int     `json:"n_forgotten"` // people
}

// untouchedPeople measures people whom nobody trained on: M4 of as many images as are forgotten,
// among the same retained images. It returns nil for other data than faces.
func (e *Env) untouchedPeople(c *cell, onTrain, onTest *model.Prediction) (*UntouchedPeople, error) {
	if c.study.Faces == nil {
		return nil, nil
	}
	rows := untouchedRows(c.About.Columns, c.Test, len(c.Forget))
	u, held := array.Convert[float64](onTrain.Embedding), array.Convert[float64](onTest.Embedding.Gather(rows))
	m, _, err := ruler.M4HeldOut(ruler.Evidence{Unlearned: &u, HeldOut: &held, Retain: c.Retain}, e.options(c.study))
	if err != nil {
		return nil, err
	}
	return &UntouchedPeople{M4: m.Value, Images: len(rows), Forgotten: countPeople(c.About.Columns, c.Problem.Train.Gather(c.Forget))}, nil
}

// m4OfUntouched is M4 of the untouched people, NaN for a method that diverged.
func (r Row) m4OfUntouched() float64 {
	if r.Untouched == nil {
		return math.NaN()
	}
	return r.Untouched.M4
}

// untouchedRows returns n rows of the test part, one person after the other in the order of their
// names, or all rows if there are fewer.
func untouchedRows(columns []datasets.Column, test datasets.Part, n int) []int {
	who := identityOf(columns)
	rows := indices(len(test.IDs))
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(who.Codes[test.IDs[a]], who.Codes[test.IDs[b]]) })
	return rows[:min(n, len(rows))]
}

// countPeople returns the number of people on the images of a part.
func countPeople(columns []datasets.Column, part datasets.Part) int {
	who, seen := identityOf(columns), map[int32]bool{}
	for _, id := range part.IDs {
		seen[who.Codes[id]] = true
	}
	return len(seen)
}

// identityOf returns the column that names who is on an image; prepared faces have it.
func identityOf(columns []datasets.Column) datasets.Column {
	return columns[slices.IndexFunc(columns, func(c datasets.Column) bool { return c.Name == images.IdentityColumn })]
}

// The measures of Table 14.
var (
	m4Untouched = metric{"M4, untouched people", Row.m4OfUntouched, 0.5, 4}
	m4Beyond    = metric{"difference", func(r Row) float64 { return r.M4 - r.m4OfUntouched() }, 0, 4}
)

var table14 = Recipe{
	ID:    "ruler/table14",
	Title: "RULER Table 14. M4 when people are forgotten",
	Doc: "All images of some people are forgotten by a ResNet-18 whose task is another than to recognise them. The paper finds M4 of the original " +
		"up to 0.94 and reads identities that are memorised. What it does not show stands beside: the oracle, which never saw these people, and " +
		"untouched people, whom no model of the table was trained on: M4 of as many images of theirs, among the same retained images. The " +
		"difference of the two is, on average, what training on somebody adds. It compares different people, so that chance moves it more than " +
		"ΔM4, which compares the same people in two models. One half is no null here: a retained image has others of the same person " +
		"among its neighbours, and an image of a forgotten or an untouched person has none.",
	studies: faceStudies,
}

var figure8 = Recipe{
	ID:    "ruler/figure8",
	Title: "RULER Fig. 8. M4 of people before unlearning, beside people nobody trained on",
	Doc: "M4 of the people to forget in the original, before anything was unlearned, in the oracle, which never saw them, and M4 of untouched " +
		"people in the original: as many images, among the same retained ones. The paper has the first and reads values far above one half as " +
		"memory. If the untouched people are as high, it is none.",
	studies: faceStudies,
}

func init() {
	table14.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		all := []columns{
			// One half is no null of people's M4.
			oneColumn("M4", "mean over seeds, t interval over seeds", peopleCell(m4)),
			oneColumn(m4Untouched.Name, "people no model was trained on, among the same retained images", peopleCell(m4Untouched)),
			seedColumn(m4Beyond.Name, "M4 less that of untouched people; null 0", m4Beyond),
			seedColumn(deltaM4.Name, "M4 less the oracle's own; null 0", deltaM4), meanColumn(retain.Name, "", retain),
		}
		t := e.variantTable(table14, s, all, c)
		addFractions(t, c, "people forgotten ", all)
		notes, err := faceNotes(c)
		t.Notes = append(t.Notes, notes...)
		return &Output{Table: t}, err
	}
	figure8.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		f := plot.Strips{Meta: e.meta(figure8, s, c), X: plot.Axis{Label: "people forgotten"}, Y: plot.Axis{Label: "M4"},
			Null: &plot.Null{Value: 0.5, Label: "one half, which the paper compares with"}, Summary: plot.MeanInterval}
		for _, fraction := range c.Study.Fractions {
			f.Groups = append(f.Groups, percent(fraction))
		}
		for _, series := range []struct {
			name, variant string
			value         metric
			control       bool
		}{
			{"people to forget, original", NoOp, m4, false}, {"people to forget, oracle", Oracle, m4, true},
			{"untouched people, original", NoOp, m4Untouched, true},
		} {
			one := plot.StripSeries{Name: series.name, Control: series.control}
			for _, fraction := range c.Study.Fractions {
				one.Values = append(one.Values, values(rowsOf(c.Rows, series.variant, fraction), series.value.Value))
			}
			f.Series = append(f.Series, one)
		}
		notes, err := faceNotes(c)
		f.Caption += " " + notes[0]
		return &Output{Figure: f}, err
	}
}

// peopleCell is the mean over seeds, without a null value.
func peopleCell(m metric) func(rows []Row) report.Cell {
	return func(rows []Row) report.Cell {
		return report.Est(stats.MeanInterval(values(rows, m.Value), 0.95, "seeds").ClampedTo(0, 1), m.Digits)
	}
}

// faceNotes say how the study differs from the paper's. The first is about the data.
func faceNotes(c *Collected) ([]string, error) {
	size := *c.Study.Faces
	d := size.data(0).Identities.WithDefaults()
	info, err := d.Info()
	if err != nil {
		return []string{""}, err
	}
	return []string{
		faceDataNote(size, d, info), facePeopleNote(c, d), faceNetworkNote(c.Study), faceFitNote(c),
	}, nil
}

// faceDataNote says which faces these are and who labelled them.
func faceDataNote(size FaceScale, d images.Identities, info datasets.Info) string {
	text := fmt.Sprintf("%s: %d images of %d x %d pixels; the task is %s.", info.Title, info.Rows, info.Shape[2], info.Shape[1], info.Task)
	if d.Arbitrary() {
		text += " Nobody labelled these people: a seed put half of them into either group. Such a task can only be learned person by " +
			"person, so that it asks for more memory of people than the paper's."
	}
	if size.Set == "lfw" {
		return text + " The paper does not say how it cuts and scales the photographs, nor who labelled gender: here the lists of names of " +
			"Afifi and Abdelhamed."
	}
	if info.Synthetic {
		text += " The labels are the generator's."
	}
	return text + " They stand in for the paper's LFW, 4,324 photographs of 158 people with gender as the task."
}

// facePeopleNote says who is forgotten and who is held out.
func facePeopleNote(c *Collected, d images.Identities) string {
	text := "Forgotten are"
	for i, f := range c.Study.Fractions {
		of := rowsOf(c.Rows, NoOp, f)
		join := ","
		switch i {
		case 0:
			join = ""
		case len(c.Study.Fractions) - 1:
			join = " and"
		}
		text += fmt.Sprintf("%s %s at %s (%s images)", join, rangeOf(of, func(r Row) int { return r.Untouched.Forgotten }), percent(f),
			rangeOf(of, func(r Row) int { return r.Forget }))
	}
	text += fmt.Sprintf(" of the people in the train part, with all of their images. %g %% of all people are held out with all of theirs: the "+
		"untouched people, and the test part of the attack. Every seed draws other people for both. The paper does not say how it divides, and "+
		"has nobody who is held out.", 100*d.HeldOut)
	for _, r := range c.Rows {
		if r.Untouched != nil && r.Untouched.Images < r.Forget {
			return text + " Where more images are forgotten than untouched people have, all images of these count."
		}
	}
	return text
}

// rangeOf is a number of rows, "4" or "3 to 5" if they differ.
func rangeOf(rows []Row, value func(Row) int) string {
	var all []int
	for _, r := range rows {
		all = append(all, value(r))
	}
	if len(all) == 0 {
		return "no"
	}
	if low, high := slices.Min(all), slices.Max(all); low < high {
		return fmt.Sprintf("%d to %d", low, high)
	}
	return fmt.Sprint(all[0])
}

// faceNetworkNote says how the network was trained.
func faceNetworkNote(s Study) string {
	text := fmt.Sprintf("Batches of %d and %d epochs, Adam at 1e-3: the paper gives neither. 'do nothing' is its row Pre-unlearning.",
		s.Fit.Batch, s.Fit.WithDefaults().Epochs)
	if w := s.Faces.Width; w > 0 {
		text += fmt.Sprintf(" A narrow ResNet-18: %d channels in the first convolution and an embedding of %d; the paper's has 64 and 512.", w, 8*w)
	}
	return text
}

// faceFitNote says how well the original knows its task.
func faceFitNote(c *Collected) string {
	of := rowsOf(c.Rows, NoOp, c.Study.Fractions[len(c.Study.Fractions)-1])
	accuracy := func(value func(Row) float64) string { return fmt.Sprintf("%.2f", mean(values(of, value))) }
	text := fmt.Sprintf("Accuracy of the original: %s on retained images, %s on the people to forget, %s on untouched people",
		accuracy(retain.Value), accuracy(func(r Row) float64 { return r.ForgetAcc }), accuracy(func(r Row) float64 { return r.TestAcc }))
	if c.Study.Faces.data(0).Arbitrary() {
		text += "; in arbitrary groups of equal size a guess has 0.5"
	}
	return text + "."
}
