package fishing

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// briefStudy is the quick study with few variants, epochs and genes.
func briefStudy() Study {
	c := simulated()
	c.genes(60)
	c.Fit.Epochs, c.Fit.Batch, c.LR = 3, 64, 1e-3
	c.Model = vae.Cells{Hidden: []int{16}, Latent: 4}
	c.Only = []string{Original, Retrained, OtherSeed, Foster}
	return Study{Scale: "brief", Seeds: 2, Cases: []Case{c}}
}

func newEnv(t *testing.T) *paper.Env {
	e, s := enginetest.WithStore(t)
	return &paper.Env{Engine: e, Store: s}
}

// recipe is the paper's of that name.
func recipe(t *testing.T, name string) paper.Recipe {
	t.Helper()
	for _, r := range Paper().Recipes {
		if r.ID == "fishing/"+name {
			return r
		}
	}
	t.Fatalf("no recipe %s", name)
	return paper.Recipe{}
}

// From cells to a table: every variant has a row, every control is one, nothing is
// computed twice, and the same study gives the same rows.
func TestAStudyMakesItsTables(t *testing.T) {
	e := newEnv(t)
	ev, err := collect(t.Context(), e, briefStudy())
	if err != nil {
		t.Fatal(err)
	}
	if len(ev.Rows) != 8 {
		t.Fatalf("%d rows", len(ev.Rows))
	}
	for _, r := range ev.Rows {
		if r.Forget < 20 || r.Forget > 32 || r.Negatives < 10 || r.Negatives > r.Unseen || r.SameType > 32-r.Forget || r.Unseen != 300 {
			t.Errorf("%s: %d forgotten, %d negatives (%d of the type) of %d", r.Variant, r.Forget, r.Negatives, r.SameType, r.Unseen)
		}
		for name, a := range r.Attacks {
			if a.All.NMembers != r.Forget || a.All.NNonmembers != r.Negatives || a.HeldOut == nil {
				t.Errorf("%s, %s: %d members, %d non-members", r.Variant, name, a.All.NMembers, a.All.NNonmembers)
			}
		}
		for _, name := range suiteAttacks() {
			if r.Suite[name] == nil || r.Suite[name].NMembers != r.Forget {
				t.Errorf("%s: %s is %+v", r.Variant, name, r.Suite[name])
			}
		}
		if !(r.UnseenRecon > 0 && r.ForgetRecon > 0 && r.UnseenDivergence > 0) {
			t.Errorf("%s: %+v", r.Variant, r)
		}
	}
	for _, out := range []*paper.Output{ev.table2(), ev.table4()} {
		if err := out.Table.Check(); err != nil {
			t.Error(err)
		}
		for _, row := range out.Table.Rows[:4] {
			if label := row.Cells[0].Text; (row.Kind == report.Control) != (label != Foster) {
				t.Errorf("%s is of kind %s", label, row.Kind)
			}
		}
	}
	if text := ev.figure1().Figure.Text(); !strings.Contains(text, Retrained) {
		t.Errorf("the figure does not show the retrained model: %s", text)
	}
	runs := len(ev.Runs)
	again, err := collect(t.Context(), e, briefStudy())
	if err != nil || !slices.Equal(again.Runs, ev.Runs) || runs != 2 {
		t.Errorf("again: %v, %v", again.Runs, err)
	}
}

// The likelihood ratio of a retrained model is against the other one: against
// itself every score would be 0 and the AUC exactly one half.
func TestARetrainedModelIsNotItsOwnReference(t *testing.T) {
	s := briefStudy()
	s.Seeds = 1
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	name := generative.LikelihoodRatio{}.Name()
	one, other := ev.rowsOf(s.Cases[0].Label, Retrained)[0].Suite[name].AUC.Value, ev.rowsOf(s.Cases[0].Label, OtherSeed)[0].Suite[name].AUC.Value
	if one == 0.5 || other == 0.5 || math.Abs(one+other-1) > 1e-12 {
		t.Errorf("AUC %v and %v; exchanged they are antisymmetric", one, other)
	}
}

// Members are the forgotten cells, non-members the unseen ones that were chosen.
func TestWhoIsAMember(t *testing.T) {
	column := func(v ...float64) cellOutputs {
		m := array.Matrix[float32]{Rows: len(v), Cols: 1}
		for _, x := range v {
			m.Data = append(m.Data, float32(x))
		}
		return cellOutputs{mean: m, logVar: array.New[float32](len(v), 1), codes: m, recon: v, divergence: v, bare: v}
	}
	v := splitOutputs{forget: column(1, 2), retain: column(10, 11, 12, 13, 14, 15), unseen: column(3, 4, 5)}
	b, member := v.membersAndNonmembers([]int{0, 2}, false)
	if !slices.Equal(b.Recon, []float64{1, 2, 3, 5}) || !slices.Equal(member, []bool{true, true, false, false}) {
		t.Errorf("outputs %v of members %v", b.Recon, member)
	}
	r, err := v.attackRecords([]int{1})
	if err != nil || r.Members.Rows != 2 || r.Nonmembers.Rows != 1 || r.Members.Row(1)[0] != 2 || r.Nonmembers.Row(0)[0] != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	// The last feature is the distance to the five nearest retained cells: 10 to 14.
	if last := r.Members.Cols - 1; r.Members.Row(0)[last] != 11 || r.Nonmembers.Row(0)[last] != 8 {
		t.Errorf("distances %v and %v", r.Members.Row(0)[last], r.Nonmembers.Row(0)[last])
	}
}

// Every label of the paper's values is that of a variant.
func TestPrintedValuesStandBesideTheirVariant(t *testing.T) {
	labels := map[string]bool{}
	for _, a := range pbmc3k("", "", 1).variants() {
		labels[a.Label] = true
	}
	for _, variant := range []string{Original, RetrainedCoded, RetainTuned, Ascended, Dampened, Scrubbed, Contrasted, Fisher, Private, Frozen, Extra} {
		if !labels[variant] || len(strings.Fields(printed(variant))) != 3 {
			t.Errorf("%s: %q", variant, printed(variant))
		}
	}
	if printed(Retrained) != "" {
		t.Error("the paper's retrained model is the one as coded")
	}
}

// Jobs can be listed without data, and a study without any data says what to do.
func TestWithoutItsFilesAStudySaysWhatToGet(t *testing.T) {
	e := newEnv(t)
	t.Setenv(datasets.EnvDir, t.TempDir())
	list, err := recipe(t, "table2").Jobs(t.Context(), e, "standard")
	if err != nil || len(list) == 0 {
		t.Fatalf("%d jobs, %v", len(list), err)
	}
	if !slices.ContainsFunc(list, func(j lab.Job) bool { return j.Missing }) {
		t.Fatal("no job lacks its data, in an empty data folder")
	}
	s, _ := StudyAt("standard")
	if _, err := collect(t.Context(), e, s); err == nil || !strings.Contains(err.Error(), "lethe data get pbmc3k") {
		t.Errorf("%v", err)
	}
	if _, err := StudyAt("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}

// The mean is over the marker genes that are there, and none is not an error.
func TestMarkersThatAreNotVariableAreLeftOut(t *testing.T) {
	c, err := newEnv(t).Lab().Case(t.Context(), briefStudy().Cases[0].setting(0))
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := c.Weights(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	features := slices.Clone(c.About.Features)
	features[3].Name, features[7].Name = "LYZ", "CD14"
	c.About.Features = features
	found, err := measureMarkers(c, []string{"CD3D", "CD14", "LYZ"}, w)
	if err != nil || len(found) != 2 || found[0].Gene != "CD14" || found[1].Gene != "LYZ" {
		t.Fatalf("%+v, %v", found, err)
	}
	if r, want := (Row{Markers: found}).MarkerR(), (*found[0].R+*found[1].R)/2; math.Abs(r-want) > 1e-12 {
		t.Errorf("mean %v, want %v", r, want)
	}
	if none, err := measureMarkers(c, []string{"CD3D"}, w); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
}

// A private model has its privacy accounting and the attack on its training cells; the second
// time it is found in the store.
func TestAPrivateModelComesWithItsAccounts(t *testing.T) {
	e, of := newEnv(t), briefStudy().Cases[0]
	variants := []lab.Variant{
		{Label: "private", Method: unlearn.DPRetrain{Epochs: 2, Exact: true}},
		{Label: Retrained, Method: unlearn.Retrain{}, Control: true},
	}
	all, err := measurePrivate(t.Context(), e, of, 0, variants...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Lab().Case(t.Context(), of.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	g := all[0]
	spent, err := g.History.RDP(1e-5)
	if err != nil || math.Abs(spent.Epsilon-10) > 1e-3 || g.History.Steps() != 2*((len(c.Retain)+63)/64) || all[1].History != nil {
		t.Errorf("%+v: epsilon %v, %v; a plain model spent %v", g.History, spent.Epsilon, err, all[1].History)
	}
	if g.Retained.NMembers != len(c.Retain) || g.Retained.NNonmembers >= g.Unseen || g.Retained.NNonmembers < g.Unseen-32 {
		t.Errorf("%d protected cells against %d", g.Retained.NMembers, g.Retained.NNonmembers)
	}
	if again, err := measurePrivate(t.Context(), e, of, 0, variants...); err != nil || !reflect.DeepEqual(again, all) {
		t.Errorf("the second time it is %+v (%v)", again, err)
	}
	recon := func(g PrivateModel) float64 { return g.ForgetRecon }
	if got := all.Values(Retrained, recon); len(got) != 1 || got[0] != all.Rows()[1].ForgetRecon {
		t.Errorf("%v", got)
	}
	q := &attackCase{Case: c}
	p := q.scoreRetained(splitOutputs{retain: cellOutputs{recon: []float64{1, 2}}, unseen: cellOutputs{recon: make([]float64, len(c.Test.Y))}})
	if !slices.Equal(p.Members, []float64{-1, -2}) || len(p.Nonmembers) != g.Retained.NNonmembers {
		t.Errorf("members %v", p.Members)
	}
}

// No attacker compares members with cells that a method has used.
func TestNegativesAreCellsThatNoMethodMayLookAt(t *testing.T) {
	of := briefStudy().Cases[0]
	c, err := newEnv(t).Lab().Case(t.Context(), of.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	q, err := newAttackCase(t.Context(), c, of)
	if err != nil {
		t.Fatal(err)
	}
	judged := c.EvalRows()
	for _, negatives := range [][]int{q.negatives, q.drawn.negatives} {
		if len(negatives) < 10 || len(negatives) > len(judged) {
			t.Errorf("%d negatives among %d judged cells", len(negatives), len(judged))
		}
		for _, i := range negatives {
			if !slices.Contains(judged, i) {
				t.Fatalf("the non-member %d may be looked at", i)
			}
		}
	}
}

// The cross-fitted attacker keeps a matched cell in the fold of its nearest forgotten one.
func TestMatchedCellsStayWithTheirMembers(t *testing.T) {
	of, e := briefStudy().Cases[0], newEnv(t)
	c, err := e.Lab().Case(t.Context(), of.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	q, err := newAttackCase(t.Context(), c, of)
	if err != nil {
		t.Fatal(err)
	}
	v, err := q.outputsAfter(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range q.negatives {
		if nearest := nearestTo(v.unseen.mean.Row(i), v.forget.mean); nearest != q.matched.nearest[k] {
			t.Errorf("the cell %d is nearest to %d, and said to be to %d", i, nearest, q.matched.nearest[k])
		}
	}
	records, err := v.attackRecords(q.negatives)
	if err != nil {
		t.Fatal(err)
	}
	auc := func(beside []int) float64 {
		r, err := learned.CrossFitted(nil).Run(t.Context(), e.Engine, learned.Target{Model: records, NearestMember: beside}, engine.Root(attackSeed+c.Shift))
		if err != nil {
			t.Fatal(err)
		}
		return r.AUC.Value
	}
	row := &Row{}
	if err := q.runAttacks(t.Context(), e.Engine, row, v); err != nil {
		t.Fatal(err)
	}
	if got := row.Attacks[learned.CrossFitted(nil).Name].All.AUC.Value; got != auc(q.matched.nearest) || got == auc(nil) {
		t.Errorf("AUC %v, want %v; torn apart %v", got, auc(q.matched.nearest), auc(nil))
	}
}

func nearestTo(x []float32, of array.Matrix[float32]) (nearest int) {
	best := math.Inf(1)
	for i := range of.Rows {
		sum := 0.0
		for j, v := range of.Row(i) {
			sum += float64(v-x[j]) * float64(v-x[j])
		}
		if sum < best {
			best, nearest = sum, i
		}
	}
	return nearest
}
