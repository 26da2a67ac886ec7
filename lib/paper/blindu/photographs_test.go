package blindu

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// photographCase are the studies of photographs.
func photographCase(t *testing.T) (out []Study) {
	for _, scale := range []string{"photographs", "copies", "lossy", "collections"} {
		s, err := StudyAt(scale)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// networkOf is a case's, for the data that it names.
func networkOf(t *testing.T, c Case) model.Architecture {
	info, err := images.Lookup(c.DataSet())
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Model.ForData(model.Sizes{Features: info.Shape[0] * info.Shape[1] * info.Shape[2], Classes: info.ClassCount(), Shape: info.Shape})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Errorf("%s: %v", c.Label, err)
	}
	return m
}

// The settings of the paper and of its program, as they are printed.
func TestPhotographsHaveThePublishedSettings(t *testing.T) {
	count := map[string]int{}
	for _, s := range photographCase(t) {
		for i, c := range s.Cases {
			count[c.DataSet()]++
			if normal := i%2 == 1; normal != (c.Backdoor() == nil) || normal && c.Setting.Forget != (lab.Random{Fraction: 0.06}) {
				t.Errorf("%s: case %d of its scale forgets %+v", c.Label, i, c.Setting.Forget)
			}
			beta, batch := 1e-2, 100
			if c.DataSet() == "tiny_imagenet" {
				beta, batch = 1e-4, 200
			}
			if c.LR != 5e-4 || c.Fit.Epochs != 20 || c.Fit.Batch != batch || c.beta() != beta || c.Fit.Clip != 1 || !c.HasPixels() || c.Augment {
				t.Errorf("%s: %+v, rate %v, beta %v", c.Label, c.Fit, c.LR, c.beta())
			}
			for _, a := range c.variants() {
				if rate := rateOf(defaults.Fill(a.Method)); rate != 0 && rate != 5e-4 {
					t.Errorf("%s, %s: rate %v", c.Label, a.Label, rate)
				}
			}
			networkOf(t, c)
		}
	}
	if want := map[string]int{"cifar10_first4000": 2, "cifar10_jpeg": 4, "cifar10": 2, "cifar100": 2, "tiny_imagenet": 2}; fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("cases %v", count)
	}
	for _, scale := range scaleNames() {
		s, err := StudyAt(scale)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Cases {
			if (c.DataSet() == "cifar10_jpeg") != (scale == "lossy" || scale == "copies") {
				t.Errorf("scale %s, whose name is below every figure, has %s", scale, c.DataSet())
			}
		}
	}
	// The program's weights, as ib.ResNet has them.
	m := networkOf(t, cifar10())
	p := model.InitialWeights(m, engine.Root(1).Stream(engine.StreamInit))
	if got := sizeOf(p); got != 5747558+5601866 {
		t.Errorf("CIFAR-10's network has %d weights", got)
	}
	at := slices.IndexFunc(p, func(v nn.Param) bool { return v.Name == cifar10().Gradient })
	if at < 0 || p[at].State || len(p[at].Data) != 128 {
		t.Errorf("no tensor of 128 numbers is called %q", cifar10().Gradient)
	}
}

// rateOf is that of a method which has the case's own, 0 of others.
func rateOf(m unlearn.Method) float64 {
	switch m := m.(type) {
	case unlearn.BlindU:
		return m.LR
	case unlearn.VBU:
		return m.LR
	case unlearn.HBFU:
		return m.LR
	case unlearn.BFU:
		return m.LR
	case unlearn.AuxiliaryTuning:
		return m.LR
	}
	return 0
}

// MNIST's and Adult's methods were at the program's rate before photographs were: the
// names of their models in a store have not moved.
func TestOtherCasesKeepTheirRates(t *testing.T) {
	for _, c := range []Case{mnist(), adult(), glyphs()} {
		for _, a := range append(c.variants(), c.privateVariants()...) {
			if rate := rateOf(defaults.Fill(a.Method)); rate != 0 && rate != 1e-3 {
				t.Errorf("%s, %s: rate %v", c.Label, a.Label, rate)
			}
			if m, is := defaults.Fill(a.Method).(unlearn.BlindU); is && !m.Unmasked && m.Masking.Channels != 1 {
				t.Errorf("%s, %s: masked in %d channels", c.Label, a.Label, m.Masking.Channels)
			}
		}
	}
}

// A position of a photograph is sent in all three channels or in none, by the owner, by
// those who measure, and by readers.
func TestAPositionIsMaskedInAllChannels(t *testing.T) {
	c := cifar10First4000()
	x := array.New[float32](2, 3072)
	for k := range x.Data {
		x.Data[k] = 1
	}
	d := unlearn.Data{X: x, Y: []int{0, 1}, IDs: []int{3, 8}}
	of := &lab.Case{Setting: c.Setting, Problem: &lab.Problem{}}
	o := &OpenedCase{Case: of, spec: c}
	for _, again := range []bool{false, true} {
		m := c.masking(again)
		byReader := m
		byReader.Channels = 0
		measured, err := maskRecords(of, m, d)
		if err != nil {
			t.Fatal(err)
		}
		read, err := o.Send(UploadSpec{Masking: &byReader, Bare: true}, d)
		if err != nil || !slices.Equal(read.Data, measured.Data) {
			t.Errorf("a reader masks otherwise: %v", err)
		}
		for i := range 2 {
			row, clear := measured.Row(i), 0
			for j := range 1024 {
				if row[j] != row[1024+j] || row[j] != row[2048+j] {
					t.Fatalf("position %d of record %d is %v, %v, %v", j, i, row[j], row[1024+j], row[2048+j])
				}
				clear += int(row[j])
			}
			if again && (clear < 400 || clear > 520) || !again && clear != 614 { // 60 % of 1,024; with replacement 45 % are met
				t.Errorf("replacement %v: %d of 1,024 positions are in clear", again, clear)
			}
		}
	}
	for _, u := range c.uploadKinds() {
		if b, is := u.forget.(unlearn.BlindU); u.mask != nil && (u.mask.Channels != 3 || !is || b.Masking != *u.mask) {
			t.Errorf("%s: %+v", u.name, u.mask)
		}
	}
}

// Every file that a scale of photographs lacks is named with its folder.
func TestAScaleOfPhotographsWithoutFilesNamesTheirFolders(t *testing.T) {
	e := newEnv(t)
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	for scale, sets := range map[string][]string{
		"photographs": {"cifar10/cifar10_lossless_first4000.bin"}, "lossy": {"cifar10/cifar10_jpegq_all60000.tar.gz"}, "copies": {"cifar10/cifar10_jpegq_all60000.tar.gz"},
		"collections": {"cifar10/cifar-10-binary.tar.gz", "cifar100/cifar-100-binary.tar.gz", "tiny_imagenet/tiny-imagenet-200.zip"},
	} {
		_, err := mustFind(t, "table", "3").Run(t.Context(), e, scale)
		if !errors.Is(err, datasets.ErrMissing) {
			t.Errorf("%s: %v", scale, err)
			continue
		}
		for _, file := range sets {
			if !strings.Contains(err.Error(), filepath.Join(dir, filepath.FromSlash(file))) {
				t.Errorf("%s: %v\nwant %s", scale, err, file)
			}
		}
	}
}

func mustFind(t *testing.T, kind, name string) paper.Recipe {
	r, err := Paper().Find(kind, name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Table II has the transformer behind the ResNet, and what the paper printed beside it;
// so has Table III, of the whole set also beside a part or a copy of it.
func TestPhotographsAreInTablesTwoAndThree(t *testing.T) {
	for _, scale := range []string{"photographs", "copies", "lossy", "collections"} {
		s, err := table2Study(scale)
		if err != nil || len(s.Cases) != 2 {
			t.Fatalf("%d networks, %v", len(s.Cases), err)
		}
		for i, c := range s.Cases {
			b := defaults.Fill(networkOf(t, c)).(ib.Bottleneck)
			if want := []string{"resnet", "vit"}[i]; b.Compressor.Name() != "resnet" || b.Approximator.Name() != want {
				t.Errorf("%s, %s: %s", scale, c.Label, b.Name())
			}
			if printed2(c, WithReplacement) == "" || printed2(c, WithoutReplacement) == "" || printed2(c, Original) != "" {
				t.Errorf("%s, %s: nothing is printed, or too much", scale, c.Label)
			}
		}
	}
	for _, s := range photographCase(t) {
		for _, c := range s.Cases {
			for _, variant := range []string{VBU, HBFU, WithReplacement, WithoutReplacement} {
				if want := c.publishedDataSet() == "cifar10"; (printed(c, variant) != "") != want {
					t.Errorf("%s, %s: printed %q", c.Label, variant, printed(c, variant))
				}
			}
		}
	}
}

// A user of a network with batch normalisation can upload gradients.
func TestGradientsOfAResNetAreUploaded(t *testing.T) {
	c := glyphs()
	c.Model, c.Gradient, c.Data = bottleneck(ib.ResNet{Channels: 1, Width: 2}, 16, ib.MLP{Hidden: 8}), normalisation, lab.Limit(c.Data, 60, 20)
	l := newEnv(t).Lab()
	opened, err := l.Case(t.Context(), c.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	k := attackerView{Case: opened, spec: c, engine: l.Engine, weights: model.InitialWeights(opened.Problem.Arch, engine.Root(1).Stream(engine.StreamInit))}
	sent, err := k.uploadOf(t.Context(), upload{name: OwnGradients}, withNumbers(opened.Problem.Train, []int{0, 1, 2}, 0))
	if err != nil || sent.Rows != 3 || sent.Cols != 4 || slices.Equal(sent.Row(0), sent.Row(1)) || slices.Max(sent.Data) == 0 {
		t.Errorf("%d x %d gradients %v: %v", sent.Rows, sent.Cols, sent.Data, err)
	}
}
