package fishing

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
)

// drawnScale is the scale whose jobs cannot be listed before its cells are drawn: the keys of its
// runs hold the hash of the data.
const drawnScale = "atlas"

// Every scale that is offered has a study in every recipe, whose jobs can be listed
// without a file.
func TestEveryScaleOfEveryRecipe(t *testing.T) {
	e := newEnv(t)
	t.Setenv(datasets.EnvDir, t.TempDir())
	for _, s := range Paper().Scales {
		if s.Name == drawnScale {
			continue
		}
		for _, r := range Paper().Recipes {
			if r.Jobs == nil && r.ID == mixture.ID { // a toy, which keeps nothing
				continue
			}
			list, err := r.Jobs(t.Context(), e, s.Name)
			if err != nil || len(list) == 0 {
				t.Errorf("%s at %s: %d jobs, %v", r.ID, s.Name, len(list), err)
			}
			if missing := slices.ContainsFunc(list, func(j paper.Job) bool { return j.Missing }); missing == (s.Name == "quick") {
				t.Errorf("%s at %s: a file is missing: %t", r.ID, s.Name, missing)
			}
		}
	}
	_, err := StudyAt("huge")
	if err == nil || !strings.Contains(err.Error(), "quick, hour, standard, atlas, paper") {
		t.Errorf("%v", err)
	}
}

// At scale paper and in the atlas network, rate, batches and epochs are the paper's baseline's.
func TestThePapersScaleIsThePapers(t *testing.T) {
	for scale, seeds := range map[string]int{"atlas": 1, "paper": 5} {
		s, err := StudyAt(scale)
		if err != nil || s.Seeds != seeds {
			t.Fatalf("%s: %d seeds, %v", scale, s.Seeds, err)
		}
		for _, c := range s.Cases {
			at := c.setting(3)
			if at.Seed != 3 || at.Fit.Epochs != 100 || at.Fit.Batch != 256 || at.Fit.Optimizer != (nn.Adam{LR: 1e-4}) || c.Neighbours != 10 {
				t.Errorf("%s: %+v", c.Label, at.Fit)
			}
			if m := defaults.Fill(at.Model.(vae.Cells)); !slices.Equal(m.Hidden, []int{1024, 512, 128}) || m.Latent != 32 {
				t.Errorf("%s: network %+v", c.Label, m)
			}
			if defaults.Fill(at.Data.(lab.Cells)).Variable.Top != 2000 || defaults.Fill(at.Data.(lab.Cells)).TrainFraction != 0.85 {
				t.Errorf("%s: prepared as %+v", c.Label, at.Data)
			}
		}
	}
	s, _ := acrossStudy("paper")
	names := map[string]bool{}
	for _, c := range s.Cases {
		names[jobName(c, 0)] = true
	}
	if len(names) != 3 {
		t.Errorf("three cases have the evidence %v", names)
	}
	for i, want := range []struct {
		set, class                 string
		clusters, onCounts, scaled bool
	}{
		{"pbmc33k", datacells.Smallest, true, false, false},
		{"tabula_muris", datacells.SecondSmallest, true, true, false},
		{"tabula_muris", datacells.SecondSmallest, true, true, true},
	} {
		c := s.Cases[i]
		if p := c.preparation(); c.DataSet() != want.set || forgottenClass(c.Setting) != want.class || p.Clusters != want.clusters || p.OnCounts != want.onCounts || p.Scaled != want.scaled {
			t.Errorf("%s: %s of %s, %+v", c.Label, forgottenClass(c.Setting), c.DataSet(), p)
		}
	}
}

// The types of sets without labels are clusters, of which one is forgotten: from counts to
// rows, on cells that need no file.
func TestAClusterIsForgotten(t *testing.T) {
	s := briefStudy()
	s.Seeds = 1
	c := &s.Cases[0]
	c.prepare(func(p *datacells.Preparation) { p.Clusters = true })
	c.Forget, c.Only = lab.Class(datacells.SecondSmallest), []string{Original, Retrained, OtherSeed}
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	r := ev.rowsOf(c.Label, Original)[0]
	sizes := r.Sizes.Unseen
	smallest, second := sizes[datacells.Smallest], sizes[datacells.SecondSmallest]
	if r.Type != datacells.SecondSmallest || r.Forget < 5 || smallest > second || second == 0 || r.Forget < 3*second {
		t.Errorf("%d cells of the %s are forgotten; unseen are %v", r.Forget, r.Type, sizes)
	}
	if text := ev.table1().Table.Notes; !strings.Contains(strings.Join(text, " "), datacells.SecondSmallest) {
		t.Errorf("%q", text)
	}
}

// What is said of the cells holds for those of the study: which are generated, and what
// their genes were chosen on.
func TestNotesAreOfTheCasesOfTheStudy(t *testing.T) {
	quick, whole := simulated(), atlas()
	for seeds, told := range map[int]string{1: "no interval", 2: "Student's"} {
		if got := (&evidence{Study: Study{Seeds: seeds}}).intervalNote(); !strings.Contains(got, told) {
			t.Errorf("of %d models a note says %q", seeds, got)
		}
	}
	for _, c := range []struct {
		cases      []Case
		made, told string
	}{
		{[]Case{quick}, "simulated_cells are generated.", "on counts, for which"},
		{[]Case{whole}, "simulated_atlas are generated.", "on logged values, as the program"},
		{[]Case{quick, whole}, "simulated_cells and simulated_atlas are generated.", "on counts (simulated, rare type), for which"},
		{[]Case{pbmc33k(), tabulaMuris()}, "", "So they are here (PBMC-33k, smallest cluster)."},
	} {
		if got := strings.Join(syntheticNotes(c.cases), " "); got != c.made {
			t.Errorf("%q, want %q", got, c.made)
		}
		if got := strings.Join(geneChoiceNotes(c.cases), " "); !strings.Contains(got, c.told) {
			t.Errorf("%q, want %q in it", got, c.told)
		}
	}
}
