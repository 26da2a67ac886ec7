package rulerpaper

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vision"
)

// place puts files in the place of a data set's; nothing reads them.
func place(t *testing.T, folder, set string) {
	t.Helper()
	info, err := images.Lookup(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range info.Files {
		path := filepath.Join(folder, info.Folder, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A published set goes before its stand-in, and the lossless images stand beside the lossy copy only.
func TestSetsOfImages(t *testing.T) {
	only := func(sets ...string) ImageScale { return ImageScale{Sets: sets, Lossless: true} }
	for _, c := range []struct {
		there []string
		scale ImageScale
		want  string
	}{
		{nil, only("cifar10"), "[cifar10]"},
		{[]string{"cifar10_jpeg", "cifar10_first4000", "mnist"}, only("cifar10"), "[cifar10_jpeg cifar10_first4000]"},
		{[]string{"cifar10_jpeg", "mnist"}, only("glyphs", "cifar100"), "[mnist glyphs]"},
		{[]string{"mnist"}, only("mnist"), "[mnist]"},
		{nil, only(), "[cifar10 svhn cifar100]"},
		{[]string{"cifar10_jpeg", "mnist"}, only(), "[cifar10_jpeg svhn mnist]"},
		{[]string{"cifar10_jpeg", "cifar10_first4000"}, ImageScale{}, "[cifar10_jpeg svhn cifar100]"},
		{[]string{"cifar10_jpeg", "cifar10_first4000"}, only(), "[cifar10_jpeg cifar10_first4000 svhn cifar100]"},
		{[]string{"cifar10_jpeg", "cifar10_first4000", "mnist"}, only(), "[cifar10_jpeg cifar10_first4000 svhn mnist]"},
		{[]string{"cifar10", "cifar10_jpeg", "cifar10_first4000"}, only(), "[cifar10 svhn cifar100]"},
		{[]string{"cifar10_first4000"}, only(), "[cifar10 svhn cifar100]"},
	} {
		folder := t.TempDir()
		t.Setenv("LETHE_DATA", folder)
		for _, set := range c.there {
			place(t, folder, set)
		}
		if got, err := c.scale.sets(); fmt.Sprint(got) != c.want || err != nil {
			t.Errorf("%v, %+v: %v %v, want %s", c.there, c.scale, got, err, c.want)
		}
	}
}

// The zero value is the published size; of a smaller set without a test part all images are taken.
func TestSizesOfImages(t *testing.T) {
	for _, c := range []struct {
		size ImageSize
		set  string
		want lab.Images
	}{
		{ImageSize{}, "cifar10", lab.Images{Set: "cifar10", MaxTrain: 8000, MaxTest: 2000}},
		{ImageSize{}, losslessImages, lab.Images{Set: losslessImages}},
		{ImageSize{Train: 3200, Test: 800}, losslessImages, lab.Images{Set: losslessImages, MaxTrain: 3200, MaxTest: 800}},
		{ImageSize{Train: 3201, Test: 800}, losslessImages, lab.Images{Set: losslessImages}},
	} {
		if got := c.size.data(c.set); got != c.want {
			t.Errorf("%+v of %s: %+v, want %+v", c.size, c.set, got, c.want)
		}
	}
	s, err := ScaleByName("large")
	if err != nil {
		t.Fatal(err)
	}
	of := s.Images.networks()
	if len(of) != 1 || of[0].Size != (ImageSize{}) || of[0].Network != (vision.SmallCNN{Hidden: 256}) {
		t.Errorf("the networks of scale large are %+v", of)
	}
	if study := imageStudy(s, nil, of[0]); len(study.Seeds) != 5 || *study.Images != (ImageSize{}) {
		t.Errorf("the CNN's study has seeds %v and %+v", study.Seeds, study.Images)
	}
	s, err = ScaleByName("standard")
	if err != nil {
		t.Fatal(err)
	}
	of = s.Images.networks()
	if len(of) != 2 || of[0].Size.Train != 2000 || of[1].Size.Train != 2000 || of[1].Network != (vision.ResNet18{Width: 16}) {
		t.Errorf("the networks of scale standard are %+v", of)
	}
}

// imageRows are a study of a ResNet-18 on two sets with the M4 of a variant in each seed.
func imageRows(m4 map[string][]float64) *Collected {
	c := &Collected{Study: imageStudy(Scale{SideSeeds: 2}, []string{"a", "b"}, ImageScale{ResNet: ImageSize{Width: 16}}.networks()[1])}
	for variant, values := range m4 {
		for i, v := range values {
			c.Rows = append(c.Rows, Row{DataSet: []string{"a", "b"}[i/2], Variant: variant, Fraction: 0.05, Seed: i % 2, M4: v,
				OracleM4: m4[Oracle][i], MIA: 0.75, Forget: 10, Retain: 190})
		}
	}
	return c
}

func TestNotesOnImagesNameSizes(t *testing.T) {
	c := imageRows(map[string][]float64{NoOp: {0.5, 0.5, 0.5, 0.5}, Oracle: {0.5, 0.5, 0.5, 0.5}})
	c.Study.DataSets = []string{"a", lossyImages, losslessImages}
	notes := strings.Join(imageNotes([]*Collected{c}), "\n")
	for _, want := range []string{
		"ResNet-18: training images a 200 (10 forgotten). The first convolution has 16 channels, the embedding 128 values (the paper's: 512): a narrower network than the paper's.",
		"cifar10_jpeg for cifar10", "byte for byte", "50 epochs here",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	if left := "left out at this scale"; !strings.Contains(notes, left) || strings.Contains(strings.Join(imageNotes([]*Collected{c, c}), "\n"), left) {
		t.Errorf("the notes on one network and on two do not tell which is left out:\n%s", notes)
	}
	c.Study.Model = vision.SmallCNN{Hidden: 256}
	if note := imageSizeNote(c.Study, c.Rows); !strings.Contains(note, "32 channels, the embedding 256 values (the paper's: 256).") {
		t.Error(note)
	}
}

// The claims on images: what is near one half, what is below it, and what is below the oracle.
func TestClaimsOnImages(t *testing.T) {
	c := imageRows(map[string][]float64{
		Oracle: {0.50, 0.48, 0.301, 0.299},
		NoOp:   {0.52, 0.50, 0.54, 0.54},   // 0.02 and 0.24 above the oracle
		NG:     {0.301, 0.300, 0.34, 0.34}, // below 0.5 on both sets, below the oracle on a
		SC:     {0.10, 0.10, 0.10, 0.90},   // below 0.5 on a
	})
	got := claimsOfRecords([]*Collected{c})
	want := []checked{
		{claim: "images, ResNet-18: the original's M4 is near 0.5", paper: "near 0.5", here: "a 0.51, b 0.54", reproduced: reproduced,
			control: "the oracle: a 0.49, b 0.30; M4 differs from it in 2 of 2; the loss attack on the original has a balanced accuracy of 0.75 (a guess: 0.5)"},
		{claim: "images, ResNet-18: NegGrad leaves M4 below 0.5", paper: "on every set", here: "in 2 of 2: a 0.30, b 0.34", reproduced: reproduced,
			control: "the oracle is below 0.5 in 1 of 2 (a 0.49, b 0.30); the method is below the oracle in 1 of 2"},
		{claim: "images, ResNet-18: SCRUB leaves M4 below 0.5", paper: "on every set, down to 0.16", here: "in 1 of 2: a 0.10, b 0.50", reproduced: refuted,
			control: "the oracle is below 0.5 in 1 of 2 (a 0.49, b 0.30); the method is below the oracle in 1 of 2"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// The claims on people compare with people whom no model saw.
func TestClaimsOnFaces(t *testing.T) {
	c := &Collected{Study: Study{DataSets: []string{"faces"}, Fractions: []float64{0.05, 0.1}, Faces: &FaceScale{}}}
	for seed := range 2 {
		for _, f := range c.Study.Fractions {
			for variant, m4 := range map[string]float64{GA: 0.8, NG: 0.8, FT: 0.55, SC: 0.8 - 10*(f-0.05), NoOp: 0.7, Oracle: 0.4} {
				c.Rows = append(c.Rows, Row{DataSet: "faces", Variant: variant, Fraction: f, Seed: seed, M4: m4, OracleM4: 0.4, Untouched: &UntouchedPeople{M4: 0.6}})
			}
		}
	}
	got := claimsOfRecords([]*Collected{c})
	want := []checked{
		{claim: "faces: the original's M4 is far above 0.5", paper: "at every fraction, up to 0.94", here: "5 % 0.70, 10 % 0.70", reproduced: reproduced,
			control: "the oracle, which never saw them: 5 % 0.40, 10 % 0.40; M4 is above it in 2 of 2"},
		{claim: "faces: no method erases what is left of people fully", paper: "M4 is above 0.5", here: "M4 is above that of people no model saw in 5 of 8", reproduced: refuted,
			control: "the oracle's is in 0 of 2, that of the original in 2 of 2"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// A note on the scale counts every kind of records.
func TestSizesOfSeveralKinds(t *testing.T) {
	faces := &Collected{Study: Study{DataSets: []string{"faces"}, Seeds: indices(3), Faces: &FaceScale{}}}
	if got := sizesOf(kindsOf([]*Collected{imageRows(nil), imageRows(nil), faces})); got != "images 2 data sets and 2 seeds, faces 1 data set and 3 seeds" {
		t.Error(got)
	}
}
