package fishing

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// axesOf are the axes of a planted model's latents: columns.
type axesOf func(rng *rand.Rand) *mat.Dense

func straight(*rand.Rand) *mat.Dense {
	return mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
}

func rotated(rng *rand.Rand) *mat.Dense {
	var qr mat.QR
	qr.Factorize(mat.NewDense(3, 3, array.Normal(rng, 3, 3, 1).Data))
	var q mat.Dense
	qr.QTo(&q)
	return &q
}

// exchangeAxes permutes axes and flips signs.
func exchangeAxes(rng *rand.Rand) *mat.Dense {
	q := mat.NewDense(3, 3, nil)
	for i, j := range rng.Perm(3) {
		q.Set(i, j, float64(1-2*rng.IntN(2)))
	}
	return q
}

// plantedShadowCase are the latents of 12 models in pairs: 60 cells that every model had and 20
// assigned ones. The cells that a model had lie higher on one axis, before the model's own axes
// are applied. If even, a cell's variances are the same on all axes.
func plantedShadowCase(t *testing.T, seed uint64, memory float64, even bool, axes func(m int) axesOf) *shadowCase {
	t.Helper()
	rng, turns := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	a := &shadowCase{spec: ShadowModels{Models: 12}, models: &lab.ShadowModels{Lab: &lab.Lab{}, Assigned: make([]int, 20)}, signals: map[string]*recordScores{"elbo": {}}}
	wide := mat.NewDiagDense(3, []float64{3, 1.5, 0.8})
	retained, assigned := normal(rng, 60), normal(rng, 20)
	for m := range 12 {
		in := make([]bool, 20)
		for k, i := range rng.Perm(20) {
			in[i] = k < 10
		}
		if m%2 == 1 {
			for i := range in {
				in[i] = !a.in[m-1][i]
			}
		}
		a.in = append(a.in, in)
		q := axes(m)(turns)
		write := func(base *mat.Dense, had []bool) cellOutputs {
			n, _ := base.Dims()
			var noisy, out mat.Dense
			noisy.Add(base, scaledBy(0.3, normal(rng, n)))
			noisy.Mul(&noisy, wide)
			for i := range had {
				if had[i] {
					noisy.Set(i, 1, noisy.At(i, 1)+memory)
				}
			}
			out.Mul(&noisy, q)
			s := cellOutputs{mean: array.New[float32](n, 3), logVar: array.New[float32](n, 3)}
			for i := range n {
				s.recon, s.divergence = append(s.recon, 100+rng.NormFloat64()), append(s.divergence, 9+rng.NormFloat64())
				v := []float64{math.Exp(rng.NormFloat64()), math.Exp(rng.NormFloat64()), math.Exp(rng.NormFloat64())}
				for k := range 3 {
					s.mean.Row(i)[k] = float32(out.At(i, k))
					sum := v[0]
					if !even {
						sum = 0
						for b := range 3 {
							sum += q.At(b, k) * q.At(b, k) * v[b]
						}
					}
					s.logVar.Row(i)[k] = float32(math.Log(sum))
				}
			}
			s.codes = s.mean
			return s
		}
		all, some := write(retained, nil), write(assigned, in)
		f, err := some.features(all)
		if err != nil {
			t.Fatal(err)
		}
		a.features = append(a.features, f)
		if err := a.latents.add(some, all, f); err != nil {
			t.Fatal(err)
		}
		a.signals["elbo"].add(some.elbo(), all.elbo())
	}
	return a
}

func normal(rng *rand.Rand, n int) *mat.Dense {
	return mat.NewDense(n, 3, array.Normal(rng, n, 3, 1).Data)
}

func scaledBy(v float64, m *mat.Dense) *mat.Dense {
	m.Scale(v, m)
	return m
}

// withinAUCs are the AUCs of an attacker in every model.
func (a *shadowCase) withinAUCs(t *testing.T, name string) []float64 {
	t.Helper()
	return WithinAUCs(a.runNamed(t, name))
}

func (a *shadowCase) runNamed(t *testing.T, name string) AttackResult {
	t.Helper()
	for _, q := range a.learnedAttacks(t.Context()) {
		if q.Attack != name {
			continue
		}
		if q.why != "" {
			q.Why = q.why
			return q.AttackResult
		}
		s, err := q.within()
		if err != nil {
			t.Fatal(err)
		}
		q.Within = s
		return q.AttackResult
	}
	t.Fatalf("there is no %s", name)
	return AttackResult{}
}

func mean(x []float64) float64 {
	m, _ := stats.Mean(x)
	return m
}

func inAll(axes axesOf) func(int) axesOf { return func(int) axesOf { return axes } }

// turning are the learned attackers that must not depend on a rotation of a model's axes.
var turning = []string{Invariant, Aligned, AlignedCCA, InvariantByCell, AlignedByCell}

// Attackers that align axes find the same as if all models had the same axes; those that do not
// align find nothing.
func TestAPlantedRotationIsUndone(t *testing.T) {
	for _, c := range []struct {
		how  axesOf
		even bool
	}{{rotated, true}, {exchangeAxes, false}} {
		same, own := plantedShadowCase(t, 1, 3, c.even, inAll(straight)), plantedShadowCase(t, 1, 3, c.even, inAll(c.how))
		for _, name := range turning {
			if was, now := same.withinAUCs(t, name), own.withinAUCs(t, name); !slices.Equal(was, now) {
				t.Errorf("%s: %v in the same axes, %v in axes of their own", name, was, now)
			}
		}
		for _, name := range []string{Aligned, AlignedCCA, AlignedByCell} {
			if found := mean(own.withinAUCs(t, name)); found < 0.8 {
				t.Errorf("%s finds %v", name, found)
			}
		}
		if was, now := mean(same.withinAUCs(t, Learned)), mean(own.withinAUCs(t, Learned)); was < 0.75 || now > was-0.1 {
			t.Errorf("axes as they are: %.2f where they are the same, %.2f where they are not", was, now)
		}
	}
}

// The axes of a single model do not matter to them either, whether it is a shadow or attacked.
func TestTheAxesOfOneModelDoNotMatter(t *testing.T) {
	for _, m := range []int{0, 5} {
		one := func(k int) axesOf {
			if k == m {
				return rotated
			}
			return straight
		}
		same, other := plantedShadowCase(t, 2, 2, true, inAll(straight)), plantedShadowCase(t, 2, 2, true, one)
		for _, name := range turning {
			if !slices.Equal(same.withinAUCs(t, name), other.withinAUCs(t, name)) {
				t.Errorf("%s: the axes of model %d matter", name, m)
			}
		}
		if slices.Equal(same.withinAUCs(t, Learned), other.withinAUCs(t, Learned)) {
			t.Errorf("axes as they are: those of model %d do not matter", m)
		}
	}
}

// The maps do not depend on the assigned cells: a model's outputs on these change its own
// features only.
func TestMapsAreOfCellsThatEveryModelHad(t *testing.T) {
	a := plantedShadowCase(t, 3, 2, true, inAll(rotated))
	for _, align := range []featuresFor{
		func(k int) ([]array.Matrix[float64], error) { return a.latents.alignTo(k, features.Procrustes) },
		func(k int) ([]array.Matrix[float64], error) { return a.latents.alignTo(k, features.CCA) },
	} {
		was, err := align(4)
		if err != nil {
			t.Fatal(err)
		}
		kept := a.latents.assigned[7].mean
		a.latents.assigned[7].mean = array.New[float32](20, 3)
		now, err := align(4)
		a.latents.assigned[7].mean = kept
		if err != nil {
			t.Fatal(err)
		}
		for m := range was {
			if slices.Equal(was[m].Data, now[m].Data) == (m == 7) {
				t.Errorf("model %d: changed, or not, by what model 7 says of assigned cells", m)
			}
		}
	}
}

// A cell's mean over other models, counted one by one.
func TestCellByCellAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	var x []array.Matrix[float64]
	for range 8 {
		x = append(x, array.Normal(rng, 3, 2, 1))
	}
	got := subtractOthers(5, x)
	for m := range x {
		for i := range x[m].Data {
			sum, n := 0.0, 0.0
			for k := range x {
				if k/2 != m/2 && k/2 != 2 {
					sum, n = sum+x[k].Data[i], n+1
				}
			}
			if want := x[m].Data[i] - sum/n; math.Abs(got[m].Data[i]-want) > 1e-12 {
				t.Errorf("model %d, value %d: %v, want %v", m, i, got[m].Data[i], want)
			}
		}
	}
}

// If the models that are not attacked forget nothing, a target that was assigned the other half
// has members where its non-members were.
func TestMembersAreThoseThatTheTargetHad(t *testing.T) {
	for _, name := range []string{Invariant, Learned, Aligned, AlignedByCell} {
		a := plantedShadowCase(t, 5, 2, true, inAll(straight))
		was := a.withinAUCs(t, name)
		a.in[6], a.in[7] = a.in[7], a.in[6]
		now := a.withinAUCs(t, name)
		for _, m := range []int{6, 7} {
			if math.Abs(was[m]+now[m]-1) > 1e-12 || was[m] == 0.5 {
				t.Errorf("%s, model %d: %v, and %v with the roles exchanged", name, m, was[m], now[m])
			}
		}
	}
}

// Of ranks within a fold the share above all but one of 100 non-members says nothing: here an attacker ranks all members first, but
// in every fourth model one non-member before them, 16 of 960. That rank is the bar and the share 0.
func TestRanksWithinAFoldHaveNoTPR(t *testing.T) {
	const models, records = 64, 30
	f := shadow.Models{Scores: array.New[float64](models, records), Pairs: true}
	for k := range models {
		in := make([]bool, records)
		for i := range in {
			in[i] = (i%2 == 0) == (k%2 == 0)
			if f.Scores.Row(k)[i] = float64(i/2) / 30; in[i] {
				f.Scores.Row(k)[i] += 0.5
			}
		}
		f.In = append(f.In, in)
		if k%4 == 0 {
			f.Scores.Row(k)[1] = 1
		}
	}
	within, err := f.Threshold(Own)
	if err != nil {
		t.Fatal(err)
	}
	if within.AUC.Value < 0.9 || within.PooledTPR01 == nil || within.PooledTPR01.Value != 0 {
		t.Fatalf("AUC %v, share above %v: this test looks at nothing", within.AUC, within.PooledTPR01)
	}
	for name, words := range map[string]string{Own: "ranks within a fold", TypeAlone: "one score for all", Learned: ""} {
		cell := tprCell(AttackResult{Attack: name, Within: within})
		if cell.Missing != words || (cell.Estimate == nil) != (words != "") {
			t.Errorf("%s: %+v", name, cell)
		}
	}
}

// An attacker that knows half of a model's own cells finds a memory in the other half.
func TestHalfOfAModelsOwnCells(t *testing.T) {
	if found := mean(plantedShadowCase(t, 6, 6, true, inAll(rotated)).withinAUCs(t, Own)); found < 0.8 {
		t.Errorf("%v with a memory", found)
	}
}

// Without memory no attack finds anything, and intervals are valid.
func TestWithoutAMemoryLearnedAttackersAreAtChance(t *testing.T) {
	const trials = 120
	names := append([]string{Own, Learned}, turning...)
	held, areas := map[string]int{}, map[string][]float64{}
	for k := range trials {
		a := plantedShadowCase(t, uint64(100+k), 0, false, inAll(exchangeAxes))
		for _, name := range names {
			e := a.runNamed(t, name).Within.AUC
			areas[name] = append(areas[name], e.Value)
			if e.Low <= 0.5 && 0.5 <= e.High {
				held[name]++
			}
		}
	}
	for _, name := range names {
		e := stats.MeanInterval(areas[name], 0.999, "trials")
		t.Logf("%s: %v, %d of %d", name, e, held[name], trials)
		if share := float64(held[name]) / trials; e.Low > 0.5 || e.High < 0.5 || share < 0.95-3*math.Sqrt(0.05*0.95/trials) {
			t.Errorf("%s: AUC %v, %.3f of the intervals hold 0.5", name, e, share)
		}
	}
}

// An attack that cannot be run has its reason in a cell of the table; the others are run.
func TestTooFewCellsForAnAttacker(t *testing.T) {
	a := plantedShadowCase(t, 7, 2, true, inAll(straight))
	for m := range a.latents.retain {
		a.latents.retain[m] = a.latents.retain[m].Gather([]int{0, 1, 2})
	}
	for _, name := range []string{Aligned, AlignedCCA, AlignedByCell} {
		if f := a.runNamed(t, name); f.Within != nil || f.Why != "3 cells do not determine a rotation of 3 axes" {
			t.Errorf("%s: %q", name, f.Why)
		}
	}
	if f := a.runNamed(t, Invariant); f.Within == nil {
		t.Errorf("who has no axes needs no map: %s", f.Why)
	}
	for m := range a.in {
		a.in[m] = a.in[m][:3]
		a.features[m] = a.features[m].Gather([]int{0, 1, 2})
	}
	f := a.runNamed(t, Own)
	if f.Within != nil || !strings.HasSuffix(f.Why, "cells cannot be halved") {
		t.Errorf("%q", f.Why)
	}
	for _, cell := range []report.Cell{withinCell(map[string]AttackResult{Original: f}, Original), tprCell(f),
		excessCell(map[string]AttackResult{Original: f, Retrained: {Attack: Own, Within: nil, Why: f.Why}})} {
		if !strings.Contains(cell.Missing, f.Why) {
			t.Errorf("the cell says %q", cell.Missing)
		}
	}
	if WithinAUCs(f) != nil {
		t.Error("AUCs of an attack that was not asked")
	}
}

// LiRA has rows with few shadow models if there are more.
func TestLiRAWithFewShadows(t *testing.T) {
	for models, want := range map[int][]string{
		8:  nil,
		16: {"lira-online-pooled, 8 shadows", "lira-offline-pooled, 8 shadows"},
		64: {"lira-online-pooled, 16 shadows", "lira-offline-pooled, 16 shadows", "lira-online-pooled, 8 shadows", "lira-offline-pooled, 8 shadows"},
	} {
		for _, whole := range []bool{false, true} {
			f := ShadowModels{Models: models, Whole: whole}
			var got []string
			for _, name := range f.Attacks() {
				if strings.HasSuffix(name, "shadows") {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d models: %q, want %q", models, got, want)
			}
		}
	}
}

// The original is compared with retrained models, pair by pair, and on matched cells with their
// value there.
func TestAnAttackIsJudgedAgainstRetrainedModels(t *testing.T) {
	sweep := func(x ...float64) *shadow.Report {
		s := &shadow.Report{}
		for _, v := range x {
			s.Models = append(s.Models, &attack.ScoreReport{AUC: attack.Interval{Value: v}})
		}
		return s
	}
	found := map[string]AttackResult{
		Original:  {Attack: Own, Within: sweep(0.9, 0.7, 0.8, 0.8, 0.6, 0.8), Matched: []float64{0.9, 0.9, 0.8, 0.8, 0.9, 0.9}},
		Retrained: {Attack: Own, Within: sweep(0.5, 0.5, 0.4, 0.6, 0.6, 0.5), Matched: []float64{0.7, 0.7, 0.6, 0.8, 0.6, 0.6}},
	}
	e := excessCell(found).Estimate
	want := stats.MeanInterval([]float64{0.3, 0.3, 0.15}, 0.95, "pairs of models")
	if math.Abs(e.Value-0.25) > 1e-12 || math.Abs(e.Low-want.Low) > 1e-12 || *e.Null != 0 {
		t.Errorf("beyond: %v, want %v", e, want)
	}
	if m := matchedCell(found, Original).Estimate; math.Abs(*m.Null-2.0/3) > 1e-12 || math.Abs(m.Value-2.6/3) > 1e-12 {
		t.Errorf("matched: %v, null %v", m, m.Null)
	}
	if m := matchedCell(found, Retrained).Estimate; m.Null != nil {
		t.Errorf("the null of what is the null is %v", *m.Null)
	}
	o := found[Original]
	o.Mutual = true
	found[Original] = o
	if wide := excessCell(found).Estimate; wide.High-wide.Low < 1.9*(e.High-e.Low) {
		t.Errorf("models that teach one another: %v, others %v", wide, e)
	}
	delete(found, Retrained)
	if c := excessCell(found); c.Missing != "not asked" {
		t.Errorf("%+v", c)
	}
	f := &shadowEvidence{ShadowStudy: ShadowStudy{Groups: []ShadowModels{{Case: Case{Label: "here"}}}},
		Evidence: &paper.Evidence[AttackResult]{Rows: []AttackResult{{Case: "here", Variant: Retrained, Attack: Own, Matched: []float64{0.7, 0.7, 0.6, 0.8, 0.6, 0.6}}}}}
	if notes := f.matchedNull(); len(notes) != 1 || !strings.Contains(notes[0], "has 0.67 [0.52, 0.81] on retrained models") {
		t.Errorf("%q", notes)
	}
}
