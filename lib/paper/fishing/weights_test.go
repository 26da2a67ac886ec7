package fishing

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Among the weights of every method is the one that Table 2 has, with the paper's value
// of it: the same work under another name.
func TestTheWeightsHaveTableTwosAmongThem(t *testing.T) {
	standard, err := StudyAt("standard")
	if err != nil {
		t.Fatal(err)
	}
	rename := map[string]string{"DP-SGD": Private, "DP-SGD, exact": PrivateExact}
	field := map[string]string{"alpha": "Alpha", "alpha_f": "Forget", "gamma": "Gamma", "lambda": "Lambda", "epsilon": "Epsilon"}
	for _, k := range weightSweeps() {
		label := k.label
		if other, ok := rename[label]; ok {
			label = other
		}
		variants := standard.Cases[0].variants()
		at := slices.IndexFunc(variants, func(a lab.Variant) bool { return a.Label == label })
		if at < 0 || len(k.recorded) != len(k.values) {
			t.Fatalf("%s is no variant of Table 2, or has %d values of %d weights", label, len(k.recorded), len(k.values))
		}
		same := 0
		for i, v := range k.values {
			if got := reflect.ValueOf(k.method(v)).FieldByName(field[k.symbol]).Float(); got != v {
				t.Errorf("%s: the weight is %v", k.name(v), got)
			}
			if !reflect.DeepEqual(defaults.Fill(k.method(v)), defaults.Fill(variants[at].Method)) {
				continue
			}
			same++
			if auc, _, _ := strings.Cut(printed(label), " "); strings.TrimSuffix(k.recorded[i], " (P-C)") != auc {
				t.Errorf("%s: %q are recorded, Table 2 prints %q", k.name(v), k.recorded[i], auc)
			}
		}
		if same != 1 {
			t.Errorf("%d of the weights of %s are Table 2's", same, label)
		}
	}
}

// Every weight has a row, and what takes minutes a model is left out where Table 2 leaves
// it out.
func TestByWeight(t *testing.T) {
	for scale, want := range map[string]int{"quick": 12, "hour": 26, "standard": 26, "atlas": 12, "paper": 26} {
		s, err := byWeight(scale)
		if err != nil || len(s.Cases) != 1 {
			t.Fatalf("%s: %d cases, %v", scale, len(s.Cases), err)
		}
		labels := map[string]bool{}
		for _, a := range s.Cases[0].variants() {
			labels[a.Label] = true
			if slow := strings.HasPrefix(a.Label, "DP") || strings.HasPrefix(a.Label, Frozen) || strings.HasPrefix(a.Label, Extra); slow && want == 12 {
				t.Errorf("%s: %s is a variant", scale, a.Label)
			}
		}
		if len(labels) != want+3 || len(s.Cases[0].variants()) != want+3 {
			t.Errorf("%s: variants %v", scale, labels)
		}
	}
	if _, err := byWeight("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}

// As coded the forget weight of SCRUB cancels; with one optimiser it does not.
func TestTheForgetWeightOfSCRUBCancelsAsCoded(t *testing.T) {
	s := shortenStudy(t, byWeight, Original, Retrained, OtherSeed)
	c := &s.Cases[0]
	short := unlearn.RetainTuning{Epochs: 1}
	c.Also = nil
	for _, v := range []float64{1e3, 1e6} {
		for label, joint := range map[string]bool{Scrubbed: false, ScrubbedOne: true} {
			k := weightSweep{label: label, symbol: "alpha_f"}
			c.Also = append(c.Also, lab.Variant{Label: k.name(v), Method: unlearn.SCRUBLatent{Forget: v, Joint: joint, Epochs: 2, Tune: short}})
		}
	}
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	loss := func(label string, v float64) float64 {
		return ev.rowsOf(c.Label, weightSweep{label: label, symbol: "alpha_f"}.name(v))[0].ForgetRecon
	}
	if a, b := loss(Scrubbed, 1e3), loss(Scrubbed, 1e6); a < 0.9999*b || a > 1.0001*b {
		t.Errorf("as coded the forgotten cells' loss is %v and %v at a thousand times the weight", a, b)
	}
	if a, b := loss(ScrubbedOne, 1e3), loss(ScrubbedOne, 1e6); a == b {
		t.Errorf("with one optimiser the loss is %v at both weights", a)
	}
	out := ev.weights()
	if err := out.Table.Check(); err != nil {
		t.Error(err)
	}
	for i, row := range out.Table.Rows {
		if (row.Kind == report.Control) != (i < 3) {
			t.Errorf("%s is of kind %s", row.Cells[0].Text, row.Kind)
		}
	}
}
