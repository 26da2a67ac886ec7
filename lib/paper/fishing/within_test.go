package fishing

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// briefShadowStudy has a few shadow autoencoders and a few shadow classifiers.
func briefShadowStudy() ShadowStudy {
	f := rareTypeModels(8)
	f.genes(40)
	f.Fit.Epochs = 2
	f.Model = vae.Cells{Hidden: []int{8}, Latent: 3}
	c := tabularModels("two moons", "two_moons", 100, 8)
	c.Fit.Epochs = 5
	return ShadowStudy{Scale: "brief", Groups: []ShadowModels{f, c}}
}

// From records to a table: every attack has a row, models that never had the cells
// give one half within the cluster, and nothing is computed twice.
func TestShadowModelsMakeTheirTable(t *testing.T) {
	e := newEnv(t)
	s, err := collectShadow(t.Context(), e, briefShadowStudy())
	if err != nil {
		t.Fatal(err)
	}
	if want := 3*14 + 4; len(s.Rows) != want {
		t.Fatalf("%d findings, want %d", len(s.Rows), want)
	}
	for _, f := range s.Rows {
		for m, r := range f.Within.Models {
			if r.NMembers+r.NNonmembers != f.Assigned || math.Abs(float64(r.NMembers-r.NNonmembers)) > 1 {
				t.Errorf("%s, %s, model %d: %d in and %d out of %d", f.Variant, f.Attack, m, r.NMembers, r.NNonmembers, f.Assigned)
			}
		}
		if f.Attack == TypeAlone && (f.Within.AUC.Value != 0.5 || f.Within.AUC.High != 0.5) {
			t.Errorf("within the cluster the type tells %v", f.Within.AUC)
		}
		if matched := len(f.Matched) > 0; matched && (f.SameType > 6 || f.Negatives < 10 || len(f.Matched) != 8) {
			t.Errorf("%s: %v matched cells, %v of the type", f.Attack, f.Negatives, f.SameType)
		}
	}
	out := s.table()
	if text := out.Figure.Text(); !strings.Contains(text, "within, "+Retrained) || !strings.Contains(text, "matched, "+Original) {
		t.Errorf("the figure does not show what it is for: %s", text)
	}
	if text := out.Figure.Text(); !strings.Contains(text, Aligned) || !strings.Contains(text, AlignedByCell) || !strings.Contains(text, "lira-offline-pooled") {
		t.Errorf("the figure shows no aligned attacker beside LiRA: %s", text)
	}
	table := out.Table
	if !slices.ContainsFunc(table.Notes, func(n string) bool { return strings.Contains(n, "on matched cells 0.5 is not the null") }) {
		t.Errorf("no note says what the null of matched cells is: %q", table.Notes)
	}
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	if len(table.Rows) != 18 || table.Rows[0].Kind != report.Control || len(s.records()) != 46*8 {
		t.Errorf("%d rows, %d records", len(table.Rows), len(s.records()))
	}
	again, err := collectShadow(t.Context(), e, briefShadowStudy())
	if err != nil || !slices.Equal(again.Runs, s.Runs) || len(s.Runs) != 2 {
		t.Errorf("again: %v, %v", again.Runs, err)
	}
}

// On matched cells the type alone has the AUC 1 - s/2, where s is the share of the
// non-members that are of the type.
func TestTheTypeAloneOnMatchedCells(t *testing.T) {
	a := &shadowCase{}
	m := matchedCells{members: []int{0, 2}, negatives: []int{3, 4, 5, 6}, sameType: []bool{true, false, false, false}}
	s, err := a.typeAlone(0, m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := attack.Score(s, 0.95)
	if err != nil || r.AUC.Value != 0.875 || r.NMembers != 2 || r.NNonmembers != 4 {
		t.Errorf("%+v, %v", r, err)
	}
	h := &recordScores{}
	h.add([]float64{1, 2, 3}, []float64{10, 11, 12, 13, 14, 15, 16})
	h.add([]float64{4, 5, 6}, []float64{20, 21, 22, 23, 24, 25, 26})
	s, err = h.matchedSamples(1, m)
	if err != nil || !slices.Equal(s.Members, []float64{4, 6}) || !slices.Equal(s.Nonmembers, []float64{23, 24, 25, 26}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// memorising are shadow models that are trained for so long on so few cells of so
// few genes that they know them.
func memorising() ShadowModels {
	f := rareTypeModels(6)
	f.Label, f.Only = "memorising", []string{Original, Retrained}
	f.genes(60)
	f.prepare(func(p *datacells.Preparation) { p.TrainFraction = 0.06 })
	f.Fit.Epochs, f.Fit.Batch, f.LR = 120, 16, 3e-3
	f.Forget = lab.Class("type0")
	f.Goal = lab.Reconstruction{Plain: true, Beta: new(0.05)}
	f.Model = vae.Cells{Hidden: []int{64}, Latent: 16}
	return f
}

// A memory is found within the cluster by every attack that looks at the
// reconstruction, and is not there in models that never had the cells.
func TestAMemoryIsFoundWithinItsCluster(t *testing.T) {
	s, err := collectShadow(t.Context(), newEnv(t), ShadowStudy{Scale: "brief", Groups: []ShadowModels{memorising()}})
	if err != nil {
		t.Fatal(err)
	}
	finds := []string{generative.Recon{}.Name(), generative.ELBO{}.Name(), Own, Learned, Invariant, Aligned, AlignedCCA, AlignedByCell, shadow.LiRA{Pooled: true}.Name(), shadow.LiRA{Offline: true, Pooled: true}.Name()}
	for _, f := range s.Rows {
		t.Logf("%s, %s: %v", f.Variant, f.Attack, f.Within.AUC)
		switch {
		case f.Variant == Original && slices.Contains(finds, f.Attack) && f.Within.AUC.Low < 0.6:
			t.Errorf("%s finds %v", f.Attack, f.Within.AUC)
		case f.Variant == Retrained && (f.Within.AUC.Low > 0.6 || f.Within.AUC.High < 0.4):
			t.Errorf("%s finds %v in models that never had the cells", f.Attack, f.Within.AUC)
		}
	}
}

func TestShadowModelsWithoutTheirFiles(t *testing.T) {
	e := newEnv(t)
	t.Setenv(datasets.EnvDir, t.TempDir())
	for _, scale := range []string{"quick", "hour", "standard", "paper"} {
		s, err := ShadowStudyAt(scale)
		if err != nil {
			t.Fatal(err)
		}
		list, err := paper.MeasurementJobs(t.Context(), e, shadowMeasurements(e, s))
		if err != nil || len(list) < 40 {
			t.Fatalf("%s: %d jobs, %v", scale, len(list), err)
		}
		ids := map[string]bool{}
		for _, j := range list {
			for _, n := range j.Needs {
				if !ids[n] {
					t.Errorf("%s needs %s, which is not listed before it", j.ID, n)
				}
			}
			ids[j.ID] = true
		}
		if missing := slices.ContainsFunc(list, func(j paper.Job) bool { return j.Missing }); missing != (scale != "quick") {
			t.Errorf("%s: a job lacks its data: %t", scale, missing)
		}
	}
	s, err := ShadowStudyAt("standard")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collectShadow(t.Context(), e, s); err == nil || !strings.Contains(err.Error(), "lethe data get pbmc3k") {
		t.Errorf("%v", err)
	}
	if _, err := ShadowStudyAt("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}

// Without variants nothing is trained; with one, that one alone.
func TestOnlyTheNamedVariantsAreTrained(t *testing.T) {
	newEnv(t)
	dir := t.TempDir()
	t.Setenv("LETHE_STORE", dir)
	f := briefShadowStudy().Groups[0]
	for _, variants := range [][]string{nil, {Original}} {
		models, err := f.Train(t.Context(), variants...)
		if err != nil || len(models.Models) != 8 {
			t.Fatalf("%v", err)
		}
		runs, err := models.Lab.Store.List()
		if err != nil || len(runs) != 8*len(variants) {
			t.Errorf("variants %q: %d runs, %v", variants, len(runs), err)
		}
	}
	c, err := RunAttacks(t.Context(), briefShadowStudy().Groups[1])
	if err != nil || len(c) != 4 || len(c.PairMeans(c[0].Case, Original, LossAlone, WithinAUCs)) != 4 || c.PairMeans(c[0].Case, Retrained, LossAlone, WithinAUCs) != nil {
		t.Errorf("%d findings, %v", len(c), err)
	}
	if all, err := ShadowModelsAtScale(); err != nil || len(all) != 5 {
		t.Errorf("%d sets of shadow models at scale quick, %v", len(all), err)
	}
}

// The table has a column for every unlearned variant of any of its groups.
func TestTheTableHasTheVariantsOfItsShadowModels(t *testing.T) {
	for scale, want := range map[string][]string{"quick": {Ten}, "hour": {Ten, RetainTuned, ExtraTrue}, "standard": {Ten, RetainTuned, ExtraTrue},
		"atlas": {Ten, RetainTuned}, "paper": {Ten, RetainTuned, ExtraTrue}} {
		study, err := ShadowStudyAt(scale)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&shadowEvidence{ShadowStudy: study}).unlearnedVariants(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", scale, got, want)
		}
	}
}

// If a variant uses held-out cells, attackers score, match and learn from the other cells only;
// otherwise from all.
func TestShadowModelsScoreCellsThatNoMethodUses(t *testing.T) {
	e := newEnv(t)
	for _, variants := range [][]string{{Original}, {Original, ExtraTrue}} {
		f := briefShadowStudy().Groups[0]
		f.Only = variants
		models, err := e.Lab().ShadowModels(t.Context(), f.baseSetting(), 2, f.Whole)
		if err != nil {
			t.Fatal(err)
		}
		c := models.Models[0]
		rows, w := c.NonMemberRows(), c.InitialWeights(1)
		if len(variants) > 1 {
			rows = c.EvalRows()
		}
		a := &shadowCase{spec: f, models: models, in: models.Membership(), signals: map[string]*recordScores{}}
		if err := a.addModel(0, c, w); err != nil {
			t.Fatal(err)
		}
		v, err := predictSplits(c, w)
		if err != nil {
			t.Fatal(err)
		}
		for name, h := range a.signals {
			if h.unseen.Cols != len(rows) {
				t.Errorf("%v, %s: %d unseen cells are heard, %d of %d are not looked at", variants, name, h.unseen.Cols, len(rows), c.Test.X.Rows)
			}
		}
		if got := a.signals[generative.Recon{}.Name()].unseen.Row(0); got[1] != -v.unseen.recon[rows[1]] {
			t.Errorf("%v: the second cell that is heard is another one", variants)
		}
		m := a.matched[0]
		for k, i := range m.negatives {
			one, err := v.attackRecords([]int{rows[i]})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(one.Nonmembers.Row(0), m.features.Nonmembers.Row(k)) || m.sameType[k] != f.inGroup(c.Problem, c.Test, rows[i]) {
				t.Fatalf("%v: matched cell %d is not row %d of the test part", variants, k, rows[i])
			}
		}
	}
}
