package fishing

import (
	"math"
	"strings"
	"testing"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// spentBy compares a Spending with the accountants for the steps that were taken.
func spentBy(t *testing.T, variant string, p *Spending) {
	t.Helper()
	h := privacy.History{{Rate: p.Rate, Noise: p.Noise, Times: p.Steps}}
	rdp, err := h.RDP(1e-5)
	if err != nil || p.RDP == nil || math.Abs(*p.RDP-rdp.Epsilon) > 1e-12 || p.Delta != 1e-5 {
		t.Errorf("%s: %+v, RDP says %v (%v)", variant, p, rdp.Epsilon, err)
	}
	tight, err := h.PRV(1e-5, privacy.PRV{})
	if err != nil || p.Tight == nil || *p.Tight != tight || tight.Low > rdp.Epsilon {
		t.Errorf("%s: %+v, the tight accountant says %+v (%v)", variant, p, tight, err)
	}
}

// modelled is a row with two AUCs and a loss.
func modelled(variant string, seed int, pb, ours, loss float64) Row {
	at := func(v float64) ProtocolResult {
		return ProtocolResult{All: attack.ScoreReport{AUC: attack.Interval{Value: v}}}
	}
	return Row{Case: "c", Variant: variant, Seed: seed, ForgetRecon: loss,
		Attacks: map[string]ProtocolResult{learned.PB().Name: at(pb), learned.CrossFitted(nil).Name: at(ours)}}
}

// SciPy 1.17.1, ttest_rel, of five differences: P 0.00246. The sign is that of the original
// less the retrained model, and the null is that of the seed.
func TestOriginalAndRetrainedAreComparedBySeed(t *testing.T) {
	less := []float64{0.03, 0.05, 0.021, 0.04, 0.029}
	ev := &evidence{Study: Study{Cases: []Case{{Label: "c"}}}, Evidence: &paper.Evidence[Row]{}}
	for seed, d := range less {
		base := 0.4 + 0.1*float64(seed) // pairs differ among each other by more than within
		retrained := modelled(Retrained, seed, base, 0.5+0.01*float64(seed%2), 100)
		retrained.Null = &MatchedNull{Mean: base - 0.1}
		ev.Rows = append(ev.Rows, retrained)
		ev.Rows = append([]Row{modelled(Original, seed, base+d, base, 100)}, ev.Rows...) // in another order
	}
	notes := strings.Join(ev.forgettingNotes(), "\n")
	for _, want := range []string{
		"AUC by P-B: original less retrained: 0.034 [0.020, 0.048], P 0.0025;",
		"reconstruction loss of the forgotten cells: original less retrained: 0.0 [0.0, 0.0], no test of 5 models",
		"cross-fitted AUC of original less that of cells that nobody trained on: 0.100",
		"paired t test by seed, n = 5",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in %q", want, notes)
		}
	}
	ev.Rows = ev.Rows[4:6] // one seed
	if notes := ev.forgettingNotes(); notes != nil {
		t.Errorf("of one model: %q", notes)
	}
}

// SCRUB is compared with itself with one optimiser at each weight, and every method with
// itself: the largest weight less the smallest.
func TestWeightsAreComparedBySeed(t *testing.T) {
	ev := &evidence{Study: Study{Cases: []Case{{Label: "c"}}}, Evidence: &paper.Evidence[Row]{}}
	for seed := range 3 {
		x := float64(seed * seed)
		ev.Rows = append(ev.Rows, modelled(Original, seed, 0.5, 0.5, 1))
		for i, v := range []string{"0.1", "1", "10"} {
			ev.Rows = append(ev.Rows, modelled(Scrubbed+", alpha_f "+v, seed, 0.5, 0.5, 400+x+float64(i)),
				modelled(ScrubbedOne+", alpha_f "+v, seed, 0.5, 0.5, 600+2*x-100*float64(i)))
		}
	}
	notes := strings.Join(ev.weightNotes(ev.Cases[0]), "\n")
	for _, want := range []string{
		"SCRUB, alpha_f 10 less SCRUB, alpha_f 0.1: 2.0",
		"SCRUB, one optimiser, alpha_f 10 less SCRUB, one optimiser, alpha_f 0.1: −200.0",
		"SCRUB, one optimiser, alpha_f 0.1 less SCRUB, alpha_f 0.1: 201.7",
		"SCRUB, one optimiser, alpha_f 1 less SCRUB, alpha_f 1: 100.7",
		"SCRUB, one optimiser, alpha_f 10 less SCRUB, alpha_f 10: −0.3",
		"n = 3",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in %q", want, notes)
		}
	}
	if strings.Contains(notes, "gamma") {
		t.Errorf("what has no rows is compared: %q", notes)
	}
}

// Over the five genes of PBMC-3k the paper's 0.831 is 0.888, by hand:
// (0.809 + 0.900 + 0.901 + 0.930 + 0.900) / 5.
func TestThePapersMarkersOverTheSameGenes(t *testing.T) {
	five := []string{"MS4A1", "CD79A", "LYZ", "NKG7", "GNLY"}
	if got, known := paperMarkers(five, Original); !known || math.Abs(got-0.888) > 1e-12 {
		t.Errorf("%v, %v", got, known)
	}
	if got, known := paperMarkers(five, Fisher); !known || math.Abs(got-0.646) > 1e-12 {
		t.Errorf("after Fisher scrubbing %v, %v", got, known)
	}
	var all []string
	for gene := range printed8() {
		if gene != mean8 {
			all = append(all, gene)
		}
	}
	if got, known := paperMarkers(all, Original); !known || math.Abs(got-0.831) > 5e-4 {
		t.Errorf("over all eight %v, %v; printed is 0.831", got, known)
	}
	for _, genes := range [][]string{nil, {"MS4A1", "G1"}} {
		if _, known := paperMarkers(genes, Original); known {
			t.Errorf("the paper has a value over %v", genes)
		}
	}
	if note := markersNote(Case{Label: "c"}, five); !strings.Contains(note, "the paper has 0.888 for the original and 0.887 for the retrained model; its 0.831 and 0.829 are means over eight") {
		t.Errorf("%q", note)
	}
	if note := markersNote(Case{Label: "c"}, []string{"G1"}); strings.Contains(note, "paper") {
		t.Errorf("%q", note)
	}
}

// Cells without a label are no type: they are in neither number nor mean.
func TestCellsWithoutALabelAreNoType(t *testing.T) {
	at := func(kind string, forgot bool, cosine float64) Overlap {
		return Overlap{Case: "c", Model: ModelVAE, Type: kind, Forgot: forgot, Layers: []LayerOverlap{{Layer: fisher.Global, Cosine: cosine, Random: []float64{0.5}}}}
	}
	for want, unlabelled := range map[string]float64{"2 of 3; no label: below": 0.1, "2 of 3; no label: not below": 0.9} {
		o := &overlaps{Evidence: &paper.Evidence[Overlap]{Rows: []Overlap{
			at("a", true, 0.2), at("b", false, 0.3), at("d", false, 0.7), at(datacells.Unlabelled, false, unlabelled),
		}}}
		mean, below := o.otherTypes("c", ModelVAE, fisher.Global)
		if below != want || math.Abs(mean.Value-0.5) > 1e-12 || mean.N != 2 {
			t.Errorf("%q, mean %v of %d; want %q", below, mean.Value, mean.N, want)
		}
		o.Rows = o.Rows[:3]
		if _, below := o.otherTypes("c", ModelVAE, fisher.Global); below != "2 of 3" {
			t.Errorf("all labelled: %q", below)
		}
	}
}

// The null's members are cells that methods may use, its non-members are others, and an attacker
// without information is near one half.
func TestTheNullIsOfCellsThatNobodyTrainedOn(t *testing.T) {
	s := briefStudy()
	s.Seeds = 1
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ev.Rows {
		if (r.Null != nil) != (r.Variant == Retrained) {
			t.Errorf("%s has the null %+v", r.Variant, r.Null)
		}
	}
	r := ev.rowsOf(s.Cases[0].Label, Retrained)[0]
	m := r.Null
	if m.Draws != nullDraws || m.Members != r.Forget || m.Negatives < float64(m.Members) || m.Negatives > float64(r.Judged) {
		t.Errorf("%+v of %d judged cells", m, r.Judged)
	}
	if m.Mean < 0.4 || m.Mean > 0.6 || !(m.Low < m.Mean && m.Mean < m.High) || m.Advantage < 0.05 || m.Advantage > 0.6 {
		t.Errorf("%+v", m)
	}
	// A model whose loss separates the halves is detected, in either direction.
	e := newEnv(t)
	c, err := e.Lab().Case(t.Context(), s.Cases[0].setting(0))
	if err != nil {
		t.Fatal(err)
	}
	q, err := newAttackCase(t.Context(), c, s.Cases[0])
	if err != nil {
		t.Fatal(err)
	}
	v, err := q.outputsAfter(t.Context(), unlearn.Retrain{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range q.EvalRows() {
		v.unseen.recon[i] += 1e4
	}
	told, err := q.measureNull(t.Context(), e.Engine, v)
	if err != nil || told.Mean < 0.99 {
		t.Errorf("of halves that a model tells apart the null is %+v, %v", told, err)
	}
	note := nullNote(s.Cases[0], []Row{{Null: &MatchedNull{Mean: 0.52, Low: 0.4, High: 0.6, Draws: 100}}, {Null: &MatchedNull{Mean: 0.54, Low: 0.4, High: 0.6}}})
	if !strings.Contains(note, "AUC is 0.530 on average") || !strings.Contains(note, "retrained model's row is the null") {
		t.Errorf("%q", note)
	}
	if note := nullNote(s.Cases[0].withScatteredSet(), []Row{{Null: told}}); !strings.Contains(note, "judge against that") {
		t.Errorf("%q", note)
	}
}
